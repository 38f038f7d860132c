package convert

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const definition = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},{"name":"name","type":"Edm.String"},{"name":"stars","type":"Edm.Int32"},{"name":"views","type":"Edm.Int64"},
	{"name":"rating","type":"Edm.Double"},{"name":"opened","type":"Edm.DateTimeOffset"},{"name":"pool","type":"Edm.Boolean"},{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"scores","type":"Collection(Edm.Double)"},{"name":"at","type":"Edm.GeographyPoint"},
	{"name":"vector","type":"Collection(Edm.Single)","dimensions":3,"searchable":true,"vectorSearchProfile":"p"},
	{"name":"address","type":"Edm.ComplexType","fields":[{"name":"city","type":"Edm.String"},{"name":"floor","type":"Edm.Int32"}]},
	{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[{"name":"beds","type":"Edm.Int32"}]}],
	"vectorSearch":{"profiles":[{"name":"p","algorithm":"a"}],"algorithms":[{"name":"a","kind":"hnsw"}]}}`

func plan(t testing.TB, o Options) *Plan {
	t.Helper()
	var index models.SearchIndex
	require.NoError(t, json.Unmarshal([]byte(definition), &index))
	p, err := NewPlan(&index, o)
	require.NoError(t, err)
	return p
}

// values pairs the value of a record with that of its document; "" means a problem.
var values = []struct{ field, json, document string }{
	{"name", `"a\u00e4\n"`, `"a\u00e4\n"`}, {"name", `12`, `"12"`}, {"name", `1.50`, `"1.50"`}, {"name", `true`, `"true"`}, {"name", `null`, `null`},
	{"name", `{"a":1}`, ""}, {"name", `[1]`, ""}, {"name", "\"tab\tin it\"", ""},
	{"stars", `5`, `5`}, {"stars", `"5"`, `5`}, {"stars", `" 5 "`, `5`}, {"stars", `"+5"`, `5`}, {"stars", `"007"`, `7`}, {"stars", `5.0`, `5`}, {"stars", `1e3`, `1000`},
	{"stars", `""`, `null`}, {"stars", `null`, `null`}, {"stars", `5.5`, ""}, {"stars", `2147483648`, ""}, {"stars", `"1,000"`, ""}, {"stars", `"1_000"`, ""},
	{"stars", `"0x10"`, ""}, {"stars", `true`, ""}, {"stars", `"many"`, ""}, {"stars", `01`, ""}, {"stars", `+1`, ""}, {"stars", `[1]`, ""},
	{"views", `9007199254740993`, `9007199254740993`}, {"views", `"-9223372036854775808"`, `-9223372036854775808`}, {"views", `9223372036854775808`, ""},
	{"rating", `4.50`, `4.50`}, {"rating", `"4.5"`, `4.5`}, {"rating", `".5"`, `0.5`}, {"rating", `"5."`, `5`}, {"rating", `1e300`, `1e300`}, {"rating", `"NaN"`, `"NaN"`},
	{"rating", `"-INF"`, `"-INF"`}, {"rating", `1e999`, ""}, {"rating", `"4,5"`, ""}, {"rating", `"1.234,5"`, ""}, {"rating", `"inf"`, ""}, {"rating", `"4.5 €"`, ""},
	{"opened", `"2024-01-31T08:30:00Z"`, `"2024-01-31T08:30:00Z"`}, {"opened", `"2024-01-31T08:30:00.123+02:00"`, `"2024-01-31T08:30:00.123+02:00"`},
	{"opened", `"2024-01-31"`, `"2024-01-31T00:00:00Z"`}, {"opened", `"2024-01-31 08:30"`, `"2024-01-31T08:30:00Z"`}, {"opened", `"2024-01-31T08:30:00"`, `"2024-01-31T08:30:00Z"`},
	{"opened", `"2024-01-31 08:30:00+02"`, `"2024-01-31T06:30:00Z"`}, {"opened", `"2024-01-31T08:30:00+0200"`, `"2024-01-31T06:30:00Z"`},
	{"opened", `"2024-01-31 08:30:00 +0200 CEST"`, `"2024-01-31T06:30:00Z"`}, {"opened", `"Wed, 31 Jan 2024 08:30:00 GMT"`, `"2024-01-31T08:30:00Z"`},
	{"opened", `"2024-01-31T8:30:00+00:00"`, `"2024-01-31T08:30:00Z"`}, {"opened", `"2024-01-31T08:30:00,5Z"`, `"2024-01-31T08:30:00.5Z"`},
	{"opened", `"2024-01-31T08:30:00.123456789Z"`, `"2024-01-31T08:30:00.1234567Z"`}, {"opened", `""`, `null`},
	{"opened", `"01/02/2024"`, ""}, {"opened", `"2.1.2024"`, ""}, {"opened", `"2024-02-30"`, ""}, {"opened", `1706690000`, ""}, {"opened", `"1706690000"`, ""}, {"opened", `"yesterday"`, ""},
	{"opened", `"0000-01-01"`, ""}, {"pool", `true`, `true`}, {"pool", `"TRUE"`, `true`}, {"pool", `"0"`, `false`}, {"pool", `"yes"`, ""}, {"pool", `1`, ""},
	{"tags", `["a", "b"]`, `["a","b"]`}, {"tags", `[]`, `[]`}, {"tags", `["a",7]`, `["a","7"]`}, {"tags", `"[\"a\"]"`, `["a"]`}, {"tags", `["a",null]`, ""}, {"tags", `"a,b"`, ""},
	{"tags", `["a" "b"]`, ""}, {"tags", `["a",]`, ""}, {"tags", `{"a":1}`, ""}, {"scores", `[1,"2.5"]`, `[1,2.5]`}, {"scores", `["x"]`, ""},
	{"vector", `[1,2,3]`, `[1,2,3]`}, {"vector", `[1,2]`, ""}, {"vector", `[1,2,1e39]`, ""},
	{"at", `{"type":"Point","coordinates":[1,2]}`, `{"type":"Point","coordinates":[1,2]}`}, {"at", `"POINT(-122.1 47.6)"`, `{"type":"Point","coordinates":[-122.1,47.6]}`},
	{"at", `"47.6,-122.1"`, ""}, {"at", `{"lat":1,"lon":2}`, ""}, {"at", `"POINT(0 91)"`, ""}, {"at", `[1,2]`, ""},
	{"address", `{"city":"Paris","floor":"3"}`, `{"city":"Paris","floor":3}`}, {"address", `{}`, `{}`}, {"address", `null`, `null`}, {"address", `"{\"floor\":1}"`, `{"floor":1}`},
	{"address", `{"town":"x"}`, ""}, {"address", `{"city":1,"city":2}`, ""}, {"address", `"x"`, ""}, {"address", `{"city":"x"`, ""},
	{"rooms", `[{"beds":2},{"beds":"3"}]`, `[{"beds":2},{"beds":3}]`}, {"rooms", `[{"beds":"x"}]`, ""}, {"rooms", `{"beds":2}`, ""},
}

func TestValuesBecomeWhatTheDefinitionSays(t *testing.T) {
	c := NewConverter(plan(t, Options{}))
	client := clienttest.NewClient(t, definition, nil)
	for i, s := range values {
		record := fmt.Sprintf(` { "id" : "%d" , %q : %s } `, i, s.field, s.json)
		doc, problem := c.JSON(nil, []byte(record))
		if s.document == "" {
			if assert.NotNil(t, problem, record) && problem.Kind == KindValue {
				assert.Equal(t, s.field, problem.Field[:len(s.field)], record)
				assert.NotEmpty(t, problem.Message)
			}
			continue
		}
		if !assert.Nil(t, problem, record) {
			continue
		}
		assert.Equal(t, fmt.Sprintf(`{"id":"%d",%q:%s}`, i, s.field, s.document), string(doc.JSON))
		results, err := search.UploadDocuments(t.Context(), client, []json.RawMessage{doc.JSON}, nil)
		require.NoError(t, err, record)
		assert.True(t, results.Results[0].Succeeded, record)
	}
}

func TestEscapedCharactersStay(t *testing.T) {
	for _, text := range []string{`\ud83d\ude00`, `a\\ud83d`, `\"\ud83d\uDE00\ud83d\ude00\u00e9\\`, `\\`} {
		doc, problem := NewConverter(plan(t, Options{})).JSON(nil, []byte(`{"id":"1","name":"`+text+`"}`))
		require.Nil(t, problem, text)
		assert.Equal(t, `{"id":"1","name":"`+text+`"}`, string(doc.JSON))
	}
}

