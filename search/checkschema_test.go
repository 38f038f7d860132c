package search_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// checked is an index with a field of each type.
const checked = `{"name":"checked","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"text","type":"Edm.String","filterable":false,"sortable":false,"facetable":false},
	{"name":"hidden","type":"Edm.String","retrievable":false},
	{"name":"flag","type":"Edm.Boolean"},
	{"name":"int","type":"Edm.Int32"},
	{"name":"long","type":"Edm.Int64"},
	{"name":"double","type":"Edm.Double"},
	{"name":"time","type":"Edm.DateTimeOffset"},
	{"name":"point","type":"Edm.GeographyPoint"},
	{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"longs","type":"Collection(Edm.Int64)"},
	{"name":"doubles","type":"Collection(Edm.Double)"},
	{"name":"address","type":"Edm.ComplexType","fields":[
		{"name":"city","type":"Edm.String","filterable":true},{"name":"zip","type":"Edm.Int32"},
		{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[{"name":"beds","type":"Edm.Int32"}]}]},
	{"name":"vector","type":"Collection(Edm.Single)","searchable":true,"retrievable":false,"dimensions":3,"vectorSearchProfile":"p"},
	{"name":"bytes","type":"Collection(Edm.SByte)","searchable":true,"dimensions":3,"vectorSearchProfile":"p"}],
	"vectorSearch":{"profiles":[{"name":"p","algorithm":"a"}],"algorithms":[{"name":"a","kind":"hnsw"}]}}`

// check returns a test that compares T with the index checked.
func check[T any](use search.CheckUse, keyField string) func(*testing.T) (search.CheckReport, error) {
	return func(t *testing.T) (search.CheckReport, error) {
		srv := searchtest.NewServer(nil)
		t.Cleanup(func() { require.NoError(t, srv.Close()) })
		require.NoError(t, srv.CreateIndex(checked))
		client, err := search.NewClientWithKey(srv.URL(), "checked", azcore.NewKeyCredential(searchtest.AdminKey), impatient(srv))
		require.NoError(t, err)
		return search.Check[T](t.Context(), client, &search.CheckOptions{Use: use, KeyField: keyField})
	}
}

// point implements json.Marshaler.
type point struct{}

func (point) MarshalJSON() ([]byte, error) { return []byte(`null`), nil }

type everythingThatFits struct {
	ID      string                `json:"id" search:"key"`
	Text    string                `json:"text" search:"searchable"`
	Hidden  string                `json:"hidden" search:"hidden"`
	Flag    *bool                 `json:"flag" search:"filterable"`
	Int     int                   `json:"int"`
	Long    int64                 `json:"long"`
	Double  float64               `json:"double"`
	Time    time.Time             `json:"time"`
	Point   models.GeographyPoint `json:"point"`
	Tags    []string              `json:"tags"`
	Longs   []int                 `json:"longs"`
	Doubles []float64             `json:"doubles"`
	Address *struct {
		City  string `json:"city" search:"filterable"`
		Zip   int32  `json:"zip"`
		Rooms []struct {
			Beds int `json:"beds"`
		} `json:"rooms"`
	} `json:"address"`
	Vector [3]float32 `json:"vector" search:"vectorProfile=p"`
	Bytes  []int8     `json:"bytes" search:"dimensions=3"`
	Own    string     `json:"-"`
}

// contained is recursive, which an index cannot represent.
type contained struct {
	ID      string     `json:"id"`
	Address *contained `json:"address"`
}

