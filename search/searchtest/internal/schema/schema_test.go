package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// compiled returns the schema of a valid definition.
func compiled(t *testing.T, definition string, version apiversion.Version) *Index {
	t.Helper()
	sc, err := Compile(once(t, definition), version)
	require.Nil(t, err, "%v", err)
	return sc
}

func TestAttributesNotMentionedDependOnTheType(t *testing.T) {
	sc := compiled(t, vectorIndex(`{"name":"s","type":"Edm.String"},{"name":"ss","type":"Collection(Edm.String)"},{"name":"n","type":"Edm.Int64"},{"name":"p","type":"Edm.GeographyPoint"},
		{"name":"c","type":"Collection(Edm.ComplexType)","fields":[{"name":"s","type":"Edm.String"},{"name":"d","type":"Edm.ComplexType","fields":[{"name":"s","type":"Edm.String"}]}]},`+vectorField("")), apiversion.Latest())
	for path, want := range map[string]string{
		"id": "searchable filterable retrievable stored sortable facetable key",
		"s":  "searchable filterable retrievable stored sortable facetable",
		"ss": "searchable filterable retrievable stored facetable",
		"n":  "filterable retrievable stored sortable facetable",
		"p":  "filterable retrievable stored sortable",
		"v":  "searchable stored",
	} {
		require.Equal(t, want, attributes(sc.ByName[path]), path)
	}
	require.Equal(t, "searchable filterable retrievable stored facetable", attributes(sc.ByName["c"].ByName["s"]))
	require.Equal(t, "searchable filterable retrievable stored facetable", attributes(sc.ByName["c"].ByName["d"].ByName["s"]))
	require.True(t, sc.ByName["c"].Retrievable)
	require.Same(t, sc.ByName["id"], sc.Key)
	require.Equal(t, 3, sc.ByName["v"].Dimensions)
	require.True(t, sc.ByName["v"].Vector() && sc.ByName["v"].Collection)
	require.Equal(t, "Collection(Edm.Single)", sc.ByName["v"].TypeName())
}

func attributes(f *stored.Field) string {
	var out []string
	for _, a := range []struct {
		name string
		is   bool
	}{
		{"searchable", f.Searchable}, {"filterable", f.Filterable}, {"retrievable", f.Retrievable}, {"stored", f.Stored},
		{"sortable", f.Sortable}, {"facetable", f.Facetable}, {"key", f.Key},
	} {
		if a.is {
			out = append(out, a.name)
		}
	}
	return strings.Join(out, " ")
}

func TestPackedBitsTakeOneByteForEightDimensions(t *testing.T) {
	sc := compiled(t, vectorIndex(strings.NewReplacer("Single", "Byte", `"p"`, `"q","vectorEncoding":"packedBit"`, ":3", ":128").Replace(vectorField(""))), apiversion.Latest())
	require.Equal(t, 16, sc.ByName["v"].Dimensions)
	require.Contains(t, string(sc.Definition), `"dimensions":128`)
}

// The service writes documents in this order; see the recording staticallyTypedDateTimesRoundTripAsUtc.
func TestComplexFieldsComeAfterAllOthers(t *testing.T) {
	sc := compiled(t, withField(`{"name":"b","type":"Edm.ComplexType","fields":[{"name":"y","type":"Edm.ComplexType","fields":[{"name":"z","type":"Edm.String"}]},{"name":"x","type":"Edm.String"}]},
		{"name":"c","type":"Edm.String"},{"name":"a","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"}]},{"name":"d","type":"Edm.Int32"}`), apiversion.Latest())
	require.Equal(t, "id c d b a", fieldNames(sc.Fields))
	require.Equal(t, "x y", fieldNames(sc.ByName["b"].Fields))
	for i, f := range sc.Fields {
		require.Equal(t, i, f.Ordinal)
	}
	require.Less(t, strings.Index(string(sc.Definition), `"name":"b"`), strings.Index(string(sc.Definition), `"name":"c"`), "the definition keeps its order")
}

