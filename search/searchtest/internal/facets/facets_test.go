package facets

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

type document = map[string]any

func field(name, typeName string, fields ...*stored.Field) *stored.Field {
	f := &stored.Field{Name: name, Fields: fields, ByName: byName(fields)}
	f.Type, f.Collection, _ = stored.ParseType(typeName)
	f.Facetable = f.Type != stored.Complex && name != "Description"
	return f
}

func byName(fields []*stored.Field) map[string]*stored.Field {
	m := make(map[string]*stored.Field)
	for i, f := range fields {
		f.Ordinal = i
		m[f.Name] = f
	}
	return m
}

var (
	hotelFields = []*stored.Field{
		field("Category", "Edm.String"),
		field("Description", "Edm.String"),
		field("Tags", "Collection(Edm.String)"),
		field("Rating", "Edm.Int32"),
		field("Visits", "Edm.Int64"),
		field("Price", "Edm.Double"),
		field("SmokingAllowed", "Edm.Boolean"),
		field("LastRenovationDate", "Edm.DateTimeOffset"),
		field("Location", "Edm.GeographyPoint"),
		field("Scores", "Collection(Edm.Int32)"),
		field("Rooms", "Collection(Edm.ComplexType)", field("BaseRate", "Edm.Double"), field("Tags", "Collection(Edm.String)")),
		field("Address", "Edm.ComplexType", field("City", "Edm.String")),
	}
	hotel = &Options{Fields: byName(hotelFields)}
)

// encode encodes a document, given as decoded JSON, in its stored form.
func encode(fields []*stored.Field, d document) []byte {
	var dst []byte
	for _, f := range fields {
		v, ok := d[f.Name]
		if !ok || f.Type == stored.GeographyPoint {
			continue
		}
		var body int
		dst, body = stored.OpenMember(dst, f.Ordinal)
		list, _ := v.([]any)
		switch {
		case v == nil:
			stored.NullMember(dst, body)
			continue
		case !f.Collection:
			dst = appendValue(dst, f, v)
		default:
			for _, element := range list {
				at := len(dst)
				if f.Type.Size() > 0 {
					dst = appendValue(dst, f, element)
					continue
				}
				dst = appendValue(append(dst, 0, 0, 0, 0), f, element)
				binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
			}
		}
		stored.CloseMember(dst, body)
	}
	return dst
}

func appendValue(dst []byte, f *stored.Field, v any) []byte {
	switch f.Type {
	case stored.String:
		return append(dst, v.(string)...)
	case stored.Boolean:
		if v.(bool) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case stored.Int32:
		return binary.LittleEndian.AppendUint32(dst, uint32(int64(v.(float64))))
	case stored.Int64:
		return binary.LittleEndian.AppendUint64(dst, uint64(int64(v.(float64))))
	case stored.Double:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.(float64)))
	case stored.DateTimeOffset:
		ms, ok := stored.ParseDateTime([]byte(v.(string)))
		if !ok {
			panic(v)
		}
		return binary.LittleEndian.AppendUint64(dst, uint64(ms))
	}
	return append(dst, encode(f.Fields, v.(document))...)
}

// show formats buckets as "Budget:5" and "5..8:1".
func show(buckets []Bucket) string {
	text := func(v Value) string {
		switch v.Type {
		case stored.String:
			return v.Text
		case stored.Boolean:
			return strconv.FormatBool(v.Integer != 0)
		case stored.Double:
			return strconv.FormatFloat(v.Double, 'g', -1, 64)
		case stored.DateTimeOffset:
			return string(stored.AppendDateTime(nil, v.Integer))
		}
		return strconv.FormatInt(v.Integer, 10)
	}
	var out []string
	for _, b := range buckets {
		what := ""
		if !b.Range {
			what = text(b.Value)
		} else {
			if b.HasFrom {
				what = text(b.From)
			}
			what += ".."
			if b.HasTo {
				what += text(b.To)
			}
		}
		out = append(out, fmt.Sprintf("%s:%d", what, b.Count))
	}
	return strings.Join(out, " ")
}

func count(t testing.TB, expression string, documents ...document) string {
	t.Helper()
	f, err := Compile(expression, hotel)
	require.NoError(t, err, expression)
	c := f.NewCounter()
	for _, d := range documents {
		c.Add(encode(hotelFields, d))
	}
	return show(c.Buckets())
}

