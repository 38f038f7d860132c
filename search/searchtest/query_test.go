package searchtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hits returns the keys of the documents in a reply, in order, separated by spaces.
func (a answered) hits(t testing.TB) string {
	t.Helper()
	var v struct{ Value []struct{ ID string } }
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	var out []string
	for _, hit := range v.Value {
		out = append(out, hit.ID)
	}
	return strings.Join(out, " ")
}

// query posts a search to the index types.
func (p probe) query(body string) answered {
	p.Helper()
	return p.send(http.MethodPost, "/indexes('types')/docs/search.post.search", body)
}

// library is an index whose documents differ in every field.
func library(t testing.TB) probe {
	p := newProbe(t, nil)
	p.indexed(
		`{"id":"1","s":"red apple","ss":["fruit","sweet"],"i":3,"d":1.5,"b":true,"t":"2020-01-01T00:00:00Z","g":{"type":"Point","coordinates":[0,0]},"c":{"x":"orchard"},"v":[1,0,0]}`,
		`{"id":"2","s":"green apple pie","ss":["fruit","baked"],"i":5,"d":2.5,"b":false,"t":"2021-01-01T00:00:00Z","g":{"type":"Point","coordinates":[1,0]},"v":[0,1,0]}`,
		`{"id":"3","s":"red wine","ss":["drink"],"i":5,"d":9,"b":true,"t":"2022-06-01T00:00:00Z","cs":[{"x":"cellar","y":1},{"x":"shelf","y":2}],"v":[0.9,0.1,0]}`,
		`{"id":"4","s":"Bread","ss":[],"d":-1,"hidden":"apple"}`,
	)
	return p
}

func TestSearchesFindDocuments(t *testing.T) {
	p := library(t)
	for name, test := range map[string]struct{ body, ids string }{
		"everything, in the order of writing":  {`{}`, "1 2 3 4"},
		"a star is everything":                 {`{"search":"*"}`, "1 2 3 4"},
		"a word, the shorter text first":       {`{"search":"apple","searchFields":"s"}`, "1 2"},
		"words, one of which suffices":         {`{"search":"wine pie","searchFields":"s"}`, "3 2"},
		"words that must all be there":         {`{"search":"red apple","searchMode":"all"}`, "1"},
		"a phrase":                             {`{"search":"\"apple pie\""}`, "2"},
		"a prefix":                             {`{"search":"appl*","searchFields":"s"}`, "1 2"},
		"an excluded word":                     {`{"search":"red -wine","searchMode":"all"}`, "1"},
		"a field of an object":                 {`{"search":"orchard"}`, "1"},
		"a field of objects":                   {`{"search":"cellar","searchFields":"cs/x"}`, "3"},
		"a collection":                         {`{"search":"drink"}`, "3"},
		"the full syntax":                      {`{"search":"s:aple~1 OR c/x:orch*","queryType":"full"}`, "1 2"},
		"a hidden field is searched":           {`{"search":"apple","searchFields":"hidden"}`, "4"},
		"a filter":                             {`{"filter":"i eq 5"}`, "2 3"},
		"a filter on a search":                 {`{"search":"red","filter":"i eq 5"}`, "3"},
		"a lambda":                             {`{"filter":"ss/any(x: x eq 'fruit') and not b"}`, "2"},
		"a search in a filter":                 {`{"filter":"search.ismatch('apple','s') and i gt 3"}`, "2"},
		"a search in a filter that scores":     {`{"filter":"search.ismatchscoring('red','s') or search.ismatchscoring('apple','s')"}`, "1 3 2"},
		"a search in a filter next to another": {`{"search":"red","filter":"search.ismatchscoring('wine','s') or i ge 0"}`, "3 1"},
		"an order":                             {`{"orderby":"d desc"}`, "3 2 1 4"},
		"an order with ties and nulls":         {`{"orderby":"i desc, d"}`, "2 3 1 4"},
		"an order by text":                     {`{"orderby":"s"}`, "4 2 1 3"}, // ordinal: B before g
		"an order by distance":                 {`{"orderby":"geo.distance(g, geography'POINT(1 0)')","filter":"d gt 0 and d lt 5"}`, "2 1"},
		"an order by score":                    {`{"search":"red wine","orderby":"search.score() desc"}`, "3 1"},
		"a page":                               {`{"orderby":"id","skip":1,"top":2}`, "2 3"},
		"behind the last":                      {`{"skip":99}`, ""},
		"none at all":                          {`{"top":0}`, ""},
		"the nearest":                          {`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","k":2}]}`, "1 3"},
		"the nearest that pass a filter":       {`{"filter":"i eq 5","vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","k":1}]}`, "3"},
		"those of the nearest that pass":       {`{"filter":"i eq 5","vectorFilterMode":"postFilter","vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","k":1}]}`, ""},
		"the nearest above a threshold":        {`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","k":9,"threshold":{"kind":"vectorSimilarity","value":0.5}}]}`, "1 3"},
		"text and vectors":                     {`{"search":"pie","vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","k":2}]}`, "1 2 3"},
		"text and a heavier vector":            {`{"search":"pie","vectorQueries":[{"kind":"vector","vector":[0.8,0.6,0],"fields":"v","k":1,"weight":5}]}`, "3 2"},
		"two vectors":                          {`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","k":1},{"kind":"vector","vector":[0,1,0],"fields":"v","k":3}]}`, "1 2 3"},
	} {
		t.Run(name, func(t *testing.T) {
			body := test.body
			if name == "the nearest above a threshold" {
				assert.Equal(t, test.ids, probe{t, p.Server}.send(http.MethodPost, "/indexes('types')/docs/search.post.search?api-version=2025-11-01-preview", body).hits(t))
				return
			}
			assert.Equal(t, test.ids, probe{t, p.Server}.query(body).hits(t))
		})
	}
}

