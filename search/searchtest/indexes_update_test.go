package searchtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// grown is an index with an example of everything that an update may change.
const grown = `{"name":"grown","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"title","type":"Edm.String","indexAnalyzer":"simple","searchAnalyzer":"stop"},
	{"name":"body","type":"Edm.String","analyzer":"en.lucene"},
	{"name":"n","type":"Edm.Int32"},
	{"name":"address","type":"Edm.ComplexType","fields":[{"name":"city","type":"Edm.String"}]},
	{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":3,"vectorSearchProfile":"p"}],
	"suggesters":[{"name":"sg","sourceFields":["body"]}],
	"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.StopAnalyzer","name":"a1"}],
	"similarity":{"@odata.type":"#Microsoft.Azure.Search.BM25Similarity","k1":1.2},
	"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a"},{"name":"q","algorithm":"a"}]}}`

// change is an edit of grown.
type change struct{ old, new string }

func (c change) apply(t *testing.T) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(grown, c.old), c.old)
	return strings.Replace(grown, c.old, c.new, 1)
}

func TestUpdatesThatNeedARebuildAreRefused(t *testing.T) {
	field := func(name, edit string) change {
		return change{`{"name":"` + name + `",`, `{"name":"` + name + `",` + edit + `,`}
	}
	for name, c := range map[string]struct {
		change
		code, reason string
	}{
		"deleting a field":                {change{`{"name":"n","type":"Edm.Int32"},`, ``}, "CannotDeleteExistingFields", "Existing field(s) 'n' cannot be deleted."},
		"renaming a field":                {change{`"name":"n"`, `"name":"m"`}, "CannotDeleteExistingFields", "Existing field(s) 'n' cannot be deleted."},
		"deleting a sub-field":            {change{`"name":"city"`, `"name":"town"`}, "CannotDeleteExistingFields", "Existing field(s) 'address/city' cannot be deleted."},
		"changing a type":                 {change{`"Edm.Int32"`, `"Edm.Int64"`}, "CannotChangeExistingField", "Existing field 'n' cannot be changed."},
		"making many out of one":          {change{`"Edm.Int32"`, `"Collection(Edm.Int32)"`}, "CannotChangeExistingField", "Existing field 'n' cannot be changed."},
		"forbidding filters":              {field("n", `"filterable":false`), "CannotChangeExistingField", "Existing field 'n' cannot be changed."},
		"forbidding sorting":              {field("n", `"sortable":false`), "CannotChangeExistingField", "Existing field 'n' cannot be changed."},
		"forbidding facets":               {field("n", `"facetable":false`), "CannotChangeExistingField", "Existing field 'n' cannot be changed."},
		"forbidding search below":         {field("city", `"searchable":false`), "CannotChangeExistingField", "Existing field 'address/city' cannot be changed."},
		"another analyzer":                {change{`"en.lucene"`, `"fr.lucene"`}, "CannotChangeExistingField", "Existing field 'body' cannot be changed."},
		"no analyzer":                     {change{`,"analyzer":"en.lucene"`, ``}, "CannotChangeExistingField", "Existing field 'body' cannot be changed."},
		"another index analyzer":          {change{`"indexAnalyzer":"simple"`, `"indexAnalyzer":"stop"`}, "CannotChangeExistingField", "Existing field 'title' cannot be changed."},
		"a normalizer":                    {field("title", `"normalizer":"lowercase"`), "CannotChangeExistingField", "Existing field 'title' cannot be changed."},
		"other dimensions":                {change{`"dimensions":3`, `"dimensions":4`}, "CannotChangeExistingField", "Existing field 'v' cannot be changed."},
		"another vector profile":          {change{`"vectorSearchProfile":"p"`, `"vectorSearchProfile":"q"`}, "CannotChangeExistingField", "Existing field 'v' cannot be changed."},
		"giving up storage":               {field("v", `"stored":false`), "CannotChangeExistingField", "Existing field 'v' cannot be changed."},
		"a new vector without storage":    {change{`"suggesters"`, `"description":"","suggesters"`}, "", ""}, // replaced below
		"a suggester of old fields":       {change{`{"name":"sg","sourceFields":["body"]}`, `{"name":"other","sourceFields":["body","address/city"]}`}, "CannotReferenceExistingFieldsInNewSuggester", "Fields that were already present in an index (body, address/city) cannot be referenced by a new suggester. Only new fields added in the same index update operation are allowed."},
		"an old field for the suggester":  {change{`"sourceFields":["body"]`, `"sourceFields":["body","address/city"]`}, "CannotReferenceExistingFieldsInNewSuggester", "(address/city)"},
		"another field for the suggester": {change{`"sourceFields":["body"]`, `"sourceFields":["address/city"]`}, "CannotChangeExistingSuggester", "The existing suggester 'sg' cannot be changed."},
		"deleting an analyzer":            {change{`{"@odata.type":"#Microsoft.Azure.Search.StopAnalyzer","name":"a1"}`, ``}, "CannotDeleteExistingAnalysisComponent", "'a1' in analyzers cannot be deleted"},
		"changing an analyzer":            {change{`"name":"a1"`, `"name":"a1","stopwords":["x"]`}, "CannotChangeExistingAnalysisComponent", "'a1' in analyzers cannot be changed"},
		"another graph":                   {change{`"kind":"hnsw"`, `"kind":"hnsw","hnswParameters":{"m":8}`}, "CannotChangeExistingVectorSearch", "'a' in algorithms cannot be changed: the vectors of the field 'v' were indexed with it."},
		"another algorithm":               {change{`"kind":"hnsw"`, `"kind":"exhaustiveKnn"`}, "CannotChangeExistingVectorSearch", "'a' in algorithms cannot be changed"},
		"an encryption key":               {change{`"suggesters"`, `"encryptionKey":{"keyVaultKeyName":"k","keyVaultUri":"https://v"},"suggesters"`}, "CannotEncryptExistingIndex", "An existing index cannot be encrypted."},
		"another similarity":              {change{`"#Microsoft.Azure.Search.BM25Similarity","k1":1.2`, `"#Microsoft.Azure.Search.ClassicSimilarity"`}, "CannotChangeSimilarity", "similarity algorithm"},
	} {
		if name == "a new vector without storage" {
			c.change = change{`"fields":[` + "\n", `"fields":[{"name":"w","type":"Collection(Edm.Single)","searchable":true,"dimensions":3,"vectorSearchProfile":"p","stored":false},` + "\n"}
			c.code, c.reason = "CannotAddFieldWithoutStorage", "'w' must be stored"
		}
		t.Run(name, func(t *testing.T) {
			cl := newCaller(t)
			before := cl.call("POST", "/indexes", grown).want(t, 201, "")
			a := cl.call("PUT", "/indexes('grown')?allowIndexDowntime=true", c.apply(t)).want(t, 400, c.reason)
			require.Contains(t, a.body, `"error":{"code":"OperationNotAllowed"`)
			require.Contains(t, a.body, `"details":[{"code":"`+c.code+`"`)
			require.Equal(t, before.body, cl.call("GET", "/indexes('grown')", "").body, "nothing has changed")
		})
	}
}

