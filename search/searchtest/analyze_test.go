package searchtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// analyzing is an index with custom analysis components.
const analyzing = `{"name":"small","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"title","type":"Edm.String"}],
	"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"mine","tokenizer":"pairs","tokenFilters":["uppercase"],"charFilters":["dashes"]},
		{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"bought","tokenizer":"microsoft_language_tokenizer"}],
	"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.NGramTokenizer","name":"pairs","minGram":2,"maxGram":2}],
	"charFilters":[{"@odata.type":"#Microsoft.Azure.Search.MappingCharFilter","name":"dashes","mappings":["-=>_"]}],
	"normalizers":[{"@odata.type":"#Microsoft.Azure.Search.CustomNormalizer","name":"flat","tokenFilters":["lowercase"],"charFilters":[]}]}`

func newAnalyzing(t *testing.T) caller {
	c := newCaller(t)
	c.call("POST", "/indexes", analyzing).want(t, 201, "")
	return c
}

func TestTextIsAnalyzedAsTheRequestSays(t *testing.T) {
	c := newAnalyzing(t)
	for name, test := range map[string]struct{ request, tokens string }{
		"an analyzer of the service": {
			`{"text":"The quick fox","analyzer":"stop"}`,
			`[{"token":"quick","startOffset":4,"endOffset":9,"position":1},{"token":"fox","startOffset":10,"endOffset":13,"position":2}]`,
		},
		"one of the index": {
			`{"text":"a-b","analyzer":"mine"}`,
			`[{"token":"A_","startOffset":0,"endOffset":2,"position":0},{"token":"_B","startOffset":1,"endOffset":3,"position":1}]`,
		},
		"a tokenizer of the index with filters": {
			`{"text":"aB","tokenizer":"pairs","tokenFilters":["uppercase","reverse"],"charFilters":["html_strip"]}`,
			`[{"token":"BA","startOffset":0,"endOffset":2,"position":0}]`,
		},
		"a tokenizer alone": {
			`{"text":"A b","tokenizer":"lowercase"}`,
			`[{"token":"a","startOffset":0,"endOffset":1,"position":0},{"token":"b","startOffset":2,"endOffset":3,"position":1}]`,
		},
		"a normalizer of the service": {
			`{"text":"A  B","normalizer":"uppercase"}`, `[{"token":"A  B","startOffset":0,"endOffset":4,"position":0}]`,
		},
		"one of the index as normalizer": {
			`{"text":"A B","normalizer":"flat"}`, `[{"token":"a b","startOffset":0,"endOffset":3,"position":0}]`,
		},
		"code units of UTF-16": {
			`{"text":"😀 é ü","analyzer":"whitespace"}`,
			`[{"token":"\ud83d\ude00","startOffset":0,"endOffset":2,"position":0},{"token":"\u00e9","startOffset":3,"endOffset":4,"position":1},{"token":"\u00fc","startOffset":5,"endOffset":6,"position":2}]`,
		},
		"no text":       {`{"text":"","analyzer":"simple"}`, `[]`},
		"nulls besides": {`{"text":"a","analyzer":"simple","tokenizer":null,"tokenFilters":null}`, `[{"token":"a","startOffset":0,"endOffset":1,"position":0}]`},
	} {
		t.Run(name, func(t *testing.T) {
			want := `{"@odata.context":"https://searchtest.search.windows.net/$metadata#Microsoft.Azure.Search.V2026_10_01.AnalyzeResult","tokens":` + test.tokens + `}`
			for _, path := range []string{"/indexes('small')/search.analyze", "/indexes/small/analyze"} {
				require.Equal(t, want, caller{t, c.srv}.call("POST", path, test.request).want(t, 200, "").body)
			}
			require.Equal(t, `{"tokens":`+test.tokens+`}`, caller{t, c.srv}.call("POST", "/indexes/small/analyze", test.request, "Accept: application/json;odata.metadata=none").body)
		})
	}
}