func TestSearchesSayWhatIsWrong(t *testing.T) {
	p := library(t)
	for name, test := range map[string]struct {
		body    string
		message string
	}{
		"no JSON":                         {`{`, "The request is invalid. Details: "},
		"an unknown parameter":            {`{"facet":["s"]}`, "The request is invalid. Details: The parameter 'facet' in the request payload is not a valid parameter for the operation 'search'."},
		"a parameter twice":               {`{"top":1,"top":2}`, "Multiple parameters with the name 'top'"},
		"text for a number":               {`{"top":"1"}`, "Cannot convert the value of the parameter 'top'"},
		"null in a list":                  {`{"facets":[null]}`, "A null value was found with the expected type 'Edm.String[Nullable=False]'."},
		"a value out of the list":         {`{"queryType":"fuzzy"}`, "Requested value 'fuzzy' was not found"},
		"too much to skip":                {`{"skip":100001}`, "Value must be between 0 and 100000.\r\nParameter name: $skip"},
		"less than nothing":               {`{"top":-1}`, "Parameter name: $top"},
		"an invalid filter":               {`{"filter":"This is not a valid filter."}`, "Invalid expression: Syntax error at position 7 in 'This is not a valid filter.'.\r\nParameter name: $filter"},
		"an order by nothing":             {`{"orderby":"nope"}`, "Invalid expression: Could not find a property named 'nope' on type 'search.document'.\r\nParameter name: $orderby"},
		"an order by an unsortable field": {`{"orderby":"plain"}`, "Invalid expression: 'plain' is not a sortable field. Only sortable fields can be used in $orderby.\r\nParameter name: $orderby"},
		"a selection of nothing":          {`{"select":"nope"}`, "Parameter name: $select"},
		"a selection of the hidden":       {`{"select":"hidden"}`, "is not a retrievable field"},
		"a facet of nothing":              {`{"facets":["nope"]}`, "Unknown field 'nope' in facet specification.\r\nParameter name: facet"},
		"a search in nothing":             {`{"search":"x","searchFields":"nope"}`, "Unknown field 'nope' in search field list.\r\nParameter name: searchFields"},
		"a search in numbers":             {`{"search":"x","searchFields":"i"}`, "Parameter name: searchFields"},
		"highlights of numbers":           {`{"search":"x","highlight":"i"}`, "Only searchable fields can be used in the highlight list. Field 'i' is not marked as 'searchable'.\r\nParameter name: highlight"},
		"too many highlights":             {`{"search":"x","highlight":"s-1001"}`, "Parameter name: highlight"},
		"text that cannot be parsed":      {`{"search":"/.*/.*/","queryType":"full"}`, "Failed to parse query string at line 1, column 8. See https://aka.ms/azure-search-full-query for supported syntax."},
		"a field of the full syntax":      {`{"search":"nope:x","queryType":"full"}`, "'nope'"},
		"an unknown profile":              {`{"scoringProfile":"nope"}`, "The scoring profile 'nope' does not exist in the index."},
		"a parameter without a value":     {`{"scoringParameters":["x"]}`, "Parameter name: scoringParameter"},
		"a vector that is too long":       {`{"vectorQueries":[{"kind":"vector","vector":[1,2],"fields":"v"}]}`, "The vector field 'v', with dimension '3', expects a length of '3'. However, the provided vector has a length of '2'."},
		"a vector in no vector field":     {`{"vectorQueries":[{"kind":"vector","vector":[1],"fields":"i"}]}`, "is not a vector field"},
		"a vector nowhere":                {`{"vectorQueries":[{"kind":"vector","vector":[1]}]}`, "must name the fields"},
		"a facet twice":                   {`{"facets":["i","i,interval:5"]}`, "in more than one facet specification"},
		"a highlight twice":               {`{"search":"x","highlight":"s,s-1"}`, "more than once"},
		"too much text":                   {`{"search":"` + strings.Repeat("x", 100_001) + `"}`, "more than 100000 characters"},
		"an unknown threshold member":     {`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","threshold":{"kind":"searchScore","value":1,"x":1}}]}`, "The property 'threshold'"},
		"a number that is too large":      {`{"vectorQueries":[{"kind":"vector","vector":[1e39,0,0],"fields":"v"}]}`, "The property 'vector' of a vector query cannot be read"},
		"null for a number":               {`{"vectorQueries":[{"kind":"vector","vector":[1,null,0],"fields":"v"}]}`, "A null value was found"},
		"no neighbor":                     {`{"vectorQueries":[{"kind":"vector","vector":[1,2,3],"fields":"v","k":0}]}`, "Parameter name: vector.k"},
		"an unknown vector member":        {`{"vectorQueries":[{"kind":"vector","vectors":[1]}]}`, "The property 'vectors' does not exist"},
		"text next to a vector":           {`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"text":"x","fields":"v"}]}`, "The property 'text' does not exist on vector queries of the kind 'vector'."},
		"text for a vector":               {`{"vectorQueries":[{"kind":"vector","vector":"x","fields":"v"}]}`, "The property 'vector' of a vector query cannot be read: A value of the kind string cannot be there."},
		"oversampling of nothing":         {`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","oversampling":2}]}`, "Parameter name: vector.oversampling"},
		"semantic without a name":         {`{"queryType":"semantic"}`, "Parameter name: semanticConfiguration"},
		"captions without semantics":      {`{"captions":"extractive"}`, "Parameter name: captions"},
		"coverage out of range":           {`{"minimumCoverage":101}`, "Parameter name: minimumCoverage"},
	} {
		t.Run(name, func(t *testing.T) {
			a := probe{t, p.Server}.query(test.body)
			assert.Equal(t, http.StatusBadRequest, a.status, a.body)
			assert.Contains(t, a.message(), test.message)
		})
	}
}