// Counting the documents of two recorded replies must give the facets of those replies.
func TestFacetsAreThoseThatWereRecorded(t *testing.T) {
	requests := map[string][]string{
		"canSearchWithValueFacets": {"Rating,count:2,sort:-value", "SmokingAllowed,sort:count", "Category", "LastRenovationDate,interval:year", "Rooms/BaseRate,sort:value", "Tags,sort:value"},
		"canSearchWithRangeFacets": {"Rooms/BaseRate,values:5|8|10", "LastRenovationDate,values:2000-01-01T00:00:00Z"},
	}
	for name, expressions := range requests {
		documents, want := recorded(t, name)
		require.Len(t, want, len(expressions), name)
		for _, expression := range expressions {
			f, err := Compile(expression, hotel)
			require.NoError(t, err)
			c := f.NewCounter()
			for _, d := range documents {
				c.Add(encode(hotelFields, d))
			}
			var got []document
			for _, b := range c.Buckets() {
				bucket := document{"count": float64(b.Count)}
				if !b.Range {
					bucket["value"] = jsonValue(b.Value)
				}
				if b.HasFrom {
					bucket["from"] = jsonBound(b.From)
				}
				if b.HasTo {
					bucket["to"] = jsonBound(b.To)
				}
				got = append(got, bucket)
			}
			assert.Equal(t, want[f.Name], got, expression)
		}
	}
}