func TestRecordsThatAreNoDocuments(t *testing.T) {
	for record, kind := range map[string]string{
		`nonsense`: KindSyntax, `[]`: KindSyntax, `{"id":"1"`: KindSyntax, `{"id":"1"}}`: KindSyntax, `{"id":"1",}`: KindSyntax, `{id:1}`: KindSyntax, `{"id" "1"}`: KindSyntax,
		`{"id":"1" "name":"a"}`: KindSyntax, `{"id":"1","name":tru}`: KindSyntax, ``: KindSyntax, `{"id":"1","name":`: KindSyntax, `{"id":"1","name":"a`: KindSyntax,
		"{\"id\":\"1\",\"name\":\"\xff\"}": KindUTF8, `{"id":"1","name":"\\\ud83d"}`: KindUTF8, `{"id":"1","name":"\udE00 \ud83d"}`: KindUTF8, `{"id":"1","tags":["a","\ud83d\ud83d\ude00"]}`: KindUTF8,
		`{"id":"1","id":"2"}`: KindTwice, `{"id":"1","town":1}`: KindUnknown,
		`{"name":"a"}`: KindKey, `{"id":""}`: KindKey, `{"id":null}`: KindKey, `{"id":"a b"}`: KindKey, `{"id":"_a"}`: KindKey, `{"id":"1","@search.action":"fly"}`: KindAction,
		`{"id":"1","@search.action":1}`: KindAction, `{}`: KindKey,
	} {
		_, problem := NewConverter(plan(t, Options{})).JSON(nil, []byte(record))
		if assert.NotNil(t, problem, record) {
			assert.Equal(t, kind, problem.Kind, record)
		}
	}
}