// Some versions that lack a parameter are newer than versions that have it.
func TestParametersThatAVersionLacksAreRefused(t *testing.T) {
	p := library(t)
	const near = `{"kind":"vector","vector":[1,0,0],"fields":"v"`
	for body, versions := range map[string]struct{ lacks, has string }{
		`{"sessionId":"x"}`:                            {"2019-05-06 2019-05-06-preview", "2020-06-30 2020-06-30-preview"},
		`{"vectorQueries":[]}`:                         {"2020-06-30 2021-04-30-preview 2023-07-01-preview", "2023-10-01-preview 2023-11-01"},
		`{"debug":"disabled"}`:                         {"2021-04-30-preview 2023-11-01 2024-07-01", "2023-07-01-preview 2024-05-01-preview 2025-09-01"},
		`{"hybridSearch":null}`:                        {"2024-03-01-preview 2024-07-01 2025-09-01 2026-04-01", "2024-05-01-preview 2025-11-01-preview"},
		`{"speller":"none"}`:                           {"2019-05-06-preview 2020-06-30 2026-04-01", "2020-06-30-preview 2025-11-01-preview"},
		`{"queryRewrites":""}`:                         {"2024-09-01-preview 2025-09-01 2026-04-01", "2024-11-01-preview"},
		`{"semanticFields":""}`:                        {"2020-06-30-preview 2026-04-01", "2021-04-30-preview"},
		`{"semanticQuery":""}`:                         {"2023-07-01-preview 2023-11-01", "2023-10-01-preview 2024-07-01"},
		`{"answers":"none"}`:                           {"2020-06-30", "2021-04-30-preview 2023-11-01"},
		`{"semanticErrorHandling":null}`:               {"2021-04-30-preview", "2023-07-01-preview 2023-11-01"},
		`{"vectorQueries":[` + near + `,"weight":2}]}`: {"2023-11-01 2024-03-01-preview", "2024-05-01-preview 2024-07-01"},
		`{"vectorQueries":[` + near + `,"threshold":{"kind":"vectorSimilarity","value":0}}]}`: {"2024-03-01-preview 2026-04-01", "2024-05-01-preview"},
	} {
		for version := range strings.FieldsSeq(versions.lacks) {
			a := p.send(http.MethodPost, "/indexes('types')/docs/search?api-version="+version, body)
			assert.Equal(t, http.StatusBadRequest, a.status, "%s %s: %s", version, body, a.body)
		}
		for version := range strings.FieldsSeq(versions.has) {
			a := p.send(http.MethodPost, "/indexes('types')/docs/search?api-version="+version, body)
			assert.Equal(t, http.StatusOK, a.status, "%s %s: %s", version, body, a.body)
		}
	}
}

