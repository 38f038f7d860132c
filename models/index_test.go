package models_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// unknown returns the names of all members in AdditionalProperties, on every level, and the types of unknown
// components.
func unknown(x any) []string {
	var names []string
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if c, ok := v.Interface().(models.UnknownComponent); ok {
				names = append(names, c.Type)
			}
			for i := range v.NumField() {
				if more, ok := v.Field(i).Interface().(map[string]json.RawMessage); ok {
					for name := range more {
						names = append(names, name)
					}
					continue
				}
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(x))
	return names
}

// full returns a definition that uses every part of a definition.
func full() models.SearchIndex {
	return models.SearchIndex{
		Name:        "hotels",
		Description: "Hotels & rooms",
		Fields: []models.SearchField{
			{Name: "hotelId", Type: models.DataTypeString, Key: new(true), Searchable: new(false)},
			{Name: "hotelName", Type: models.DataTypeString, Analyzer: models.AnalyzerEnLucene, Normalizer: models.NormalizerLowercase, SynonymMaps: []string{}},
			{Name: "label", Type: models.DataTypeString, SensitivityLabel: new(true), Retrievable: new(false)},
			{Name: "groups", Type: models.Collection(models.DataTypeString), PermissionFilter: models.PermissionFilterGroupIDs, Filterable: new(true)},
			{Name: "vector", Type: models.Collection(models.DataTypeSingle), Dimensions: new(3), VectorSearchProfile: "fast", Stored: new(false), Retrievable: new(false)},
			{Name: "bits", Type: models.Collection(models.DataTypeByte), Dimensions: new(16), VectorSearchProfile: "fast", VectorEncoding: models.VectorEncodingPackedBit},
			{Name: "rooms", Type: models.Collection(models.DataTypeComplex), Fields: []models.SearchField{
				{Name: "type", Type: models.DataTypeString, SearchAnalyzer: "words", IndexAnalyzer: "words", SynonymMaps: []string{"map"}},
			}},
		},
		ScoringProfiles: []models.ScoringProfile{{
			Name: "p",
			Text: &models.TextWeights{Weights: map[string]float64{"hotelName": 2}},
			Functions: []models.ScoringFunction{
				{Type: models.ScoringFunctionTypeFreshness, FieldName: "at", Boost: 2, Freshness: &models.FreshnessParameters{BoostingDuration: "P365D"}},
				{Type: models.ScoringFunctionTypeMagnitude, FieldName: "n", Boost: 3, Interpolation: models.ScoringFunctionInterpolationConstant, Magnitude: &models.MagnitudeParameters{BoostingRangeEnd: 5, ConstantBoostBeyondRange: new(true)}},
				{Type: models.ScoringFunctionTypeDistance, FieldName: "geo", Boost: 4, Distance: &models.DistanceParameters{ReferencePointParameter: "here", BoostingDistance: 10}},
				{Type: models.ScoringFunctionTypeTag, FieldName: "tags", Boost: 0.5, Tag: &models.TagParameters{TagsParameter: "mine"}},
			},
			FunctionAggregation: models.ScoringFunctionAggregationProduct,
		}},
		DefaultScoringProfile: "p",
		CORSOptions:           &models.CORSOptions{AllowedOrigins: []string{"*"}, MaxAgeInSeconds: new(int64(60))},
		Suggesters:            []models.Suggester{{Name: "sg", SourceFields: []string{"hotelName"}}},
		Analyzers:             []models.Analyzer{models.CustomAnalyzer{Name: "words", Tokenizer: "paths", TokenFilters: []models.TokenFilterName{models.TokenFilterLowercase, "grams"}, CharFilters: []models.CharFilterName{models.CharFilterHTMLStrip, "dash"}}, &models.StopAnalyzer{Name: "stop2"}},
		Tokenizers:            []models.Tokenizer{models.PathHierarchyTokenizerV2{Name: "paths", Delimiter: "-", Skip: new(0)}},
		TokenFilters:          []models.TokenFilter{models.EdgeNGramTokenFilterV2{Name: "grams", MinGram: new(2), MaxGram: new(9), Side: "back"}, models.ShingleTokenFilter{Name: "pairs", TokenSeparator: new("")}},
		CharFilters:           []models.CharFilter{models.MappingCharFilter{Name: "dash", Mappings: []string{"-=>_"}}},
		Normalizers:           []models.Normalizer{models.CustomNormalizer{Name: "folded", TokenFilters: []models.TokenFilterName{models.TokenFilterASCIIFolding}}},
		EncryptionKey:         &models.EncryptionKey{KeyVaultURI: "https://v.vault.azure.net", KeyVaultKeyName: "k", Identity: &models.DataIdentity{Type: models.DataIdentityUserAssigned, UserAssignedIdentity: "/subscriptions/s", FederatedIdentityClientID: "c"}},
		Similarity:            &models.Similarity{Type: models.SimilarityBM25, K1: new(0.0)},
		Semantic: &models.SemanticSearch{DefaultConfiguration: "sc", Configurations: []models.SemanticConfiguration{{
			Name:              "sc",
			PrioritizedFields: models.SemanticPrioritizedFields{TitleField: &models.SemanticField{FieldName: "hotelName"}, KeywordsFields: []models.SemanticField{{FieldName: "tags"}}},
			RankingOrder:      models.RankingOrderBoostedRerankerScore,
		}}},
		VectorSearch: &models.VectorSearch{
			Profiles: []models.VectorSearchProfile{{Name: "fast", Algorithm: "graph", Vectorizer: "oai", Compression: "small"}},
			Algorithms: []models.VectorSearchAlgorithm{
				{Name: "graph", Kind: models.VectorSearchAlgorithmHNSW, HNSW: &models.HNSWParameters{M: new(4), Metric: models.VectorMetricCosine}},
				{Name: "all", Kind: models.VectorSearchAlgorithmExhaustiveKNN, ExhaustiveKNN: &models.ExhaustiveKNNParameters{Metric: models.VectorMetricDotProduct}},
			},
			Vectorizers: []models.Vectorizer{
				{Name: "oai", Kind: models.VectorizerAzureOpenAI, AzureOpenAI: &models.AzureOpenAIParameters{ResourceURI: "https://o.openai.azure.com", DeploymentID: "d", ModelName: "text-embedding-3-small"}},
				{Name: "own", Kind: models.VectorizerWebAPI, WebAPI: &models.WebAPIParameters{URI: "https://example.com", HTTPHeaders: map[string]string{"a": "b"}, Timeout: "PT60S"}},
				{Name: "eyes", Kind: models.VectorizerAIServicesVision, AIServicesVision: &models.AIServicesVisionParameters{ModelVersion: "2023-04-15", ResourceURI: "https://e"}},
				{Name: "aml", Kind: models.VectorizerAML, AML: &models.AMLParameters{URI: "https://m", ModelName: "Cohere-embed-v3-english"}},
			},
			Compressions: []models.VectorCompression{
				{Name: "small", Kind: models.VectorCompressionScalarQuantization, ScalarQuantization: &models.ScalarQuantizationParameters{QuantizedDataType: models.QuantizedInt8}, TruncationDimension: new(2), Rescoring: &models.RescoringOptions{EnableRescoring: new(true), DefaultOversampling: new(4.0), RescoreStorageMethod: models.RescoreStorageMethodPreserveOriginals}},
				{Name: "tiny", Kind: models.VectorCompressionBinaryQuantization, RerankWithOriginalVectors: new(false)},
			},
		},
		ETag:                 `"0x1"`,
		AdditionalProperties: map[string]json.RawMessage{"purviewEnabled": json.RawMessage("true")},
	}
}