func fieldNames(fields []*stored.Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

// Members of later versions are neither accepted nor shown.
func TestDefinitionsAreWrittenAsTheVersionOfTheRequestKnowsThem(t *testing.T) {
	const simple = `"fields":[{"name":"id","type":"Edm.String","key":true}]`
	for _, c := range []struct{ version, field, index string }{
		{"2019-05-06", "name type searchable filterable retrievable sortable facetable key indexAnalyzer searchAnalyzer analyzer synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers tokenizers tokenFilters charFilters"},
		{"2020-06-30", "name type searchable filterable retrievable sortable facetable key indexAnalyzer searchAnalyzer analyzer synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers tokenizers tokenFilters charFilters encryptionKey similarity"},
		{"2020-06-30-Preview", "name type searchable filterable retrievable sortable facetable key indexAnalyzer searchAnalyzer analyzer normalizer synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers normalizers tokenizers tokenFilters charFilters encryptionKey similarity"},
		{"2021-04-30-Preview", "name type searchable filterable retrievable sortable facetable key indexAnalyzer searchAnalyzer analyzer normalizer synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers normalizers tokenizers tokenFilters charFilters encryptionKey similarity semantic"},
		{"2023-07-01-Preview", "name type searchable filterable retrievable sortable facetable key indexAnalyzer searchAnalyzer analyzer normalizer synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers normalizers tokenizers tokenFilters charFilters encryptionKey similarity semantic"},
		{"2023-11-01", "name type searchable filterable retrievable sortable facetable key indexAnalyzer searchAnalyzer analyzer dimensions vectorSearchProfile synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers tokenizers tokenFilters charFilters encryptionKey similarity semantic vectorSearch"},
		{"2024-07-01", "name type searchable filterable retrievable stored sortable facetable key indexAnalyzer searchAnalyzer analyzer dimensions vectorSearchProfile vectorEncoding synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers tokenizers tokenFilters charFilters encryptionKey similarity semantic vectorSearch"},
		{"2024-03-01-preview", "name type searchable filterable retrievable stored sortable facetable key indexAnalyzer searchAnalyzer analyzer normalizer dimensions vectorSearchProfile synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers normalizers tokenizers tokenFilters charFilters encryptionKey similarity semantic vectorSearch"},
		{"2024-05-01-preview", "name type searchable filterable retrievable stored sortable facetable key indexAnalyzer searchAnalyzer analyzer normalizer dimensions vectorSearchProfile vectorEncoding synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers normalizers tokenizers tokenFilters charFilters encryptionKey similarity semantic vectorSearch"},
		{"2025-03-01-preview", "name type searchable filterable retrievable stored sortable facetable key indexAnalyzer searchAnalyzer analyzer normalizer dimensions vectorSearchProfile vectorEncoding synonymMaps",
			"name defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers normalizers tokenizers tokenFilters charFilters encryptionKey similarity semantic vectorSearch"},
		{"2025-09-01", "name type searchable filterable retrievable stored sortable facetable key indexAnalyzer searchAnalyzer analyzer normalizer dimensions vectorSearchProfile vectorEncoding synonymMaps",
			"name description defaultScoringProfile fields scoringProfiles corsOptions suggesters analyzers normalizers tokenizers tokenFilters charFilters encryptionKey similarity semantic vectorSearch"},
	} {
		sc := compiled(t, withMembers(simple), apiversion.Of(c.version))
		require.Equal(t, c.index, memberNames(t, sc.Definition), c.version)
		var index struct{ Fields []json.RawMessage }
		require.NoError(t, json.Unmarshal(sc.Definition, &index))
		require.Equal(t, c.field, memberNames(t, index.Fields[0]), c.version)
		// The newest definition looks the same to a client of that version.
		require.Equal(t, string(sc.Definition), string(compiled(t, withMembers(simple), apiversion.Latest()).AppendDefinition(nil, apiversion.Of(c.version), "")))
	}
}

// memberNames returns the names of an object's members in order.
func memberNames(t *testing.T, object []byte) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(object)))
	tree, err := shape.ReadJSON(dec, 0)
	require.NoError(t, err)
	return strings.Join(tree.(*shape.Members).Names, " ")
}

func TestMembersOfLaterVersionsAreUnknownToEarlierOnes(t *testing.T) {
	for version, definition := range map[string]string{
		"2019-05-06": plain(`"similarity":{"@odata.type":"#Microsoft.Azure.Search.BM25Similarity"}`),
		"2020-06-30": plain(`"semantic":{"configurations":[]}`),
		"2023-11-01": withField(`{"name":"x","type":"Edm.String","stored":true}`),
		"2024-07-01": plain(`"description":"d"`),
	} {
		_, err := Compile(once(t, definition), apiversion.Of(version))
		require.NotNil(t, err, version)
		require.Regexp(t, "does not exist on type|Cannot find nested property", err.Message)
		require.Contains(t, err.Message, "V"+strings.ReplaceAll(version, "-", "_"))
		compiled(t, definition, apiversion.Latest())
	}
	for _, c := range []struct{ version, definition, reason string }{
		{"2020-06-30", withField(`{"name":"x","type":"Collection(Edm.Single)"}`), "type 'Collection(Edm.Single)' of the field 'x' is not supported"},
		{"2023-11-01", withField(`{"name":"x","type":"Collection(Edm.Half)"}`), "type 'Collection(Edm.Half)' of the field 'x' is not supported"},
		{"2024-05-01-preview", plain(`"description":"d"`), "'description' does not exist on type"},
		{"2025-03-01-preview", plain(`"semantic":{"configurations":[{"name":"s","rankingOrder":"RerankerScore","prioritizedFields":{}}]}`), "'rankingOrder' does not exist on type"},
		{"2024-09-01-preview", plain(`"vectorSearch":{"compressions":[{"name":"c","kind":"scalarQuantization","rescoringOptions":{}}]}`), "Cannot find nested property 'rescoringOptions'"},
		{"2024-11-01-preview", plain(`"vectorSearch":{"compressions":[{"name":"c","kind":"scalarQuantization","rerankWithOriginalVectors":true}]}`), "'rerankWithOriginalVectors' does not exist on type"},
		{"2024-03-01-preview", withField(`{"name":"x","type":"Collection(Edm.Byte)"}`), "type 'Collection(Edm.Byte)' of the field 'x' is not supported"},
		{"2023-07-01-preview", withField(`{"name":"x","type":"Collection(Edm.Single)"}`), "type 'Collection(Edm.Single)' of the field 'x' is not supported"},
		{"2025-09-01", plain(`"vectorSearch":{"compressions":[{"name":"c","kind":"scalarQuantization","rerankWithOriginalVectors":true}]}`), "'rerankWithOriginalVectors' does not exist on type"},
		{"2024-07-01", vectorIndex(vectorFieldOf("2049")), "must have between 2 and 2048"},
	} {
		_, err := Compile(once(t, c.definition), apiversion.Of(c.version))
		require.NotNil(t, err, c.version)
		require.Contains(t, err.Message, c.reason)
	}
	compiled(t, vectorIndex(vectorFieldOf("2048")), apiversion.Of("2024-07-01"))
	compiled(t, vectorIndex(vectorFieldOf("4096")), apiversion.Of("2025-09-01"))
}