func TestWhatSearchesCannotDoIsNamed(t *testing.T) {
	p := library(t)
	for body, version := range map[string]string{
		`{"vectorQueries":[{"kind":"text","text":"x","fields":"v"}]}`: "2026-04-01",
		`{"debug":"all"}`:                         "2026-04-01",
		`{"vectorFilterMode":"strictPostFilter"}`: "2026-04-01",
		`{"hybridSearch":{}}`:                     "2025-11-01-preview",
		`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","filterOverride":"b"}]}`: "2024-09-01-preview",
	} {
		a := p.send(http.MethodPost, "/indexes('types')/docs/search?api-version="+version, body)
		assert.Equal(t, http.StatusNotImplemented, a.status, a.body)
		assert.Contains(t, a.message(), "searchtest does not emulate")
	}
	// A version without the parameter calls it unknown, however new the version is.
	a := p.query(`{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v","filterOverride":"b"}]}`)
	assert.Equal(t, http.StatusBadRequest, a.status, a.body)
	assert.Contains(t, a.message(), "The property 'filterOverride' does not exist")
}

func TestVectorQueriesThatNeedAModelAreNamed(t *testing.T) {
	p := library(t)
	const text, url, binary = `"kind":"text","text":"x"`, `"kind":"imageUrl","url":"https://x/y.png"`, `"base64Image":"AA==","kind":"imageBinary"`
	for _, test := range []struct{ version, query, says string }{
		{"2026-04-01", text, "the kind 'text': it has no vectorizers"},
		{"2024-07-01", text, "the kind 'text': it has no vectorizers"},
		{"2023-10-01-preview", text, "the kind 'text': it has no vectorizers"},
		{"2023-10-01-preview", `"kind":"te\u0078t","text":"x","queryRewrites":"generative"`, "the kind 'text': it has no vectorizers"},
		{"2026-04-01", url, "the kind 'imageUrl': it has no vectorizers"},
		{"2024-05-01-preview", url, "the kind 'imageUrl': it has no vectorizers"},
		{"2025-11-01-preview", binary, "the kind 'imageBinary': it has no vectorizers"},
		{"2023-11-01", text, ""},
		{"2024-07-01", url, ""},
		{"2021-04-30-preview", text, ""},
		{"2024-03-01-preview", url, ""},
		{"2024-07-01", binary, ""},
		{"2026-04-01", `"kind":7,"text":"x"`, ""},
		{"2026-04-01", `"kind":"audio","url":"x"`, ""},
	} {
		t.Run(test.version+" "+test.query, func(t *testing.T) {
			a := probe{t, p.Server}.send(http.MethodPost, "/indexes('types')/docs/search?api-version="+test.version, `{"vectorQueries":[{`+test.query+`,"fields":"v","k":3}]}`)
			if test.says == "" {
				assert.Equal(t, http.StatusBadRequest, a.status, a.body)
				return
			}
			assert.Equal(t, http.StatusNotImplemented, a.status, a.body)
			assert.Contains(t, a.message(), test.says)
		})
	}
}