func TestOptionsSayWhatBecomesOfColumns(t *testing.T) {
	for _, c := range []struct {
		about    string
		options  Options
		record   string
		action   models.ActionType
		document string
	}{
		{"a column of another name", Options{Map: map[string]string{"Title": "name", "x": ""}}, `{"id":"1","Title":"a","x":[1]}`, "upload", `{"id":"1","name":"a"}`},
		{"an encoded key", Options{Key: "path"}, `{"path":"/a b","name":"n"}`, "upload", `{"name":"n","id":"b64-L2EgYg"}`},
		{"a key that is legal", Options{Key: "name"}, `{"name":"n"}`, "upload", `{"name":"n","id":"n"}`},
		{"a key of a number, in place of another", Options{Key: "views"}, `{"id":"x","views":7}`, "upload", `{"views":7,"id":"7"}`},
		{"the key field encoded", Options{Key: "id"}, `{"id":"a b"}`, "upload", `{"id":"b64-YSBi"}`},
		{"divided text", Options{Split: map[string]string{"tags": ";", "scores": "|"}}, `{"id":"1","tags":"a; b;","scores":"1|2.5"}`, "upload", `{"id":"1","tags":["a","b",""],"scores":[1,2.5]}`},
		{"an action for all", Options{Action: "merge"}, `{"id":"1","name":"n"}`, "merge", `{"id":"1","name":"n"}`},
		{"its own action", Options{}, `{"@search.action":"mergeOrUpload","@search.score":1,"id":"1"}`, "mergeOrUpload", `{"id":"1"}`},
		{"an action in a column", Options{ActionColumn: "op"}, `{"op":"delete","id":"1","name":"n"}`, "delete", `{"id":"1"}`},
		{"no action in its column", Options{ActionColumn: "op"}, `{"op":null,"id":"1"}`, "upload", `{"id":"1"}`},
		{"unknown columns left out", Options{DropUnknown: true}, `{"id":"1","x":{"y":[1]},"address":{"zip":1}}`, "upload", `{"id":"1","address":{}}`},
	} {
		converter := NewConverter(plan(t, c.options))
		for range 2 { // the second record must have the order of the first
			doc, problem := converter.JSON(nil, []byte(c.record))
			require.Nil(t, problem, c.about)
			assert.Equal(t, c.document, string(doc.JSON), c.about)
			assert.Equal(t, c.action, doc.Action, c.about)
			if doc.Action != "delete" {
				assert.Contains(t, string(doc.JSON), fmt.Sprintf(`"id":%q`, doc.Key))
			}
		}
	}
}