// Recordings of older versions have no error codes; users of later versions quote them.
func TestErrorsHaveCodesSince2023(t *testing.T) {
	bad := once(t, plain(`"suggesters":[{"name":"a","sourceFields":[]}]`))
	_, old := Compile(bad, apiversion.Of("2020-06-30"))
	require.Empty(t, old.Code)
	require.Empty(t, old.Details)
	require.Equal(t, "The request is invalid. Details: index : The suggester 'a' must have at least one source field.\r\n", old.Message)
	_, now := Compile(bad, apiversion.Of("2023-11-01"))
	require.Equal(t, "InvalidRequestParameter", now.Code)
	require.Equal(t, "The request is invalid. Details: definition : The suggester 'a' must have at least one source field.", now.Message)
	require.Equal(t, []reply.Detail{{Code: "InvalidSuggester", Message: "The suggester 'a' must have at least one source field. Parameters: definition"}}, now.Details)
}

func TestSecretsAreNotShownAgain(t *testing.T) {
	sc := compiled(t, plain(`"encryptionKey":{"keyVaultKeyName":"k","keyVaultUri":"https://v","accessCredentials":{"applicationId":"a","applicationSecret":"hush"}},
		"vectorSearch":{"vectorizers":[{"name":"v","kind":"azureOpenAI","azureOpenAIParameters":{"apiKey":"hush"}}]}`), apiversion.Latest())
	require.NotContains(t, string(sc.Definition), "hush")
	require.Contains(t, string(sc.Definition), `"applicationSecret":null`)
	require.Contains(t, string(sc.Definition), `"apiKey":"<redacted>"`)
}

func TestParametersNotMentionedAreFilledIn(t *testing.T) {
	sc := compiled(t, plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","fieldName":"tags","boost":2,"tag":{"tagsParameter":"t"}}]},{"name":"q"}],
		"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"},{"name":"e","kind":"exhaustiveKnn"}],"compressions":[{"name":"c","kind":"scalarQuantization"}]},
		"suggesters":[{"name":"sg","sourceFields":["title"]}],"tokenFilters":[{"@odata.type":"#Microsoft.Azure.Search.StopwordsTokenFilter","name":"s"}]`), apiversion.Of("2024-07-01"))
	for _, want := range []string{
		`{"name":"p","functionAggregation":"sum","text":null,"functions":[{"fieldName":"tags","interpolation":"linear","type":"tag","boost":2.0,"freshness":null,"magnitude":null,"distance":null,"tag":{"tagsParameter":"t"}}]}`,
		`{"name":"q","functionAggregation":null,"text":null,"functions":[]}`,
		`{"name":"a","kind":"hnsw","hnswParameters":{"metric":"cosine","m":4,"efConstruction":400,"efSearch":500},"exhaustiveKnnParameters":null}`,
		`{"name":"e","kind":"exhaustiveKnn","hnswParameters":null,"exhaustiveKnnParameters":{"metric":"cosine"}}`,
		`{"name":"c","kind":"scalarQuantization","scalarQuantizationParameters":{"quantizedDataType":"int8"},"rerankWithOriginalVectors":true,"defaultOversampling":null}`,
		`{"name":"sg","searchMode":"analyzingInfixMatching","sourceFields":["title"]}`,
		`"stopwords":[],"stopwordsList":"english"`,
		`"similarity":{"@odata.type":"#Microsoft.Azure.Search.BM25Similarity","k1":null,"b":null}`,
	} {
		require.Contains(t, string(sc.Definition), want)
	}
}