func recorded(t *testing.T, name string) (documents []document, facets map[string][]document) {
	data, err := os.ReadFile("../../testdata/recordings/java-2019-05-06/" + name + ".json")
	require.NoError(t, err)
	var session struct {
		NetworkCallRecords []struct {
			Response struct{ Body string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &session))
	for _, r := range session.NetworkCallRecords {
		var reply struct {
			Facets map[string][]document `json:"@search.facets"`
			Value  []document
		}
		if err := json.Unmarshal([]byte(r.Response.Body), &reply); err == nil && reply.Facets != nil {
			return reply.Value, reply.Facets
		}
	}
	t.Fatal("no facets in " + name)
	return nil, nil
}

func jsonValue(v Value) any {
	switch v.Type {
	case stored.String:
		return v.Text
	case stored.Boolean:
		return v.Integer != 0
	case stored.Double:
		return v.Double
	case stored.DateTimeOffset:
		return string(stored.AppendDateTime(nil, v.Integer))
	}
	return float64(v.Integer)
}

func jsonBound(v Value) any {
	if v.Type == stored.DateTimeOffset {
		return string(AppendBound(nil, v.Integer))
	}
	return jsonValue(v)
}

func TestBucketsAreOrderedAndCut(t *testing.T) {
	docs := []document{
		{"Category": "b", "Rating": 1.0}, {"Category": "b", "Rating": 3.0}, {"Category": "a", "Rating": 3.0},
		{"Category": "c", "Rating": -2.0}, {"Category": "c"}, {"Category": nil}, {}, {"Category": "", "Rating": 3.0},
	}
	assert.Equal(t, "b:2 c:2 :1 a:1", count(t, "Category", docs...))
	assert.Equal(t, "b:2 c:2 :1 a:1", count(t, "Category,sort:count", docs...))
	assert.Equal(t, ":1 a:1 b:2 c:2", count(t, "Category,sort:-count", docs...))
	assert.Equal(t, ":1 a:1 b:2 c:2", count(t, " Category , sort : value ", docs...))
	assert.Equal(t, "c:2 b:2", count(t, "Category,sort:-value,count:2", docs...))
	assert.Equal(t, "3:3 -2:1 1:1", count(t, "Rating", docs...))
	assert.Equal(t, "-2:1 1:1 3:3", count(t, "Rating,sort:value", docs...))
	assert.Empty(t, count(t, "SmokingAllowed", docs...))
	assert.Equal(t, "0:2 NaN:1", count(t, "Price", document{"Price": 0.0}, document{"Price": math.Copysign(0, -1)}, document{"Price": math.NaN()}))
	assert.Equal(t, "1:1 NaN:1", count(t, "Price,sort:value", document{"Price": math.NaN()}, document{"Price": 1.0}))

	var many []document
	for i := range 12 {
		many = append(many, document{"Rating": float64(i)})
	}
	assert.Len(t, strings.Fields(count(t, "Rating", many...)), 10)
	assert.Len(t, strings.Fields(count(t, "Rating,count:0", many...)), 12)
	assert.Len(t, strings.Fields(count(t, "Rating,interval:1", many...)), 12)
}

func TestADocumentCountsOnceInABucket(t *testing.T) {
	docs := []document{
		{"Tags": []any{"a", "a", "b"}, "Scores": []any{1.0, 2.0, 9.0}, "Rooms": []any{
			document{"BaseRate": 10.0, "Tags": []any{"x", "y"}}, document{"BaseRate": 12.0, "Tags": []any{"x"}}, document{"BaseRate": nil},
		}},
		{"Tags": []any{"a"}, "Rooms": []any{document{"BaseRate": 90.0}}},
		{"Tags": []any{}, "Rooms": nil},
	}
	assert.Equal(t, "a:2 b:1", count(t, "Tags", docs...))
	assert.Equal(t, "x:1 y:1", count(t, "Rooms/Tags", docs...))
	assert.Equal(t, "..50:1 50..:1", count(t, "Rooms/BaseRate,values:50", docs...))
	assert.Equal(t, "10:1 90:1", count(t, "Rooms/BaseRate,interval:10", docs...))
	assert.Equal(t, "0:1 5:1", count(t, "Scores,interval:5", docs...))
	assert.Equal(t, "Paris:1", count(t, "Address/City", document{"Address": document{"City": "Paris"}}, document{"Address": nil}, document{"Address": document{}}))
}

func TestRangesIncludeTheirLowerBound(t *testing.T) {
	var docs []document
	for _, n := range []float64{-1, 0, 4.999, 5, 7, 8, 100} {
		docs = append(docs, document{"Price": n, "Rating": math.Trunc(n)})
	}
	docs = append(docs, document{"Price": math.NaN()}, document{"Price": nil})
	assert.Equal(t, "..0:1 0..5:2 5..8:2 8..:2", count(t, "Price,values: 0 | 5|8", docs...))
	assert.Equal(t, "..0:1 0..5:2 5..8:2 8..:2", count(t, "Rating,values:0|5|8", docs...))
	assert.Equal(t, "..1.5:2 1.5..:5", count(t, "Price,values:1.5", docs...))
	assert.Equal(t, "..5:0 5..:0", count(t, "Price,values:5"))
}

func TestIntervalsBeginAtMultiples(t *testing.T) {
	number := func(n float64) document { return document{"Price": n, "Visits": math.Trunc(n)} }
	docs := []document{number(-0.5), number(-10), number(0), number(9.99), number(10), number(35), {"Price": math.Inf(1)}, {"Price": math.NaN()}}
	assert.Equal(t, "-10:2 0:2 10:1 30:1", count(t, "Price,interval:10", docs...))
	assert.Equal(t, "-10:1 0:3 10:1 30:1", count(t, "Visits,interval:10", docs...))

	at := func(list ...string) (docs []document) {
		for _, s := range list {
			docs = append(docs, document{"LastRenovationDate": s})
		}
		return docs
	}
	times := at("2024-02-29T23:59:59.999Z", "2024-03-01T00:00:00Z", "1969-12-31T23:59:59Z", "2024-12-31T12:30:30Z")
	rows := map[string]string{
		"minute":                  "1969-12-31T23:59:00Z:1 2024-02-29T23:59:00Z:1 2024-03-01T00:00:00Z:1 2024-12-31T12:30:00Z:1",
		"hour":                    "1969-12-31T23:00:00Z:1 2024-02-29T23:00:00Z:1 2024-03-01T00:00:00Z:1 2024-12-31T12:00:00Z:1",
		"day":                     "1969-12-31T00:00:00Z:1 2024-02-29T00:00:00Z:1 2024-03-01T00:00:00Z:1 2024-12-31T00:00:00Z:1",
		"week":                    "1969-12-29T00:00:00Z:1 2024-02-26T00:00:00Z:2 2024-12-30T00:00:00Z:1",
		"month":                   "1969-12-01T00:00:00Z:1 2024-02-01T00:00:00Z:1 2024-03-01T00:00:00Z:1 2024-12-01T00:00:00Z:1",
		"quarter":                 "1969-10-01T00:00:00Z:1 2024-01-01T00:00:00Z:2 2024-10-01T00:00:00Z:1",
		"year":                    "1969-01-01T00:00:00Z:1 2024-01-01T00:00:00Z:3",
		"day,timeoffset:-01:00":   "1969-12-31T01:00:00Z:1 2024-02-29T01:00:00Z:2 2024-12-31T01:00:00Z:1",
		"month,timeoffset:-0030":  "1969-12-01T00:30:00Z:1 2024-02-01T00:30:00Z:2 2024-12-01T00:30:00Z:1",
		"year,timeoffset:+12":     "1969-12-31T12:00:00Z:1 2023-12-31T12:00:00Z:2 2024-12-31T12:00:00Z:1",
		"hour,timeoffset:+05:30":  "1969-12-31T23:00:00Z:1 2024-02-29T23:00:00Z:1 2024-03-01T00:00:00Z:1 2024-12-31T12:00:00Z:1",
		"week,timeoffset:+14:00":  "1969-12-28T10:00:00Z:1 2024-02-25T10:00:00Z:2 2024-12-29T10:00:00Z:1",
		"quarter,timeoffset:+01 ": "1969-12-31T23:00:00Z:1 2023-12-31T23:00:00Z:2 2024-09-30T23:00:00Z:1",
	}
	for interval, want := range rows {
		assert.Equal(t, want, count(t, "LastRenovationDate,interval:"+interval, times...), interval)
	}
}

func TestIntervalsStayInRange(t *testing.T) {
	assert.Equal(t, int64(math.MinInt64), floor(math.MinInt64+3, 10))
	assert.Equal(t, int64(math.MinInt64), floor(math.MinInt64, math.MaxInt64))
	assert.Equal(t, int64(math.MaxInt64-7), floor(math.MaxInt64, 10))
	rapid.Check(t, func(t *rapid.T) {
		n, unit := rapid.Int64Range(math.MinInt64/2, math.MaxInt64).Draw(t, "n"), rapid.Int64Range(1, math.MaxInt64/2).Draw(t, "unit")
		start := floor(n, unit)
		require.True(t, start <= n && n-start < unit && start%unit == 0, start)
	})
}

func TestTimeUnitsAgreeWithTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(stored.MinDateTime+8*msPerDay, stored.MaxDateTime).Draw(t, "ms")
		minutes := rapid.IntRange(-14*60, 14*60).Draw(t, "offset")
		local := time.UnixMilli(ms).In(time.FixedZone("", minutes*60))
		y, m, d := local.Date()
		at := func(y int, m time.Month, d int) int64 {
			return time.Date(y, m, d, 0, 0, 0, 0, local.Location()).UnixMilli()
		}
		offset := int64(minutes) * 60_000
		require.Equal(t, at(y, m, d), day.start(ms, offset))
		require.Equal(t, at(y, m, d-(int(local.Weekday())+6)%7), week.start(ms, offset))
		require.Equal(t, at(y, m, 1), month.start(ms, offset))
		require.Equal(t, at(y, []time.Month{1, 4, 7, 10}[(m-1)/3], 1), quarter.start(ms, offset))
		require.Equal(t, at(y, 1, 1), year.start(ms, offset))
		require.Equal(t, time.UnixMilli(ms).Truncate(time.Hour).UnixMilli(), hour.start(ms, offset))
		require.Equal(t, time.UnixMilli(ms).Truncate(time.Minute).UnixMilli(), minute.start(ms, offset))
	})
}

