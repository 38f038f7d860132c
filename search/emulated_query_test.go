package search_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// bar is an index whose documents differ in every property that filters can test.
func bar(t testing.TB) *search.Client {
	t.Helper()
	time1 := time.Date(2020, 2, 29, 23, 59, 59, 999_000_000, time.UTC)
	_, client := emulatingEverything(t,
		models.Document{
			"id": "1", "text": "O'Hara's, \"the\" bar", "texts": []string{"a,b", "c d"}, "flag": true, "int": 1, "long": int64(1<<53 + 1), "double": 0.1,
			"time": time1, "point": models.GeographyPoint{Longitude: 0, Latitude: 0}, "object": models.Document{"text": "x"},
			"objects": []models.Document{{"text": "x", "int": 1}, {"text": "y", "int": 2}},
		},
		models.Document{
			"id": "2", "text": "Zum Bären", "texts": []string{"a"}, "flag": false, "int": -2, "long": int64(1 << 53), "double": "INF",
			"time": time1.Add(time.Millisecond), "point": models.GeographyPoint{Longitude: 1, Latitude: 0}, "objects": []models.Document{{"text": "x", "int": 2}},
		},
		models.Document{"id": "3", "text": "", "texts": []string{}, "int": 3, "long": int64(math.MinInt64), "double": "NaN"},
		models.Document{"id": "4"},
	)
	return client
}