func TestDefinitionIsWrittenLikeTheGoldenFile(t *testing.T) {
	b, err := json.MarshalIndent(full(), "", "  ")
	require.NoError(t, err)
	testkit.Golden(t, "golden/index.json", append(b, '\n'))
}

func TestDefinitionReadsBackAsItWas(t *testing.T) {
	b, err := json.Marshal(full())
	require.NoError(t, err)
	var got models.SearchIndex
	require.NoError(t, json.Unmarshal(b, &got))
	want := full()
	want.Suggesters[0].SearchMode = models.AnalyzingInfixMatching
	want.Analyzers[1] = models.StopAnalyzer{Name: "stop2"} // decoding gives values, not pointers
	require.Equal(t, want, got)
}

func TestAbsentFalseAndTrueAreThreeThings(t *testing.T) {
	for want, f := range map[string]models.SearchField{
		`{"name":"f","type":"Edm.String"}`:                               {Name: "f", Type: models.DataTypeString},
		`{"name":"f","type":"Edm.String","filterable":false}`:            {Name: "f", Type: models.DataTypeString, Filterable: new(false)},
		`{"name":"f","type":"Edm.String","filterable":true}`:             {Name: "f", Type: models.DataTypeString, Filterable: new(true)},
		`{"name":"f","type":"Edm.String","synonymMaps":[]}`:              {Name: "f", Type: models.DataTypeString, SynonymMaps: []string{}},
		`{"name":"f","type":"Edm.String","analyzer":null,"new":{"a":1}}`: {Name: "f", Type: models.DataTypeString, AdditionalProperties: map[string]json.RawMessage{"new": json.RawMessage(`{"a":1}`), "analyzer": json.RawMessage("null")}},
	} {
		b, err := json.Marshal(f)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
		if f.AdditionalProperties["analyzer"] == nil {
			var got models.SearchField
			require.NoError(t, json.Unmarshal(b, &got))
			require.Equal(t, f, got)
		}
	}
}

func TestFieldWinsOverAnAdditionalPropertyOfItsName(t *testing.T) {
	b, err := json.Marshal(models.SearchField{Name: "f", Type: "t", AdditionalProperties: map[string]json.RawMessage{"name": json.RawMessage(`"other"`)}})
	require.NoError(t, err)
	require.Equal(t, `{"name":"f","type":"t"}`, string(b))
}