func TestAGetAsksWhatAPostAsks(t *testing.T) {
	p := library(t)
	query := url.Values{
		"search": {"red"}, "$filter": {"i ge 3"}, "$orderby": {"d desc"}, "$select": {"id,s"}, "$top": {"5"}, "$skip": {"0"}, "$count": {"true"},
		"facet": {"i", "b,count:1"}, "searchFields": {"s"}, "highlight": {"s"}, "highlightPreTag": {"["}, "highlightPostTag": {"]"}, "nobody": {"knows"},
	}
	get := p.send(http.MethodGet, "/indexes/types/docs?"+query.Encode(), "")
	post := p.query(`{"search":"red","filter":"i ge 3","orderby":"d desc","select":"id,s","top":5,"skip":0,"count":true,
		"facets":["i","b,count:1"],"searchFields":"s","highlight":"s","highlightPreTag":"[","highlightPostTag":"]"}`)
	require.Equal(t, http.StatusOK, get.status, get.body)
	assert.Equal(t, post.body, get.body)
	assert.Equal(t, `{"@odata.count":2,"@search.facets":{"i":[{"value":3,"count":1},{"value":5,"count":1}],"b":[{"value":true,"count":2}]},`+
		`"value":[{"@search.score":0.62191015,"@search.highlights":{"s":["[red] wine"]},"id":"3","s":"red wine"},`+
		`{"@search.score":0.62191015,"@search.highlights":{"s":["[red] apple"]},"id":"1","s":"red apple"}]}`, get.body)
}

// A GET that omits these parameters is refused, not answered with defaults.
func TestAGetIsRefusedWhatItCannotSay(t *testing.T) {
	p := library(t)
	for query, reason := range map[string]string{
		"filter=i+ge+3":               "the parameter 'filter' in a GET; its name there is '$filter'",
		"facets=i":                    "the parameter 'facets' in a GET; its name there is 'facet'",
		"vectorFilterMode=postFilter": "the parameter 'vectorFilterMode' in a GET; use a POST",
		"answers=extractive&api-version=2020-06-30": "the parameter 'answers' in this api-version, which does not have it",
	} {
		a := p.send(http.MethodGet, "/indexes/types/docs?"+query, "")
		assert.Equal(t, http.StatusNotImplemented, a.status, a.body)
		assert.Equal(t, "searchtest does not emulate "+reason+".", a.message())
	}
	a := p.send(http.MethodGet, "/indexes/types/docs/1?select=id", "")
	assert.Equal(t, http.StatusNotImplemented, a.status, a.body)
	assert.Contains(t, a.message(), "its name there is '$select'")
}