// The builder, Filterf and a filter written by hand find the same documents.
func TestFilterFindsWhatItsTextSays(t *testing.T) {
	client := bar(t)
	leap := time.Date(2020, 2, 29, 23, 59, 59, 999_000_000, time.UTC)
	berlin := leap.In(time.FixedZone("CET", 3600))
	zero := models.GeographyPoint{}
	for name, c := range map[string]struct {
		filter search.Filter
		text   string
		ids    string
	}{
		"a text with quotes":          {search.Eq("text", "O'Hara's, \"the\" bar"), `text eq 'O''Hara''s, "the" bar'`, "1"},
		"a text that is empty":        {search.Eq("text", ""), "text eq ''", "3"},
		"a text above another":        {search.Ge("text", "P"), "text ge 'P'", "2"},
		"a different text":            {search.Ne("text", "Zum Bären"), "text ne 'Zum Bären'", "1 3 4"},
		"nothing":                     {search.IsNull("text"), "text eq null", "4"},
		"something":                   {search.IsNotNull("text"), "text ne null", "1 2 3"},
		"a pointer to nothing":        {search.Eq("int", (*int)(nil)), "int eq null", "4"},
		"texts of a list":             {search.In("text", "Zum Bären", "O'Hara's, \"the\" bar"), `search.in(text, 'Zum Bären|O''Hara''s, "the" bar', '|')`, "1 2"},
		"texts of a list, one empty":  {search.In("text", "", "Zum Bären"), "text eq '' or text eq 'Zum Bären'", "2 3"},
		"In with an empty list":       {search.In[string]("text"), "false", ""},
		"an element of no list":       {search.Any("texts", "x", search.In[string]("x")), "false", ""},
		"all elements of no list":     {search.All("texts", "x", search.In[string]("x")), "not texts/any()", "3 4"},
		"elements of any value":       {search.Any("texts", "x", search.Not(search.Or())), "texts/any()", "1 2"},
		"everything":                  {search.Not(search.Or()), "true", "1 2 3 4"},
		"one of no groups, or public": {search.Or(search.Any("texts", "x", search.In[string]("x")), search.IsTrue("flag")), "flag", "1"},
		"numbers of a list":           {search.In("int", 1, 3, 5), "int eq 1 or int eq 3 or int eq 5", "1 3"},
		"true":                        {search.IsTrue("flag"), "flag", "1"},
		"not true":                    {search.Not(search.IsTrue("flag")), "not flag", "2 3 4"},
		"false":                       {search.Eq("flag", false), "flag eq false", "2"},
		"a large integer":             {search.Eq("long", int64(1<<53+1)), "long eq 9007199254740993", "1"},
		"the integer before":          {search.Eq("long", int64(1<<53)), "long eq 9007199254740992", "2"},
		"the least integer":           {search.Le("long", int64(math.MinInt64)), "long le -9223372036854775808", "3"},
		"a fraction":                  {search.Eq("double", 0.1), "double eq 0.1", "1"},
		"infinity":                    {search.Eq("double", math.Inf(1)), "double eq INF", "2"},
		"not a number":                {search.Eq("double", math.NaN()), "double eq NaN", ""},
		"NaN equals no number":        {search.Ne("double", math.NaN()), "double ne NaN", "1 2 3 4"},
		"a time":                      {search.Eq("time", leap), "time eq 2020-02-29T23:59:59.999Z", "1"},
		"a time of another zone":      {search.Eq("time", berlin), "time eq 2020-03-01T00:59:59.999+01:00", "1"},
		"a later time":                {search.Gt("time", leap), "time gt 2020-02-29T23:59:59.999Z", "2"},
		"near a point":                {search.GeoDistance("point", zero).Le(111), "geo.distance(point, geography'POINT(0 0)') le 111", "1"},
		"far from a point":            {search.GeoDistance("point", zero).Gt(111), "geo.distance(point, geography'POINT(0 0)') gt 111", "2"},
		"in a triangle":               {search.GeoIntersects("point", models.GeographyPoint{Longitude: 0.5, Latitude: -1}, models.GeographyPoint{Longitude: 0.5, Latitude: 1}, models.GeographyPoint{Longitude: 2, Latitude: 0}), "geo.intersects(point, geography'POLYGON((0.5 -1, 2 0, 0.5 1, 0.5 -1))')", "2"},
		"a part":                      {search.Eq("object/text", "x"), "object/text eq 'x'", "1"},
		"an element":                  {search.Any("texts", "x", search.Eq("x", "a,b")), "texts/any(x: x eq 'a,b')", "1"},
		"elements of a list":          {search.Any("texts", "x", search.In("x", "a", "a,b")), "texts/any(x: search.in(x, 'a|a,b', '|'))", "1 2"},
		"all elements":                {search.All("texts", "x", search.Ne("x", "a")), "texts/all(x: x ne 'a')", "1 3 4"},
		"no elements":                 {search.Not(search.NotEmpty("texts")), "not texts/any()", "3 4"},
		"one element with both":       {search.Any("objects", "o", search.And(search.Eq("o/text", "x"), search.Eq("o/int", 2))), "objects/any(o: o/text eq 'x' and o/int eq 2)", "2"},
		"all elements of a type":      {search.And(search.NotEmpty("objects"), search.All("objects", "o", search.Eq("o/text", "x"))), "objects/any() and objects/all(o: o/text eq 'x')", "2"},
		"a search":                    {search.IsMatch("bar", &search.IsMatchOptions{SearchFields: []string{"text"}}), "search.ismatch('bar', 'text')", "1"},
		"a search in the full syntax": {search.IsMatch("b?ren", &search.IsMatchOptions{SearchFields: []string{"text"}, FullSyntax: true}), "search.ismatch('b?ren', 'text', 'full', 'any')", "2"},
		"and before or":               {search.And(search.Or(search.Eq("int", 1), search.Eq("int", -2)), search.Eq("flag", false)), "(int eq 1 or int eq -2) and flag eq false", "2"},
		"not of both":                 {search.Not(search.And(search.Gt("int", 0), search.IsTrue("flag"))), "not (int gt 0 and flag)", "2 3 4"},
		"a format":                    {search.Filterf("text eq %s or int ge %d and double lt %g or %v", "Zum Bären", 3, 1.5, search.IsTrue("flag")), "text eq 'Zum Bären' or flag", "1 2"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.filter.Err())
			order := []string{"id"}
			built, err := found(t, client, "", &search.SearchOptions{Filter: c.filter, OrderBy: order})
			require.NoError(t, err, c.filter)
			text, err := found(t, client, "", &search.SearchOptions{Filter: search.RawFilter(c.text), OrderBy: order})
			require.NoError(t, err, c.text)
			assert.Equal(t, c.ids, strings.Join(built, " "), c.filter)
			assert.Equal(t, c.ids, strings.Join(text, " "), c.text)
		})
	}
}

// A filter with a value finds that value and no other. If the service read the literal differently from the document,
// it would find nothing or refuse it.
func TestValueIsFoundByItself(t *testing.T) {
	_, client := emulatingEverything(t)
	opts := &search.IndexDocumentsOptions{KeyField: "id"}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(-1, -1, 2000).Draw(rt, "text")
		long := rapid.Int64().Draw(rt, "long")
		double := rapid.Float64().Draw(rt, "double")
		at := time.UnixMilli(rapid.Int64Range(-62135596800000, 253402300799999).Draw(rt, "time")).UTC()
		point := models.GeographyPoint{Longitude: rapid.Float64Range(-180, 180).Draw(rt, "longitude"), Latitude: rapid.Float64Range(-90, 90).Draw(rt, "latitude")}
		_, err := search.UploadDocuments(t.Context(), client, []models.Document{
			{"id": "it", "text": text, "texts": []string{text}, "long": long, "double": double, "time": at, "point": point},
			{"id": "other", "text": text + "'", "texts": []string{text + "'"}},
		}, opts)
		require.NoError(rt, err)
		for _, filter := range []search.Filter{
			search.Eq("text", text), search.In("text", text), search.In("text", text, "' or true or '"), search.Any("texts", "t", search.In("t", text)), search.Filterf("text eq %s", text),
			search.And(search.Ge("text", text), search.Le("text", text)),
			search.Eq("long", long), search.Eq("double", double), search.Eq("time", at), search.GeoDistance("point", point).Le(0.001),
		} {
			ids, err := found(t, client, "", &search.SearchOptions{Filter: filter})
			require.NoError(rt, err, filter)
			require.Equal(rt, []string{"it"}, ids, filter)
		}
	})
}