func TestUpdatesThatNeedNoRebuildAreMade(t *testing.T) {
	for name, c := range map[string]change{
		"nothing at all":               {`"grown"`, `"grown"`},
		"a new field":                  {`{"name":"n",`, `{"name":"m","type":"Edm.Int32"},{"name":"n",`},
		"a new sub-field":              {`{"name":"city",`, `{"name":"street","type":"Edm.String"},{"name":"city",`},
		"a new complex field":          {`{"name":"n",`, `{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"}]},{"name":"n",`},
		"fields in another order":      {`{"name":"id","type":"Edm.String","key":true},` + "\n\t" + `{"name":"title","type":"Edm.String","indexAnalyzer":"simple","searchAnalyzer":"stop"},`, `{"name":"title","type":"Edm.String","indexAnalyzer":"simple","searchAnalyzer":"stop"},{"name":"id","type":"Edm.String","key":true},`},
		"hiding a field":               {`{"name":"n",`, `{"name":"n","retrievable":false,`},
		"showing a vector":             {`{"name":"v",`, `{"name":"v","retrievable":true,`},
		"another search analyzer":      {`"searchAnalyzer":"stop"`, `"searchAnalyzer":"keyword"`},
		"synonyms":                     {`{"name":"title",`, `{"name":"title","synonymMaps":["names"],`},
		"a scoring profile":            {`"suggesters"`, `"defaultScoringProfile":"p","scoringProfiles":[{"name":"p"}],"suggesters"`},
		"a semantic configuration":     {`"suggesters"`, `"semantic":{"configurations":[{"name":"s","prioritizedFields":{"titleField":{"fieldName":"title"}}}]},"suggesters"`},
		"allowed origins":              {`"suggesters"`, `"corsOptions":{"allowedOrigins":["*"]},"suggesters"`},
		"no suggester":                 {`"suggesters":[{"name":"sg","sourceFields":["body"]}],`, ``},
		"a suggester of a new field":   {`"suggesters":[{"name":"sg","sourceFields":["body"]}]`, `"suggesters":[]`}, // replaced below
		"a new field for the old one":  {`"suggesters":[{"name":"sg","sourceFields":["body"]}]`, `"suggesters":[]`}, // replaced below
		"factors removed":              {`,"k1":1.2`, ``},                                                           // defaults
		"the defaults of the factors":  {`"k1":1.2`, `"k1":1.2,"b":0.75`},
		"another list for queries":     {`"kind":"hnsw"`, `"kind":"hnsw","hnswParameters":{"efSearch":700}`},
		"a profile without fields":     {`{"name":"q","algorithm":"a"}`, `{"name":"r","algorithm":"a"}`},
		"another vector search method": {`"algorithms":[{"name":"a","kind":"hnsw"}]`, `"algorithms":[{"name":"a","kind":"hnsw"},{"name":"b","kind":"exhaustiveKnn"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			next := c.apply(t)
			added := strings.Replace(next, `"fields":[`, `"fields":[{"name":"fresh","type":"Edm.String"},`, 1)
			switch name {
			case "a suggester of a new field":
				next = strings.Replace(added, `"suggesters":[]`, `"suggesters":[{"name":"other","sourceFields":["fresh"]}]`, 1)
			case "a new field for the old one":
				next = strings.Replace(added, `"suggesters":[]`, `"suggesters":[{"name":"sg","sourceFields":["body","fresh"]}]`, 1)
			}
			cl := newCaller(t)
			cl.call("POST", "/synonymmaps", `{"name":"names","format":"solr","synonyms":"a,b"}`).want(t, 201, "")
			cl.call("POST", "/indexes", grown).want(t, 201, "")
			a := cl.call("PUT", "/indexes('grown')", next).want(t, 200, "")
			require.Equal(t, a.body, cl.call("GET", "/indexes('grown')", "").body)
		})
	}
}

func TestUpdatesThatTakeTheIndexOfflineAreAskedFor(t *testing.T) {
	for name, c := range map[string]change{
		"a new analyzer":     {`"name":"a1"}`, `"name":"a1"},{"@odata.type":"#Microsoft.Azure.Search.StopAnalyzer","name":"a2"}`},
		"a new tokenizer":    {`"suggesters"`, `"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.ClassicTokenizer","name":"t"}],"suggesters"`},
		"a new token filter": {`"suggesters"`, `"tokenFilters":[{"@odata.type":"#Microsoft.Azure.Search.LengthTokenFilter","name":"t"}],"suggesters"`},
		"a new char filter":  {`"suggesters"`, `"charFilters":[{"@odata.type":"#Microsoft.Azure.Search.MappingCharFilter","name":"t","mappings":["a=>b"]}],"suggesters"`},
		"a new normalizer":   {`"suggesters"`, `"normalizers":[{"@odata.type":"#Microsoft.Azure.Search.CustomNormalizer","name":"t"}],"suggesters"`},
		"another factor k1":  {`"k1":1.2`, `"k1":1.3`},
		"a factor b":         {`"k1":1.2`, `"k1":1.2,"b":0.5`},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newCaller(t)
			cl.call("POST", "/indexes", grown).want(t, 201, "")
			for _, query := range []string{"", "?allowIndexDowntime=false"} {
				cl.call("PUT", "/indexes('grown')"+query, c.apply(t)).want(t, 400, "An index with the name 'grown' in service 'searchtest' could not be updated. Index update not allowed because it would cause downtime.")
			}
			cl.call("PUT", "/indexes('grown')?allowIndexDowntime=maybe", c.apply(t)).want(t, 400, "'allowIndexDowntime'")
			a := cl.call("PUT", "/indexes('grown')?allowIndexDowntime=true", c.apply(t)).want(t, 200, "")
			require.Equal(t, a.body, cl.call("GET", "/indexes('grown')", "").body)
		})
	}
}

// The service ignores that an update has no encryption key, so the index keeps it.
func TestAnEncryptedIndexKeepsItsKey(t *testing.T) {
	c := newCaller(t)
	encrypted := strings.Replace(grown, `"suggesters"`, `"encryptionKey":{"keyVaultKeyName":"k","keyVaultUri":"https://v"},"suggesters"`, 1)
	c.call("POST", "/indexes", encrypted).want(t, 201, "")
	saved := snapshot(t, c.srv)
	for range 2 {
		c.call("PUT", "/indexes('grown')", grown).want(t, 200, "")
		c.call("GET", "/indexes('grown')", "").want(t, 200, `"keyVaultKeyName":"k"`)
		require.Equal(t, saved, snapshot(t, c.srv))
	}
	c.call("PUT", "/indexes('grown')", encrypted).want(t, 200, "")
}

// The oldest version has another similarity than the later ones, in which the index keeps it.
func TestASimilarityOfAnOlderVersionIsInTheSnapshot(t *testing.T) {
	p := newProbe(t, nil)
	require.Equal(t, 201, p.send("POST", "/indexes?api-version=2019-05-06", small).status)
	require.Equal(t, 200, p.send("PUT", "/indexes('small')?api-version=2024-07-01", small).status)
	require.Equal(t, 200, p.send("PUT", "/indexes('small')?api-version=2024-07-01", small).status, "again")
	before := snapshot(t, p.Server)
	other := NewServer(nil)
	require.NoError(t, other.Restore(strings.NewReader(before)))
	require.Equal(t, before, snapshot(t, other))
	definition, _ := p.IndexDefinition("small")
	require.Contains(t, string(definition), "ClassicSimilarity")
	restored, _ := other.IndexDefinition("small")
	require.JSONEq(t, string(definition), string(restored))
}

// Added fields precede the stored ones and are null in existing documents.
func TestDocumentsSurviveAnUpdate(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/indexes", `{"name":"docs","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"c","type":"Edm.ComplexType","fields":[{"name":"x","type":"Edm.String"}]},{"name":"t","type":"Edm.String"}]}`).want(t, 201, "")
	c.call("POST", "/indexes('docs')/docs/search.index", `{"value":[{"id":"1","t":"text","c":{"x":"inner"}}]}`).want(t, 200, "")
	c.call("PUT", "/indexes('docs')", `{"name":"docs","fields":[{"name":"new","type":"Edm.Int32"},{"name":"c","type":"Edm.ComplexType","fields":[{"name":"y","type":"Edm.Int32"},{"name":"x","type":"Edm.String"}]},
		{"name":"id","type":"Edm.String","key":true},{"name":"list","type":"Collection(Edm.String)"},{"name":"t","type":"Edm.String"}]}`).want(t, 200, "")
	const none = "Accept: application/json;odata.metadata=none"
	require.Equal(t, `{"new":null,"id":"1","list":[],"t":"text","c":{"y":null,"x":"inner"}}`, c.call("GET", "/indexes('docs')/docs('1')", "", none).body)
	c.call("POST", "/indexes('docs')/docs/search.index", `{"value":[{"@search.action":"merge","id":"1","new":7,"c":{"y":8}}]}`).want(t, 200, "")
	require.Equal(t, `{"new":7,"id":"1","list":[],"t":"text","c":{"y":8,"x":"inner"}}`, c.call("GET", "/indexes('docs')/docs('1')", "", none).body)
}

// The bodies are those of @azure/search-documents 13.0.0.
func TestRequestsOfTheJavaScriptSDKAreAnswered(t *testing.T) {
	c := newCaller(t)
	const wire = `{"name":"wire","fields":[{"name":"id","type":"Edm.String","key":true,"searchable":false,"filterable":true,"sortable":true,"facetable":false},{"name":"title","type":"Edm.String","searchable":true,"filterable":true,"sortable":true,"facetable":false,"analyzer":"en.lucene"},{"name":"tags","type":"Collection(Edm.String)","searchable":true,"filterable":true,"sortable":false,"facetable":true},{"name":"geo","type":"Edm.GeographyPoint","searchable":false,"filterable":true,"sortable":true,"facetable":false},{"name":"secret","type":"Edm.String","retrievable":false,"searchable":false,"filterable":false,"sortable":false,"facetable":false},{"name":"addr","type":"Edm.ComplexType","fields":[{"name":"city","type":"Edm.String","searchable":true,"filterable":true,"sortable":false,"facetable":false}]}],"suggesters":[{"name":"sg","searchMode":"analyzingInfixMatching","sourceFields":["title"]}]}`
	c.call("POST", "/indexes", wire).want(t, 201, `"name":"wire"`)
	c.call("POST", "/indexes", wire).want(t, 409, "Cannot create index 'wire' because it already exists.")
	const vectors = `{"name":"wirevec","fields":[{"name":"id","type":"Edm.String","key":true,"searchable":false,"filterable":false,"sortable":false,"facetable":false},{"name":"v","type":"Collection(Edm.Single)","searchable":true,"filterable":false,"sortable":false,"facetable":false,"dimensions":3,"vectorSearchProfile":"p"},{"name":"s","type":"Edm.String","searchable":true,"filterable":true,"sortable":false,"facetable":false,"normalizer":"lowercase"},{"name":"c","type":"Edm.String","searchable":true,"filterable":false,"sortable":false,"facetable":false,"analyzer":"my"}],"scoringProfiles":[{"name":"w","text":{"weights":{"s":5}},"functions":[],"functionAggregation":"sum"}],"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"my","tokenizer":"standard_v2","tokenFilters":["lowercase"]}],"semantic":{"configurations":[{"name":"sc","prioritizedFields":{"titleField":{"fieldName":"s"},"prioritizedContentFields":[{"fieldName":"c"}],"prioritizedKeywordsFields":[]}}]},"vectorSearch":{"profiles":[{"name":"p","algorithm":"a"}],"algorithms":[{"name":"a","kind":"hnsw","hnswParameters":{"m":4,"metric":"cosine"}},{"name":"e","kind":"exhaustiveKnn","exhaustiveKnnParameters":{"metric":"euclidean"}}],"compressions":[{"name":"sq","kind":"scalarQuantization"}]}}`
	c.call("POST", "/indexes", vectors).want(t, 201, `"name":"wirevec"`)
	// An index that was read is put back with null for members that the SDK does not model.
	c.call("PUT", "/indexes('wire')", strings.ReplaceAll(wire, `"facetable":false`, `"facetable":false,"analyzer":null,"synonymMaps":[]`), "Prefer: return=representation").
		want(t, 400, "two properties named 'analyzer'")
	c.call("PUT", "/indexes('wire')", strings.ReplaceAll(wire, `"sortable":true`, `"sortable":true,"synonymMaps":[],"normalizer":null,"dimensions":null`), "Prefer: return=representation").
		want(t, 200, `"name":"wire"`)
	c.call("GET", "/indexes?%24select=name", "").want(t, 200, `"value":[{"name":"wire"},{"name":"wirevec"}]`)
}