// Metrics of one field are entries of one list, as recorded with 2025-11-01-preview. Stable versions have none.
func TestMetricsStandTogether(t *testing.T) {
	p := library(t)
	const path, body = "/indexes('types')/docs/search.post.search?api-version=", `{"facets":["d,metric:sum","i","d,metric:min, default:0","ss, metric:cardinality, precisionThreshold: 10","l,metric:max"],"top":0}`
	a := p.send(http.MethodPost, path+"2025-11-01-preview", body)
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Contains(t, a.body, `"@search.facets":{"d":[{"sum":12.0},{"min":-1.0}],"i":[{"value":5,"count":2},{"value":3,"count":1}],"ss":[{"cardinality":4}],"l":[{"max":null}]}`)
	a = p.send(http.MethodPost, path+"2025-11-01-preview", `{"facets":["d,metric:sum","d"]}`)
	assert.Contains(t, a.message(), "in more than one facet specification")
	for _, version := range []string{"2026-04-01", "2024-05-01-preview"} {
		a = p.send(http.MethodPost, path+version, body)
		assert.Equal(t, http.StatusNotImplemented, a.status)
		assert.Contains(t, a.message(), "metric")
	}
}

// Oversampling reads more neighbors of compressed vectors; the emulator compresses none.
func TestOversamplingIsForWhatIsRankedAgain(t *testing.T) {
	p := newProbe(t, nil)
	for n, test := range []struct {
		version, compression string
		status               int
	}{
		{"2025-09-01", `{"name":"c","kind":"scalarQuantization"}`, http.StatusOK},
		{"2025-09-01", `{"name":"c","kind":"binaryQuantization","rescoringOptions":{"defaultOversampling":4}}`, http.StatusOK},
		{"2025-09-01", `{"name":"c","kind":"scalarQuantization","rescoringOptions":{"enableRescoring":false}}`, http.StatusBadRequest},
		{"2024-07-01", `{"name":"c","kind":"scalarQuantization","rerankWithOriginalVectors":true}`, http.StatusOK},
		{"2024-07-01", `{"name":"c","kind":"scalarQuantization","rerankWithOriginalVectors":false}`, http.StatusBadRequest},
	} {
		a := p.send(http.MethodPost, "/indexes?api-version="+test.version, fmt.Sprintf(`{"name":"i%d","fields":[{"name":"id","type":"Edm.String","key":true},
			{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":2,"vectorSearchProfile":"p"}],
			"vectorSearch":{"profiles":[{"name":"p","algorithm":"a","compression":"c"}],"algorithms":[{"name":"a","kind":"hnsw"}],"compressions":[%s]}}`, n, test.compression))
		require.Equal(t, http.StatusCreated, a.status, a.body)
		a = p.send(http.MethodPost, fmt.Sprintf("/indexes('i%d')/docs/search.post.search?api-version=%s", n, test.version), `{"vectorQueries":[{"kind":"vector","vector":[1,0],"fields":"v","oversampling":2}]}`)
		assert.Equal(t, test.status, a.status, "%s: %s", test.compression, a.body)
	}
}

// This also holds for requests whose parameters were not strings.
func TestContinuationsAreText(t *testing.T) {
	p := newProbe(t, nil)
	for n := range 51 {
		p.indexed(fmt.Sprintf(`{"id":"%d"}`, n))
	}
	a := p.query("{\"search\":\"*\",\"highlightPreTag\":\"\xff\",\"highlightPostTag\":\"x\"}")
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Contains(t, a.body, "\"highlightPreTag\":\"\ufffd\"")
	assert.True(t, utf8.ValidString(a.body))
}