// The values contain commas and quotes.
func TestFilterHoldsTenThousandValues(t *testing.T) {
	docs := numbered(40)
	for i, doc := range docs {
		doc["text"] = strings.Repeat(", '|", i%3) + doc["id"].(string)
	}
	srv, client := emulatingEverything(t, docs...)
	values, numbers := make([]string, 10_000), make([]int, 10_000)
	for i := range values {
		values[i], numbers[i] = strings.Repeat(", '|", i*2%3)+numberedID(i*2), i
	}
	ids, err := found(t, client, "", &search.SearchOptions{Filter: search.In("text", values...), OrderBy: []string{"id"}})
	require.NoError(t, err)
	require.Len(t, ids, 20, "the even ones")
	assert.Equal(t, "00038", ids[19])
	requests := srv.Requests()
	assert.Greater(t, requests[len(requests)-1].BodyBytes, int64(80_000))

	_, err = found(t, client, "", &search.SearchOptions{Filter: search.In("int", numbers...)})
	var e *search.Error
	require.ErrorAs(t, err, &e, "values other than text are compared one by one, which is too many")
	assert.Equal(t, 400, e.StatusCode)
}

// Values survive the way into an index and out of a query.
func TestValuesKeepWhatTheyAre(t *testing.T) {
	at := time.Date(2020, 2, 29, 12, 0, 0, 123_000_000, time.FixedZone("", 5*3600+1800))
	point := models.GeographyPoint{Longitude: -122.131577, Latitude: 47.678581}
	_, client := emulatingEverything(t,
		models.Document{"id": "a", "text": "\u0000\u2028 𝕏 <&>", "long": int64(math.MaxInt64), "double": "NaN", "time": at, "point": point},
		models.Document{"id": "b", "text": "", "long": int64(math.MinInt64), "double": "-INF", "texts": []string{}},
		models.Document{"id": "c", "double": 5e-324},
	)
	var docs []models.Document
	for result, err := range search.Search[models.Document](t.Context(), client, "*", &search.SearchOptions{OrderBy: []string{"id"}}) {
		require.NoError(t, err)
		assert.InDelta(t, 1, result.Score, 0)
		docs = append(docs, result.Document)
	}
	require.Len(t, docs, 3)
	text, err := docs[0].String("text")
	require.NoError(t, err)
	assert.Equal(t, "\u0000\u2028 𝕏 <&>", text)
	for i, want := range []int64{math.MaxInt64, math.MinInt64} {
		long, err := docs[i].Int64("long")
		require.NoError(t, err)
		assert.Equal(t, want, long)
	}
	for i, want := range []float64{math.NaN(), math.Inf(-1), 5e-324} {
		double, err := docs[i].Float64("double")
		require.NoError(t, err)
		assert.Equal(t, math.Float64bits(want), math.Float64bits(double))
	}
	utc, err := docs[0].Time("time")
	require.NoError(t, err)
	assert.True(t, at.Equal(utc))
	where, err := docs[0].GeographyPoint("point")
	require.NoError(t, err)
	assert.Equal(t, point, where)
	assert.False(t, docs[1].Has("time"))
	assert.True(t, docs[1].Has("text"), "empty is not null")
	list, err := docs[2].Strings("texts")
	require.NoError(t, err, "a collection is never null")
	assert.Empty(t, list)

	type typed struct {
		ID    string                 `json:"id"`
		Text  *string                `json:"text"`
		Long  *int64                 `json:"long"`
		Time  *time.Time             `json:"time"`
		Point *models.GeographyPoint `json:"point"`
	}
	opts := &search.SearchOptions{OrderBy: []string{"id"}, Select: []string{"id", "text", "long", "time", "point"}}
	var all []typed
	for result, err := range search.Search[typed](t.Context(), client, "", opts) {
		require.NoError(t, err)
		all = append(all, result.Document)
	}
	assert.Equal(t, []typed{
		{"a", to.Ptr("\u0000\u2028 𝕏 <&>"), to.Ptr(int64(math.MaxInt64)), to.Ptr(at.UTC()), &point},
		{"b", to.Ptr(""), to.Ptr(int64(math.MinInt64)), nil, nil},
		{ID: "c"},
	}, all)

	type wrong struct{ Text float64 }
	_, err = search.NewSearchPager[wrong](client, "", nil).NextPage(t.Context())
	require.ErrorContains(t, err, `the document of result 0 does not fit`)
}