// Each row has one difference between a type and the index, allowed or not.
func TestCheckComparesATypeWithTheIndex(t *testing.T) {
	const read, write, both = search.CheckForReading, search.CheckForWriting, search.CheckForBoth
	type key struct {
		ID string `json:"id" search:"key"`
	}
	for name, c := range map[string]struct {
		do       func(*testing.T) (search.CheckReport, error)
		problems []string
		gaps     []string
		text     string
	}{
		"everything fits":             {do: check[everythingThatFits](both, "")},
		"a pointer to a fitting type": {do: check[*everythingThatFits](both, "")},
		"a part, read without key":    {do: check[struct{ Text string }](read, ""), problems: []string{"missing field Text"}, text: `the index has "text": names are case-sensitive`},
		"no key, to read": {do: check[struct {
			Text string `json:"text"`
		}](read, "")},
		"no key, to write": {do: check[struct {
			Text string `json:"text"`
		}](write, ""), problems: []string{"key field id"}, text: "it is the key of the index, and struct"},
		"a key without a tag": {do: check[struct {
			ID string `json:"id"`
		}](both, "")},
		"another key": {do: check[struct {
			ID   string `json:"id"`
			Text string `json:"text" search:"key"`
		}](read, ""), problems: []string{"key field text"}, text: "and the key of the index is id"},
		"another key by name": {do: check[struct {
			ID   string `json:"id"`
			Text string `json:"text"`
		}](read, "text"), problems: []string{"key field text"}, text: "and the key of the index is id"},
		"a key that the type lacks": {do: check[key](read, "key"), problems: []string{"key field"}, text: `no field is called "key" in JSON`},
		"two keys": {do: check[struct {
			ID   string `json:"id" search:"key"`
			Text string `json:"text" search:"key"`
		}](read, ""), problems: []string{"key field"}, text: "a document has exactly one key"},
		"a missing field": {do: check[struct {
			key
			Stars int `json:"stars"`
		}](write, ""), problems: []string{"missing field stars"}, text: "the index does not, which refuses documents with it: add it to the index"},
		"a missing field that is not a part": {do: check[struct {
			key
			Stars int `json:"stars" search:"-"`
		}](read, "")},
		"text as a number": {do: check[struct {
			key
			Text int `json:"text"`
		}](read, ""), problems: []string{"field type text"}, text: "it is Edm.Int64 in "},
		"a fraction as a whole number, read": {do: check[struct {
			Double int `json:"double"`
		}](read, ""), problems: []string{"field type double"}, text: "not every value of the index can be read into it"},
		"a fraction as a whole number, written": {do: check[struct {
			key
			Double int `json:"double"`
		}](write, "")},
		"a whole number as a fraction, read": {do: check[struct {
			Int float64 `json:"int"`
		}](read, "")},
		"a whole number as a fraction, written": {do: check[struct {
			key
			Int float64 `json:"int"`
		}](write, ""), problems: []string{"field type int"}, text: "the index refuses its JSON"},
		"a long number in a short one, read": {do: check[struct {
			Long int32 `json:"long"`
		}](read, ""), problems: []string{"field type long"}},
		"a long number in a short one, written": {do: check[struct {
			key
			Long int32 `json:"long"`
		}](write, "")},
		"a tag with the type": {do: check[struct {
			key
			Int    any `json:"int" search:"type=Edm.Int32"`
			Double int `json:"double" search:"type=Edm.Double"`
		}](both, "")},
		"a tag with whole numbers for fractions": {do: check[struct {
			key
			Int   float64         `json:"int" search:"type=Edm.Int32"`
			Longs []float64       `json:"longs" search:"type=Collection(Edm.Int64)"`
			Point struct{ X int } `json:"point" search:"type=Edm.GeographyPoint"`
		}](write, ""), problems: []string{"field type int", "field type longs", "field type point"}, text: "it is Edm.Double in "},
		"a tag with another type than the JSON": {do: check[struct {
			key
			Long  string  `json:"long" search:"type=Edm.Int64"`
			Bytes []uint8 `json:"bytes" search:"type=Collection(Edm.SByte)"`
		}](write, ""), problems: []string{"field type long", "field type bytes"}, text: "it is Edm.String in "},
		"a time as text": {do: check[struct {
			key
			Time string `json:"time"`
		}](both, "")},
		"text as a time": {do: check[struct {
			Text time.Time `json:"text"`
		}](read, ""), problems: []string{"field type text"}},
		"a list as one value": {do: check[struct {
			Tags string `json:"tags"`
		}](read, ""), problems: []string{"field type tags"}, text: "a single value does not fit a list"},
		"one value as a list": {do: check[struct {
			Text []string `json:"text"`
		}](read, ""), problems: []string{"field type text"}, text: "a list does not fit a single value"},
		"a list of others": {do: check[struct {
			Tags []int `json:"tags"`
		}](read, ""), problems: []string{"field type tags"}},
		"a vector as a list of float64": {do: check[struct {
			key
			Vector  []float64 `json:"vector" search:"hidden"`
			Doubles []float32 `json:"doubles"`
		}](both, "")},
		"a vector of another model": {do: check[struct {
			Vector []float32 `json:"vector" search:"dimensions=4"`
		}](read, ""), problems: []string{"attribute vector"}, text: "its vectors have 4 dimensions"},
		"a struct for a text": {do: check[struct {
			Text struct {
				City string `json:"city"`
			} `json:"text"`
		}](read, ""), problems: []string{"field type text"}, text: "only one of them has fields of its own"},
		"a text for a complex field": {do: check[struct {
			Address string `json:"address"`
		}](read, ""), problems: []string{"field type address"}},
		"a list for a complex field": {do: check[struct {
			Address []struct {
				City string `json:"city"`
			} `json:"address"`
		}](read, ""), problems: []string{"field type address"}},
		"fields of complex fields": {do: check[struct {
			Address struct {
				Street string `json:"street"`
				Zip    string `json:"zip"`
				Rooms  []struct {
					Beds  bool    `json:"beds"`
					Price float64 `json:"price"`
				} `json:"rooms"`
			} `json:"address"`
		}](read, ""), problems: []string{"missing field address/street", "field type address/zip", "field type address/rooms/beds", "missing field address/rooms/price"}},
		"a hidden field, read": {do: check[struct {
			Hidden string `json:"hidden"`
		}](read, ""), problems: []string{"hidden field hidden"}, text: "the index never returns it"},
		"a hidden field, written": {do: check[struct {
			key
			Hidden string `json:"hidden"`
		}](write, "")},
		"tags that the index does not keep": {do: check[struct {
			Text string `json:"text" search:"filterable,sortable,facetable"`
			Tags string `json:"tags"`
		}](read, ""), problems: []string{"attribute text", "attribute text", "attribute text", "field type tags"}, text: "the tag makes the field filterable, but the index does not"},
		"types that say nothing": {do: check[struct {
			key
			Text  any             `json:"text"`
			Int   json.Number     `json:"int"`
			Point point           `json:"point"`
			Tags  json.RawMessage `json:"tags"`
			Stars any             `json:"stars"`
		}](read, ""), problems: []string{"missing field stars"}, gaps: []string{"field type text", "field type int", "field type point", "field type tags"}},
		"types that only an index refuses": {do: check[struct {
			key
			Long uint64 `json:"long"`
			Text []byte `json:"text"`
		}](both, "")},
		"a type in itself": {do: check[contained](read, "")},
		"a map":            {do: check[models.Document](both, "id"), gaps: []string{"missing field", "field type"}},
		"a map with another key": {
			do: check[models.Document](both, "key"), problems: []string{"key field key"}, gaps: []string{"missing field", "field type"},
		},
		"a type that writes itself": {do: check[point](both, ""), gaps: []string{"missing field", "field type"}},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := c.do(t)
			assert.Equal(t, c.problems, kinds(t, err))
			assert.Equal(t, c.gaps, gaps(report))
			require.NotNil(t, report.Index)
			if c.text != "" {
				require.ErrorContains(t, err, c.text)
			}
		})
	}
}

func TestCheckStatesWhatIsWantedAndWhatThereIs(t *testing.T) {
	_, err := check[struct {
		Double int    `json:"double"`
		Text   string `json:"text" search:"sortable"`
		Hidden string `json:"hidden"`
		Stars  int    `json:"stars"`
	}](search.CheckForReading, "text")(t)
	var e *search.CheckError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "checked", e.IndexName)
	var facts [][3]string
	for _, p := range e.Problems {
		facts = append(facts, [3]string{p.Field, p.Want, p.Have})
	}
	assert.Equal(t, [][3]string{
		{"text", "text", "id"}, {"double", "Edm.Int64", "Edm.Double"}, {"text", "sortable", "not sortable"},
		{"hidden", "retrievable", "hidden"}, {"stars", "Edm.Int64", ""},
	}, facts)
}