// A keyword token includes white space that is not part of a sentence.
func TestMarksStayInsideTheirSentence(t *testing.T) {
	p := newProbe(t, nil)
	require.NoError(t, p.CreateIndex(`{"name":"words","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"kw","type":"Edm.String","analyzer":"keyword"}]}`))
	a := p.send(http.MethodPost, "/indexes('words')/docs/search.index", `{"value":[{"id":"1","kw":"   lead. Two  "}]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	a = p.send(http.MethodPost, "/indexes('words')/docs/search.post.search", `{"search":"kw:/.*/","queryType":"full","highlight":"kw","select":"id"}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Contains(t, a.body, `<em>lead.`)
}

// Tokens overlap across the end of a sentence.
func TestMarksGoOnInTheNextSentence(t *testing.T) {
	p := newProbe(t, nil)
	require.NoError(t, p.CreateIndex(`{"name":"grams","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"s","type":"Edm.String","analyzer":"grams"}],
		"analyzers":[{"name":"grams","@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","tokenizer":"grams"}],
		"tokenizers":[{"name":"grams","@odata.type":"#Microsoft.Azure.Search.NGramTokenizer","minGram":2,"maxGram":3}]}`))
	a := p.send(http.MethodPost, "/indexes('grams')/docs/search.index", `{"value":[{"id":"1","s":"One. Two"}]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	a = p.send(http.MethodPost, "/indexes('grams')/docs/search.post.search", `{"search":"s:/.*/","queryType":"full","highlight":"s","select":"id"}`)
	assert.Contains(t, a.body, `{"s":["<em>One.</em>","<em>Two</em>"]}`)
	a = p.send(http.MethodPost, "/indexes('grams')/docs/search.index", `{"value":[{"id":"1","s":"One.   Two"}]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	a = p.send(http.MethodPost, "/indexes('grams')/docs/search.post.search", `{"search":"s:/ +/","queryType":"full","highlight":"s","select":"id"}`)
	assert.NotContains(t, a.body, "highlights", "there is nothing to mark in white space")
	assert.Contains(t, a.body, `"id":"1"`)
}

func TestScoresWithoutEndAreStillNumbers(t *testing.T) {
	p := library(t)
	boost := strings.Repeat("0", 38)
	a := p.query(`{"search":"((apple^1` + boost + `)^1` + boost + `)","queryType":"full","select":"id"}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.True(t, json.Valid([]byte(a.body)), a.body)
}

func TestAnAddressCanBeTooLong(t *testing.T) {
	p := library(t)
	a := p.send(http.MethodGet, "/indexes('types')/docs?search="+strings.Repeat("x", 8<<10), "")
	assert.Equal(t, http.StatusRequestURITooLong, a.status)
	assert.Contains(t, a.message(), "Use POST")
}

func TestPagesFollowOneAnother(t *testing.T) {
	p := newProbe(t, nil)
	var actions []string
	for i := range 2345 {
		actions = append(actions, fmt.Sprintf(`{"id":"%04d"}`, i))
	}
	for chunk := range slices.Chunk(actions, 1000) {
		p.indexed(chunk...)
	}
	type page struct {
		Value []struct{ ID string }
		Next  string          `json:"@odata.nextLink"`
		Body  json.RawMessage `json:"@search.nextPageParameters"`
	}
	for name, test := range map[string]struct {
		body  string
		pages []int
	}{
		"all, as many as a page has": {`{"select":"id","orderby":"id"}`, []int{50, 50, 50}},
		"more than a page can have":  {`{"select":"id","top":2200,"orderby":"id"}`, []int{1000, 1000, 200}},
		"from the middle":            {`{"select":"id","top":2000,"skip":1000,"orderby":"id"}`, []int{1000, 345}},
		"as many as a page can have": {`{"select":"id","top":1000,"orderby":"id"}`, []int{1000}},
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			t.Run(name+" by "+method, func(t *testing.T) {
				p := probe{t, p.Server}
				var asked map[string]any
				require.NoError(t, json.Unmarshal([]byte(test.body), &asked))
				path, body := "/indexes('types')/docs/search.post.search", test.body
				if method == http.MethodGet {
					query := url.Values{}
					for name, v := range asked {
						query.Set("$"+name, fmt.Sprint(v))
					}
					path, body = "/indexes('types')/docs?"+query.Encode(), ""
				}
				expected := 0
				if skip, ok := asked["skip"].(float64); ok {
					expected = int(skip)
				}
				for i, size := range test.pages {
					var got page
					a := p.send(method, path, body)
					require.Equal(t, http.StatusOK, a.status, a.body)
					require.NoError(t, json.Unmarshal([]byte(a.body), &got))
					require.Len(t, got.Value, size)
					for _, hit := range got.Value {
						require.Equal(t, fmt.Sprintf("%04d", expected), hit.ID)
						expected++
					}
					if i == len(test.pages)-1 && size != 50 {
						assert.Empty(t, got.Next)
						assert.Empty(t, got.Body)
						return
					}
					require.NotEmpty(t, got.Next)
					path = strings.TrimPrefix(got.Next, p.URL())
					if method == http.MethodPost {
						body = string(got.Body)
					}
				}
			})
		}
	}
}

// The test writes between searches of every kind and compares with a fresh index.
func TestSearchesSeeWhatIsWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	p := newProbe(t, nil)
	const words = "alpha beta gamma delta epsilon"
	queries := []string{
		`{"search":"alpha beta","select":"id"}`, `{"select":"id","filter":"i lt 50"}`,
		`{"vectorQueries":[{"kind":"vector","vector":[1,2,3],"fields":"v","k":5}],"select":"id"}`,
		`{"search":"gamma","vectorQueries":[{"kind":"vector","vector":[1,2,3],"fields":"v","k":5}],"select":"id"}`,
	}
	var all []string
	for round := range 30 {
		var actions []string
		for range 1 + random.IntN(40) {
			key := random.IntN(60)
			action := fmt.Sprintf(`{"@search.action":"delete","id":"%d"}`, key)
			if random.IntN(4) > 0 {
				list := strings.Fields(words)
				random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				action = fmt.Sprintf(`{"@search.action":"mergeOrUpload","id":"%d","s":"%s","i":%d,"v":[%d,%d,1]}`,
					key, strings.Join(list[:1+random.IntN(4)], " "), random.IntN(100), random.IntN(9), random.IntN(9))
			}
			actions = append(actions, action)
		}
		p.indexed(actions...)
		all = append(all, actions...)
		fresh := newProbe(t, nil)
		for chunk := range slices.Chunk(all, 500) {
			fresh.indexed(chunk...)
		}
		for _, q := range queries {
			require.Equal(t, fresh.query(q).body, p.query(q).body, "round %d: %s", round, q)
		}
	}
}

func TestSearchesSeeADocumentAfterTheLag(t *testing.T) {
	p := newProbe(t, &Options{VisibilityLag: time.Hour})
	p.indexed(`{"id":"1","s":"x"}`)
	assert.Empty(t, p.query(`{"search":"x"}`).hits(t))
}

func TestANewDefinitionIsSearchedByItsOwnRules(t *testing.T) {
	p := library(t)
	require.Equal(t, "1 2", p.query(`{"search":"apple","searchFields":"s"}`).hits(t))
	wider := strings.Replace(everyType, `{"name":"s",`, `{"name":"more","type":"Edm.String"},{"name":"s",`, 1)
	a := p.send(http.MethodPut, "/indexes('types')", wider)
	require.Less(t, a.status, 300, a.body)
	p.indexed(`{"@search.action":"merge","id":"4","more":"apple"}`)
	assert.Equal(t, "4", p.query(`{"search":"apple","searchFields":"more"}`).hits(t))
	assert.Equal(t, "1 2", p.query(`{"search":"apple","searchFields":"s"}`).hits(t))
}

func TestSearchesRunBesideWritesConcurrentSafe(t *testing.T) {
	p := library(t)
	done := make(chan struct{})
	for n := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 50 {
				if n == 0 {
					p.index(fmt.Sprintf(`{"id":"n%d","s":"apple %d","v":[1,%d,0]}`, i%7, i, i))
					continue
				}
				a := p.query([]string{`{"search":"apple"}`, `{"filter":"i gt 0","facets":["i"]}`, `{"vectorQueries":[{"kind":"vector","vector":[1,0,0],"fields":"v"}]}`}[n-1])
				assert.Equal(t, http.StatusOK, a.status, a.body)
			}
		}()
	}
	for range 4 {
		<-done
	}
}