func TestNamesAreComparedExactly(t *testing.T) {
	const in = `{"name":"a","type":"t","Name":"b","TYPE":"c"}`
	var f models.SearchField
	require.NoError(t, json.Unmarshal([]byte(in), &f))
	require.Equal(t, "a", f.Name)
	b, err := json.Marshal(f)
	require.NoError(t, err)
	require.JSONEq(t, in, string(b))
}

func TestReadingReplacesWhatWasThere(t *testing.T) {
	f := models.SearchField{Name: "old", Key: new(true), AdditionalProperties: map[string]json.RawMessage{"x": nil}}
	require.NoError(t, json.Unmarshal([]byte(`{"name":"new"}`), &f))
	require.Equal(t, models.SearchField{Name: "new"}, f)
	require.NoError(t, json.Unmarshal([]byte(`null`), &f))
	require.Equal(t, models.SearchField{Name: "new"}, f)
}

func TestDefinitionDoesNotShareMemoryWithWhatItWasReadFrom(t *testing.T) {
	in := []byte(`{"name":"i","fields":[],"new":{"a":"b"}}`)
	var index models.SearchIndex
	require.NoError(t, json.Unmarshal(in, &index))
	for i := range in {
		in[i] = 'x'
	}
	require.Equal(t, `{"a":"b"}`, string(index.AdditionalProperties["new"]))
}

func TestComponentOfANewTypeIsKept(t *testing.T) {
	const in = `{"name":"i","fields":[],"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.FutureTokenizer","name":"f","depth":7}],"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.ClassicTokenizer","name":"misplaced"}]}`
	var index models.SearchIndex
	require.NoError(t, json.Unmarshal([]byte(in), &index))
	require.Equal(t, models.UnknownComponent{Type: "#Microsoft.Azure.Search.FutureTokenizer", Name: "f", AdditionalProperties: map[string]json.RawMessage{"depth": json.RawMessage("7")}}, index.Tokenizers[0])
	require.IsType(t, models.UnknownComponent{}, index.Analyzers[0])
	b, err := json.Marshal(index)
	require.NoError(t, err)
	require.JSONEq(t, in, string(b))
}

func TestComponentIsNotReadAsAnother(t *testing.T) {
	var f models.StopAnalyzer
	require.NoError(t, json.Unmarshal([]byte(`{"@odata.type":"#Microsoft.Azure.Search.StopAnalyzer","name":"n"}`), &f))
	require.Equal(t, models.StopAnalyzer{Name: "n"}, f)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"@odata.type":"#Microsoft.Azure.Search.PatternAnalyzer","name":"n"}`), &f), "StopAnalyzer")
}

func TestMalformedDefinitionSaysWhereItIsWrong(t *testing.T) {
	for in, says := range map[string]string{
		`[]`:                                 "SearchIndex",
		`{"fields":[{"name":7}]}`:            `member "name"`,
		`{"fields":[{"dimensions":"x"}]}`:    `member "dimensions"`,
		`{"analyzers":[7]}`:                  `member "analyzers"`,
		`{"analyzers":{}}`:                   `member "analyzers"`,
		`{"similarity":[]}`:                  `member "similarity"`,
		`{"tokenizers":[{"@odata.type":1}]}`: `member "tokenizers"`,
		`{"tokenFilters":[{"@odata.type":"#Microsoft.Azure.Search.LengthTokenFilter","min":"1"}]}`: "LengthTokenFilter",
	} {
		var index models.SearchIndex
		require.ErrorContains(t, json.Unmarshal([]byte(in), &index), says, in)
	}
	_, err := json.Marshal(models.SearchIndex{AdditionalProperties: map[string]json.RawMessage{"x": json.RawMessage("{")}})
	require.ErrorContains(t, err, `member "x"`)
}

func TestIndexWithoutFieldsIsWrittenWithAnEmptyList(t *testing.T) {
	b, err := json.Marshal(models.SearchIndex{Name: "i"})
	require.NoError(t, err)
	require.Equal(t, `{"name":"i","fields":[]}`, string(b))
}

func TestKeyFieldOfAnIndexIsFound(t *testing.T) {
	f, ok := full().KeyField()
	require.True(t, ok)
	require.Equal(t, "hotelId", f.Name)
	_, ok = models.SearchIndex{Fields: []models.SearchField{{Name: "a"}, {Name: "b", Key: new(false)}}}.KeyField()
	require.False(t, ok)
}

func TestElementOfACollection(t *testing.T) {
	e, ok := models.Collection(models.DataTypeComplex).Element()
	require.True(t, ok)
	require.Equal(t, models.DataTypeComplex, e)
	for _, d := range []models.DataType{models.DataTypeString, "", "Collection(", "Collection(Edm.String"} {
		_, ok := d.Element()
		require.False(t, ok, d)
	}
	require.True(t, models.Collection(models.DataTypeHalf).IsVector())
	require.False(t, models.Collection(models.DataTypeDouble).IsVector())
	require.False(t, models.DataTypeSingle.IsVector())
}