func TestOptionsThatDoNotFitTheIndexAreRefusedTogether(t *testing.T) {
	var index models.SearchIndex
	require.NoError(t, json.Unmarshal([]byte(definition), &index))
	_, err := NewPlan(&index, Options{Map: map[string]string{"a": "nme", "b": "stars", "c": "stars"}, Split: map[string]string{"Tags": ";", "name": ";"}})
	for _, says := range []string{`no field "nme"`, "are both for field stars", `it has "tags"`, "not a collection"} {
		assert.ErrorContains(t, err, says)
	}
	_, err = NewPlan(&models.SearchIndex{Name: "x"}, Options{})
	assert.ErrorContains(t, err, "no key")
}

func TestCellsBecomeDocuments(t *testing.T) {
	p := plan(t, Options{Split: map[string]string{"tags": "|"}})
	c := NewConverter(p)
	columns, err := p.Columns([]string{"id", "name", "stars", "tags", "address", "@search.action"})
	require.NoError(t, err)
	format := csvtext.Format{Comma: ',', Quote: '"'}
	for row, want := range map[string]string{
		`1,"a ""b""",5,x|y,"{""city"":""Paris""}",`: `{"id":"1","name":"a \"b\"","stars":5,"tags":["x","y"],"address":{"city":"Paris"}}`,
		`1,,,,,`:      `{"id":"1","name":null,"stars":null,"tags":[],"address":null}`,
		`1,"","",,,`:  `{"id":"1","name":"","stars":null,"tags":[],"address":null}`,
		`1,,,,,merge`: `{"id":"1","name":null,"stars":null,"tags":[],"address":null}`,
		`1,,,,,fly`:   "action", `1,,x,,,`: "value", `1,,`: "columns", `1,,,,,,,`: "columns", ",,,,,": "key", "1,\xff,,,,": "utf8", "a b,,,,,": "key",
	} {
		cells, _, err := format.Cells(nil, nil, []byte(row))
		require.NoError(t, err)
		doc, problem := c.Cells(nil, columns, cells)
		if problem != nil {
			assert.Equal(t, want, problem.Kind, row)
			continue
		}
		assert.Equal(t, want, string(doc.JSON), row)
	}
	_, err = p.Columns([]string{"id", "town"})
	assert.ErrorContains(t, err, "-map town=FIELD")
	_, err = plan(t, Options{Map: map[string]string{"title": "name"}}).Columns([]string{"title", "name"})
	assert.ErrorContains(t, err, "are both for field name")
}

// Accepted documents are JSON that the emulator accepts, too.
func FuzzJSON(f *testing.F) {
	for _, s := range values {
		f.Add(fmt.Sprintf(`{"id":"1",%q:%s}`, s.field, s.json))
	}
	client := clienttest.NewClient(f, definition, nil)
	c := NewConverter(plan(f, Options{}))
	f.Fuzz(func(t *testing.T, record string) {
		doc, problem := c.JSON(nil, []byte(record))
		if problem != nil {
			return
		}
		require.True(t, json.Valid(doc.JSON), "%s", doc.JSON)
		result, err := search.UploadDocuments(t.Context(), client, []json.RawMessage{doc.JSON}, nil)
		require.NoError(t, err, "%s", doc.JSON)
		require.True(t, result.Results[0].Succeeded, "%s", doc.JSON)
	})
}