// Fields of the type that were not selected stay zero.
func TestSelectedFieldsAreAllThereIs(t *testing.T) {
	client := bar(t)
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{nil, `{"id":"1","text":"O'Hara's, \"the\" bar","texts":["a,b","c d"],"flag":true,"int":1,"long":9007199254740993,"double":0.1,"time":"2020-02-29T23:59:59.999Z",
			"point":{"type":"Point","coordinates":[0,0],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}},"object":{"text":"x"},
			"objects":[{"text":"x","int":1},{"text":"y","int":2}],"plain":null,"single":[],"half":[],"int16":[],"sbyte":[],"byte":[]}`},
		{[]string{"int", "id"}, `{"id":"1","int":1}`},
		{[]string{"objects/int"}, `{"objects":[{"int":1},{"int":2}]}`},
		{[]string{"object", "plain"}, `{"object":{"text":"x"},"plain":null}`},
	} {
		opts := &search.SearchOptions{Filter: search.Eq("id", "1"), Select: c.fields}
		for result, err := range search.Search[json.RawMessage](t.Context(), client, "", opts) {
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(result.Document))
		}
		type small struct{ Text, Plain, Unknown string }
		for result, err := range search.Search[small](t.Context(), client, "", opts) {
			require.NoError(t, err)
			assert.Equal(t, c.fields == nil, result.Document.Text != "")
			assert.Empty(t, result.Document.Plain+result.Document.Unknown)
		}
	}
}

func TestNothingFoundIsNoError(t *testing.T) {
	client := bar(t)
	opts := &search.SearchOptions{IncludeTotalCount: true, Facets: []search.Facet{search.FacetByValue("text", nil), search.FacetByRange("int", 0, 10)}, HighlightFields: []string{"text"}}
	page, err := search.NewSearchPager[models.Document](client, "nosuchword", opts).NextPage(t.Context())
	require.NoError(t, err)
	assert.Empty(t, page.Results)
	assert.Equal(t, to.Ptr(int64(0)), page.Count)
	require.Contains(t, page.Facets, "text")
	assert.Empty(t, page.Facets["text"])
	ranges, err := models.RangeFacets[int64](page.Facets["int"])
	require.NoError(t, err)
	require.Len(t, ranges, 3)
	assert.Zero(t, ranges[0].Count+ranges[1].Count+ranges[2].Count)
	suggestions, err := search.Suggest[models.Document](t.Context(), client, "nosuchword", "sg", nil)
	require.NoError(t, err)
	assert.Empty(t, suggestions.Results)
	completions, err := client.Autocomplete(t.Context(), "nosuchword", "sg", nil)
	require.NoError(t, err)
	assert.Empty(t, completions.Results)
}

// A field of type Edm.Double is a float64 in every call that returns documents.
func TestInfinitiesOfTypedDocuments(t *testing.T) {
	type row struct {
		ID     string   `json:"id" search:"key"`
		Double *float64 `json:"double"`
	}
	client, ctx := bar(t), t.Context()
	low := math.Inf(-1)
	_, err := search.UploadDocuments(ctx, client, []row{{ID: "5", Double: &low}}, nil)
	require.NoError(t, err)
	check := func(docs map[string]*float64) {
		t.Helper()
		require.Len(t, docs, 5)
		assert.True(t, *docs["1"] == 0.1 && math.IsInf(*docs["2"], 1) && math.IsNaN(*docs["3"]) && docs["4"] == nil && math.IsInf(*docs["5"], -1))
	}
	docs := map[string]*float64{}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		doc, err := search.GetDocument[row](ctx, client, id, nil)
		require.NoError(t, err)
		docs[doc.ID] = doc.Double
	}
	check(docs)
	docs = map[string]*float64{}
	for doc, err := range search.Scan[row](ctx, client, nil) {
		require.NoError(t, err)
		docs[doc.ID] = doc.Double
	}
	check(docs)
	docs = map[string]*float64{}
	for found, err := range search.Search[row](ctx, client, "*", nil) {
		require.NoError(t, err)
		docs[found.Document.ID] = found.Document.Double
	}
	check(docs)
}