func TestValuesAreCountedAsWhatTheyAreNormalizedTo(t *testing.T) {
	f, err := Compile("Tags", &Options{Fields: hotel.Fields, Normalize: func(*stored.Field) func(string) string { return strings.ToLower }})
	require.NoError(t, err)
	c := f.NewCounter()
	c.Add(encode(hotelFields, document{"Tags": []any{"WiFi", "wifi", "Pool"}}))
	assert.Equal(t, "pool:1 wifi:1", show(c.Buckets()))
}

func TestCountsAgreeWithANaiveCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var docs []document
		want := map[string]int64{}
		for range rapid.IntRange(0, 20).Draw(t, "documents") {
			tags, seen := []any{}, map[string]bool{}
			for range rapid.IntRange(0, 4).Draw(t, "tags") {
				tag := rapid.SampledFrom([]string{"", "a", "b", "ü"}).Draw(t, "tag")
				tags, seen[tag] = append(tags, tag), true
			}
			docs = append(docs, document{"Tags": tags})
			for tag := range seen {
				want[tag]++
			}
		}
		f, err := Compile("Tags,count:0", hotel)
		require.NoError(t, err)
		c := f.NewCounter()
		for _, d := range docs {
			c.Add(encode(hotelFields, d))
		}
		got := map[string]int64{}
		for _, b := range c.Buckets() {
			got[b.Value.Text] = b.Count
		}
		require.Equal(t, want, got)
	})
}