func TestAnalyzeRequestsThatAreRefused(t *testing.T) {
	c := newAnalyzing(t)
	for name, test := range map[string]struct {
		request string
		status  int
		says    string
	}{
		"no text":                      {`{"analyzer":"simple"}`, 400, "'text'"},
		"no component to analyze with": {`{"text":"a"}`, 400, "One of the parameters 'analyzer', 'tokenizer', 'normalizer' must be specified."},
		"two of them":                  {`{"text":"a","analyzer":"simple","tokenizer":"letter"}`, 400, "The parameters 'analyzer', 'tokenizer' are mutually exclusive."},
		"all of them":                  {`{"text":"a","analyzer":"simple","tokenizer":"letter","normalizer":"flat"}`, 400, "mutually exclusive"},
		"filters with an analyzer":     {`{"text":"a","analyzer":"simple","tokenFilters":["uppercase"]}`, 400, "'tokenFilters' can only be specified together with 'tokenizer'"},
		"filters with a normalizer":    {`{"text":"a","normalizer":"flat","charFilters":["html_strip"]}`, 400, "'charFilters' can only be specified together with 'tokenizer'"},
		"an unknown analyzer":          {`{"text":"a","analyzer":"x"}`, 400, "The analyzer 'x' is neither defined in the index nor one of the service."},
		"an unknown tokenizer":         {`{"text":"a","tokenizer":"x"}`, 400, "The tokenizer 'x' is neither"},
		"an unknown token filter":      {`{"text":"a","tokenizer":"letter","tokenFilters":["x"]}`, 400, "The token filter 'x' is neither"},
		"an unknown char filter":       {`{"text":"a","tokenizer":"letter","charFilters":["x"]}`, 400, "The char filter 'x' is neither"},
		"an unknown normalizer":        {`{"text":"a","normalizer":"x"}`, 400, "The normalizer 'x' is neither"},
		"an unknown member":            {`{"text":"a","analyser":"simple"}`, 400, "The property 'analyser' does not exist on type"},
		"an analyzer of Microsoft's":   {`{"text":"a","analyzer":"ja.microsoft"}`, 501, "ja.microsoft"},
		"a tokenizer of Microsoft's":   {`{"text":"a","tokenizer":"microsoft_language_tokenizer"}`, 501, "microsoft_language_tokenizer"},
		"one of the index made of it":  {`{"text":"a","analyzer":"bought"}`, 501, "microsoft_language_tokenizer"},
		"no JSON":                      {`text`, 400, "Invalid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			caller{t, c.srv}.call("POST", "/indexes('small')/search.analyze", test.request).want(t, test.status, test.says)
		})
	}
	c.call("POST", "/indexes('none')/search.analyze", `{"text":"a","analyzer":"simple"}`).want(t, 404, "No index with the name 'none'")
	// Normalizers exist since 2025-09-01.
	c.call("POST", "/indexes('small')/search.analyze?api-version=2024-07-01", `{"text":"a","normalizer":"flat"}`).want(t, 400, "'normalizer' does not exist")
	c.call("POST", "/indexes('small')/search.analyze?api-version=2020-06-30", `{"text":"a"}`).want(t, 400, `Details: request : One of the parameters 'analyzer', 'tokenizer' must be specified.\r\n"`)
}

func TestAnalysisThatIsNotEmulatedIsRefusedAtItsFirstUseOrIfStrictAtOnce(t *testing.T) {
	definitions := map[string]struct{ definition, says string }{
		"a field's analyzer": {
			`{"name":"small","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"c","type":"Edm.ComplexType","fields":[{"name":"t","type":"Edm.String","analyzer":"ja.microsoft"}]}]}`,
			"the field 'c/t'",
		},
		"a component of the index": {analyzing, "microsoft_language_tokenizer"},
	}
	for name, test := range definitions {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, NewServer(nil).CreateIndex(test.definition))
			strict := caller{t, NewServer(&Options{StrictAnalysis: true})}
			a := strict.call("POST", "/indexes", test.definition).want(t, 501, test.says)
			assert.Contains(t, a.body, "microsoft")
			strict.call("PUT", "/indexes('small')", test.definition).want(t, 501, test.says)
			strict.call("GET", "/indexes", "").want(t, 200, `"value":[]`)
			strict.call("POST", "/indexes", small).want(t, 201, "")
		})
	}
}

func TestComponentsThatCannotBeCompiledAreRefusedAtCreation(t *testing.T) {
	c := newCaller(t)
	const says = "The request is invalid. Details: definition : "
	definition := smaller(`"tokenFilters":[{"@odata.type":"#Microsoft.Azure.Search.PatternReplaceTokenFilter","name":"p","pattern":"(","replacement":""}]`)
	a := c.call("POST", "/indexes", definition).want(t, 400, says)
	require.Contains(t, a.body, "'p'")
	require.Error(t, c.srv.CreateIndex(definition))
	c.call("POST", "/indexes", small).want(t, 201, "")
	c.call("PUT", "/indexes('small')?allowIndexDowntime=true", definition).want(t, 400, says)
}
