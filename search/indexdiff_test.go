package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// diffBase returns a definition that uses every feature.
func diffBase() models.SearchIndex {
	return models.SearchIndex{
		Name: "hotels",
		Fields: []models.SearchField{
			{Name: "id", Type: models.DataTypeString, Key: new(true)},
			{Name: "title", Type: models.DataTypeString},
			{Name: "name", Type: models.DataTypeString, Analyzer: "words"},
			{Name: "about", Type: models.DataTypeString, SearchAnalyzer: "simple", IndexAnalyzer: "stop"},
			{Name: "tags", Type: models.Collection(models.DataTypeString), Normalizer: "plain"},
			{Name: "rating", Type: models.DataTypeInt32},
			{Name: "place", Type: models.DataTypeGeographyPoint},
			{Name: "address", Type: models.DataTypeComplex, Fields: []models.SearchField{
				{Name: "city", Type: models.DataTypeString},
				{Name: "where", Type: models.DataTypeComplex, Fields: []models.SearchField{{Name: "floor", Type: models.DataTypeInt32}}},
			}},
			{Name: "rooms", Type: models.Collection(models.DataTypeComplex), Fields: []models.SearchField{{Name: "rate", Type: models.DataTypeDouble}}},
			{Name: "v", Type: models.Collection(models.DataTypeSingle), Searchable: new(true), Dimensions: new(3), VectorSearchProfile: "fast"},
		},
		ScoringProfiles: []models.ScoringProfile{{
			Name:      "near",
			Text:      &models.TextWeights{Weights: map[string]float64{"name": 2}},
			Functions: []models.ScoringFunction{{Type: models.ScoringFunctionTypeMagnitude, FieldName: "rating", Boost: 3, Magnitude: &models.MagnitudeParameters{BoostingRangeEnd: 5}}},
		}},
		CORSOptions:  &models.CORSOptions{AllowedOrigins: []string{"https://example.com"}},
		Suggesters:   []models.Suggester{{Name: "sg", SourceFields: []string{"address/city"}}},
		Analyzers:    []models.Analyzer{models.CustomAnalyzer{Name: "words", Tokenizer: "parts", TokenFilters: []models.TokenFilterName{"grams"}, CharFilters: []models.CharFilterName{"dash"}}},
		Tokenizers:   []models.Tokenizer{models.PatternTokenizer{Name: "parts"}},
		TokenFilters: []models.TokenFilter{models.EdgeNGramTokenFilterV2{Name: "grams", MaxGram: new(9)}},
		CharFilters:  []models.CharFilter{models.MappingCharFilter{Name: "dash", Mappings: []string{"-=>_"}}},
		Normalizers:  []models.Normalizer{models.CustomNormalizer{Name: "plain", TokenFilters: []models.TokenFilterName{models.TokenFilterLowercase}}},
		Semantic: &models.SemanticSearch{Configurations: []models.SemanticConfiguration{{
			Name: "sc", PrioritizedFields: models.SemanticPrioritizedFields{TitleField: &models.SemanticField{FieldName: "name"}},
		}}},
		VectorSearch: &models.VectorSearch{
			Profiles:     []models.VectorSearchProfile{{Name: "fast", Algorithm: "graph", Compression: "small"}, {Name: "idle", Algorithm: "flat"}},
			Algorithms:   []models.VectorSearchAlgorithm{{Name: "graph", Kind: models.VectorSearchAlgorithmHNSW}, {Name: "flat", Kind: models.VectorSearchAlgorithmExhaustiveKNN}},
			Compressions: []models.VectorCompression{{Name: "small", Kind: models.VectorCompressionScalarQuantization}},
			Vectorizers:  []models.Vectorizer{{Name: "ada", Kind: models.VectorizerAzureOpenAI, AzureOpenAI: &models.AzureOpenAIParameters{ResourceURI: "https://x.openai.azure.com", APIKey: "k"}}},
		},
	}
}

type diffCase struct {
	name   string
	change func(*models.SearchIndex)
	want   []string // path and kind of each change
}

var credential = azcore.NewKeyCredential(searchtest.AdminKey)

func diffField(x *models.SearchIndex, name string) *models.SearchField {
	return &x.Fields[slices.IndexFunc(x.Fields, func(f models.SearchField) bool { return f.Name == name })]
}

const (
	inPlace  = ": in place"
	downtime = ": in place with downtime"
	rebuild  = ": needs a rebuild"
)

var diffCases = []diffCase{
	{"nothing", func(*models.SearchIndex) {}, nil},
	{"another ETag", func(x *models.SearchIndex) { x.ETag = `"0x1"` }, nil},
	{"the fields in another order", func(x *models.SearchIndex) { slices.Reverse(x.Fields) }, nil},
	{"explicit defaults", func(x *models.SearchIndex) {
		*diffField(x, "rating") = models.SearchField{Name: "rating", Type: models.DataTypeInt32, Key: new(false), Retrievable: new(true), Searchable: new(false), Filterable: new(true), Sortable: new(true), Facetable: new(true), SynonymMaps: []string{}}
		diffField(x, "rooms").Fields[0].Sortable = new(false)
		diffField(x, "v").Stored, diffField(x, "v").Filterable, diffField(x, "v").Retrievable = new(true), new(false), new(false)
		diffField(x, "place").Facetable = new(false)
		x.Similarity = &models.Similarity{Type: models.SimilarityBM25}
		x.Suggesters[0].SearchMode = models.AnalyzingInfixMatching
		x.ScoringProfiles[0].FunctionAggregation = models.ScoringFunctionAggregationSum
		x.ScoringProfiles[0].Functions[0].Interpolation = models.ScoringFunctionInterpolationLinear
		x.ScoringProfiles[0].Functions[0].Magnitude.ConstantBoostBeyondRange = new(false)
		x.Tokenizers[0] = models.PatternTokenizer{Name: "parts", Pattern: `\W+`, Group: new(-1)}
		x.TokenFilters[0] = models.EdgeNGramTokenFilterV2{Name: "grams", MinGram: new(1), MaxGram: new(9), Side: "front"}
		x.VectorSearch.Algorithms[0].HNSW = &models.HNSWParameters{M: new(4), EfConstruction: new(400), EfSearch: new(500), Metric: models.VectorMetricCosine}
		x.VectorSearch.Algorithms[1].ExhaustiveKNN = &models.ExhaustiveKNNParameters{Metric: models.VectorMetricCosine}
		x.VectorSearch.Compressions[0].ScalarQuantization = &models.ScalarQuantizationParameters{QuantizedDataType: models.QuantizedInt8}
		x.VectorSearch.Compressions[0].Rescoring = &models.RescoringOptions{EnableRescoring: new(true), RescoreStorageMethod: models.RescoreStorageMethodPreserveOriginals}
		x.Semantic.Configurations[0].RankingOrder = models.RankingOrderBoostedRerankerScore
		x.AdditionalProperties = map[string]json.RawMessage{"defaultScoringProfile": json.RawMessage("null")}
	}, nil},
	{"the defaults of index settings", func(x *models.SearchIndex) {
		x.Similarity = &models.Similarity{Type: models.SimilarityBM25, K1: new(1.2), B: new(0.75)}
		x.CORSOptions.MaxAgeInSeconds = new(int64(300))
	}, nil},
	{"a secret that the service did not return", func(x *models.SearchIndex) { x.VectorSearch.Vectorizers[0].AzureOpenAI.APIKey = "" }, nil},

	{"a new field", func(x *models.SearchIndex) {
		x.Fields = append(x.Fields, models.SearchField{Name: "new", Type: models.DataTypeString, Analyzer: "words"})
	}, []string{"fields/new" + inPlace}},
	{"a new field in a complex one in a complex one", func(x *models.SearchIndex) {
		where := &diffField(x, "address").Fields[1]
		where.Fields = append(where.Fields, models.SearchField{Name: "door", Type: models.DataTypeString})
	}, []string{"fields/address/where/door" + inPlace}},
	{"a new vector that is stored", func(x *models.SearchIndex) {
		x.Fields = append(x.Fields, models.SearchField{Name: "w", Type: models.Collection(models.DataTypeSingle), Searchable: new(true), Dimensions: new(3), VectorSearchProfile: "fast"})
	}, []string{"fields/w" + inPlace}},
	{"a new vector that is not stored", func(x *models.SearchIndex) {
		x.Fields = append(x.Fields, models.SearchField{Name: "w", Type: models.Collection(models.DataTypeSingle), Searchable: new(true), Retrievable: new(false), Stored: new(false), Dimensions: new(3), VectorSearchProfile: "fast"})
	}, []string{"fields/w" + rebuild}},
	{"no field left", func(x *models.SearchIndex) {
		x.Fields = slices.DeleteFunc(x.Fields, func(f models.SearchField) bool { return f.Name == "place" })
	}, []string{"fields/place" + rebuild}},
	{"a renamed field", func(x *models.SearchIndex) { diffField(x, "place").Name = "spot" }, []string{"fields/place" + rebuild, "fields/spot" + inPlace}},
	{"another type", func(x *models.SearchIndex) { diffField(x, "rating").Type = models.DataTypeInt64 }, []string{"fields/rating.type" + rebuild}},
	{"a simple field that becomes complex", func(x *models.SearchIndex) {
		*diffField(x, "place") = models.SearchField{Name: "place", Type: models.DataTypeComplex, Fields: []models.SearchField{{Name: "x", Type: models.DataTypeInt32}}}
	}, []string{"fields/place.type" + rebuild}},
	{"retrievable", func(x *models.SearchIndex) { diffField(x, "rating").Retrievable = new(false) }, []string{"fields/rating.retrievable" + inPlace}},
	{"the analyzer of queries", func(x *models.SearchIndex) { diffField(x, "about").SearchAnalyzer = "keyword" }, []string{"fields/about.searchAnalyzer" + inPlace}},
	{"synonyms", func(x *models.SearchIndex) { diffField(x, "about").SynonymMaps = []string{"map"} }, []string{"fields/about.synonymMaps" + inPlace}},
	{"the analyzer of documents", func(x *models.SearchIndex) { diffField(x, "about").IndexAnalyzer = "keyword" }, []string{"fields/about.indexAnalyzer" + rebuild}},
	{"the analyzer of a sub-field", func(x *models.SearchIndex) { diffField(x, "address").Fields[0].Analyzer = "en.lucene" }, []string{"fields/address/city.analyzer" + rebuild}},
	{"the normalizer", func(x *models.SearchIndex) { diffField(x, "tags").Normalizer = "lowercase" }, []string{"fields/tags.normalizer" + rebuild}},
	{"filterable and sortable", func(x *models.SearchIndex) {
		diffField(x, "place").Filterable, diffField(x, "place").Sortable = new(false), new(false)
	}, []string{"fields/place.filterable" + rebuild, "fields/place.sortable" + rebuild}},
	{"facetable", func(x *models.SearchIndex) { diffField(x, "rooms").Fields[0].Facetable = new(false) }, []string{"fields/rooms/rate.facetable" + rebuild}},
	{"searchable", func(x *models.SearchIndex) { diffField(x, "tags").Searchable = new(false) }, []string{"fields/tags.searchable" + rebuild}},
	{"another key", func(x *models.SearchIndex) {
		diffField(x, "id").Key, diffField(x, "name").Key = new(false), new(true)
	}, []string{"fields/id.key" + rebuild, "fields/name.key" + rebuild}},
	{"dimensions", func(x *models.SearchIndex) { diffField(x, "v").Dimensions = new(4) }, []string{"fields/v.dimensions" + rebuild}},
	{"the profile of a vector", func(x *models.SearchIndex) { diffField(x, "v").VectorSearchProfile = "idle" }, []string{"fields/v.vectorSearchProfile" + rebuild}},
	{"stored", func(x *models.SearchIndex) {
		diffField(x, "v").Stored, diffField(x, "v").Retrievable = new(false), new(false)
	}, []string{"fields/v.stored" + rebuild}},

	{"the description", func(x *models.SearchIndex) { x.Description = "d" }, []string{"description" + inPlace}},
	{"another scoring profile", func(x *models.SearchIndex) {
		x.ScoringProfiles = append(x.ScoringProfiles, models.ScoringProfile{Name: "plain"})
		x.DefaultScoringProfile = "plain"
	}, []string{"scoringProfiles/plain" + inPlace, "defaultScoringProfile" + inPlace}},
	{"weights", func(x *models.SearchIndex) { x.ScoringProfiles[0].Text.Weights["name"] = 3 }, []string{"scoringProfiles/near.text.weights.name" + inPlace}},
	{"scoring functions", func(x *models.SearchIndex) { x.ScoringProfiles[0].Functions[0].Boost = 4 }, []string{"scoringProfiles/near.functions" + inPlace}},
	{"no scoring profile", func(x *models.SearchIndex) { x.ScoringProfiles = nil }, []string{"scoringProfiles/near" + inPlace}},
	{"origins", func(x *models.SearchIndex) { x.CORSOptions.AllowedOrigins = []string{"*"} }, []string{"corsOptions.allowedOrigins" + inPlace}},
	{"no origins", func(x *models.SearchIndex) { x.CORSOptions = nil }, []string{"corsOptions" + inPlace}},
	{"the semantic title", func(x *models.SearchIndex) {
		x.Semantic.Configurations[0].PrioritizedFields.TitleField.FieldName = "about"
	}, []string{"semantic.configurations/sc.prioritizedFields.titleField.fieldName" + inPlace}},
	{"no semantic ranking", func(x *models.SearchIndex) { x.Semantic = nil }, []string{"semantic.configurations/sc" + inPlace}},

	{"no suggester", func(x *models.SearchIndex) { x.Suggesters = nil }, []string{"suggesters/sg" + inPlace}},
	{"a suggester of a new field", func(x *models.SearchIndex) {
		x.Fields = append(x.Fields, models.SearchField{Name: "new", Type: models.DataTypeString})
		x.Suggesters[0].SourceFields = append(x.Suggesters[0].SourceFields, "new")
	}, []string{"fields/new" + inPlace, "suggesters/sg.sourceFields" + inPlace}},
	{"a suggester of a field below a new one", func(x *models.SearchIndex) {
		x.Fields = append(x.Fields, models.SearchField{Name: "owner", Type: models.DataTypeComplex, Fields: []models.SearchField{{Name: "name", Type: models.DataTypeString}}})
		x.Suggesters[0].SourceFields = append(x.Suggesters[0].SourceFields, "owner/name")
	}, []string{"fields/owner" + inPlace, "suggesters/sg.sourceFields" + inPlace}},
	{"a suggester of a field that exists", func(x *models.SearchIndex) {
		x.Fields = append(x.Fields, models.SearchField{Name: "new", Type: models.DataTypeString})
		x.Suggesters = []models.Suggester{{Name: "sg", SourceFields: []string{"address/city", "new", "title"}}}
	}, []string{"fields/new" + inPlace, "suggesters/sg.sourceFields" + rebuild}},
	{"another suggester of fields that exist", func(x *models.SearchIndex) { x.Suggesters[0].Name = "other" }, []string{"suggesters/sg" + inPlace, "suggesters/other" + rebuild}},
	{"fewer fields in a suggester", func(x *models.SearchIndex) {
		address := diffField(x, "address")
		address.Fields = append(address.Fields, models.SearchField{Name: "street", Type: models.DataTypeString})
		x.Suggesters[0].SourceFields = []string{"address/street"}
	}, []string{"fields/address/street" + inPlace, "suggesters/sg.sourceFields" + rebuild}},

	{"a new analyzer", func(x *models.SearchIndex) { x.Analyzers = append(x.Analyzers, models.StopAnalyzer{Name: "more"}) }, []string{"analyzers/more" + downtime}},
	{"a new tokenizer", func(x *models.SearchIndex) {
		x.Tokenizers = append(x.Tokenizers, models.ClassicTokenizer{Name: "more"})
	}, []string{"tokenizers/more" + downtime}},
	{"a new token filter", func(x *models.SearchIndex) {
		x.TokenFilters = append(x.TokenFilters, models.UniqueTokenFilter{Name: "more"})
	}, []string{"tokenFilters/more" + downtime}},
	{"a new character filter", func(x *models.SearchIndex) {
		x.CharFilters = append(x.CharFilters, models.MappingCharFilter{Name: "more", Mappings: []string{"a=>b"}})
	}, []string{"charFilters/more" + downtime}},
	{"a new normalizer", func(x *models.SearchIndex) {
		x.Normalizers = append(x.Normalizers, models.CustomNormalizer{Name: "more"})
	}, []string{"normalizers/more" + downtime}},
	{"another tokenizer in an analyzer", func(x *models.SearchIndex) {
		x.Analyzers[0] = models.CustomAnalyzer{Name: "words", Tokenizer: "whitespace", TokenFilters: []models.TokenFilterName{"grams"}, CharFilters: []models.CharFilterName{"dash"}}
	}, []string{"analyzers/words.tokenizer" + rebuild}},
	{"another pattern", func(x *models.SearchIndex) { x.Tokenizers[0] = models.PatternTokenizer{Name: "parts", Pattern: ","} }, []string{"tokenizers/parts.pattern" + rebuild}},
	{"another kind of token filter", func(x *models.SearchIndex) {
		x.TokenFilters[0] = models.TruncateTokenFilter{Name: "grams"}
	}, []string{"tokenFilters/grams.@odata.type" + rebuild, "tokenFilters/grams.length" + rebuild, "tokenFilters/grams.maxGram" + rebuild, "tokenFilters/grams.minGram" + rebuild, "tokenFilters/grams.side" + rebuild}},

	{"k1", func(x *models.SearchIndex) {
		x.Similarity = &models.Similarity{Type: models.SimilarityBM25, K1: new(1.3)}
	}, []string{"similarity.k1" + downtime}},
	{"another similarity", func(x *models.SearchIndex) { x.Similarity = &models.Similarity{Type: models.SimilarityClassic} }, []string{"similarity.@odata.type" + rebuild}},

	{"a customer-managed key", func(x *models.SearchIndex) {
		x.EncryptionKey = &models.EncryptionKey{KeyVaultURI: "https://v.vault.azure.net", KeyVaultKeyName: "k", KeyVaultKeyVersion: "1"}
	}, []string{"encryptionKey" + rebuild}},

	{"more of everything in vector search", func(x *models.SearchIndex) {
		v := x.VectorSearch
		v.Algorithms = append(v.Algorithms, models.VectorSearchAlgorithm{Name: "a", Kind: models.VectorSearchAlgorithmHNSW})
		v.Profiles = append(v.Profiles, models.VectorSearchProfile{Name: "p", Algorithm: "a", Compression: "c"})
		v.Compressions = append(v.Compressions, models.VectorCompression{Name: "c", Kind: models.VectorCompressionBinaryQuantization})
	}, []string{"vectorSearch.algorithms/a" + inPlace, "vectorSearch.compressions/c" + inPlace, "vectorSearch.profiles/p" + inPlace}},
	{"unused parts of vector search", func(x *models.SearchIndex) {
		v := x.VectorSearch
		v.Algorithms[1].ExhaustiveKNN = &models.ExhaustiveKNNParameters{Metric: models.VectorMetricEuclidean}
		v.Vectorizers = nil
	}, []string{"vectorSearch.algorithms/flat.exhaustiveKnnParameters.metric" + inPlace, "vectorSearch.vectorizers/ada" + inPlace}},
	{"parts of vector search that queries need", func(x *models.SearchIndex) {
		v := x.VectorSearch
		v.Algorithms[0].HNSW = &models.HNSWParameters{EfSearch: new(700)}
		v.Compressions[0].Rescoring = &models.RescoringOptions{DefaultOversampling: new(3.0)}
		v.Profiles[0].Vectorizer = "ada"
		v.Vectorizers[0].AzureOpenAI.DeploymentID = "d"
	}, []string{
		"vectorSearch.algorithms/graph.hnswParameters.efSearch" + inPlace, "vectorSearch.compressions/small.rescoringOptions.defaultOversampling" + inPlace,
		"vectorSearch.profiles/fast.vectorizer" + inPlace, "vectorSearch.vectorizers/ada.azureOpenAIParameters.deploymentId" + inPlace,
	}},
	// github.com/Azure/azure-sdk-for-python/issues/38203: the service answered
	// "Algorithm name cannot be updated".
	{"the graph of a vector", func(x *models.SearchIndex) { x.VectorSearch.Algorithms[0].HNSW = &models.HNSWParameters{M: new(8)} },
		[]string{"vectorSearch.algorithms/graph.hnswParameters.m" + rebuild}},
	{"the algorithm of a profile in use", func(x *models.SearchIndex) { x.VectorSearch.Profiles[0].Algorithm = "flat" },
		[]string{"vectorSearch.profiles/fast.algorithm" + rebuild}},
	{"the compression of a vector", func(x *models.SearchIndex) { x.VectorSearch.Compressions[0].TruncationDimension = new(2) },
		[]string{"vectorSearch.compressions/small.truncationDimension" + rebuild}},
}

func TestDiffIndexSaysWhatTheServiceDoes(t *testing.T) {
	for _, c := range diffCases {
		t.Run(c.name, func(t *testing.T) {
			before, after := diffBase(), diffBase()
			c.change(&after)
			changes, err := search.DiffIndex(before, after)
			require.NoError(t, err)
			assert.Equal(t, c.want, pathsAndKinds(changes))
			want := changes.Kind()
			got, err := outcome(t.Context(), before, after)
			require.NoError(t, err)
			assert.Equal(t, max(want, search.ChangeInPlace).String(), got.String())
			back, err := search.DiffIndex(after, after)
			require.NoError(t, err)
			assert.Empty(t, back, "nothing differs from itself")
		})
	}
}

func pathsAndKinds(changes search.IndexChanges) []string {
	var list []string
	for _, c := range changes {
		list = append(list, c.Path+": "+c.Kind.String())
	}
	return list
}

// errInvalid reports a definition that no index can have.
var errInvalid = errors.New("the definition is not valid")

// createSynonymMaps creates the synonym maps that the definitions of these tests name; the service refuses unknown
// ones.
func createSynonymMaps(ctx context.Context, client *search.IndexClient) error {
	for _, name := range []string{"map", "names"} {
		if _, err := client.CreateSynonymMap(ctx, models.SynonymMap{Name: name, Synonyms: []string{"hotel, motel"}}, nil); err != nil {
			return err
		}
	}
	return nil
}

// outcome returns how the emulator lets before be changed into after.
func outcome(ctx context.Context, before, after models.SearchIndex) (search.ChangeKind, error) {
	for _, allowed := range []bool{false, true} {
		srv := searchtest.NewServer(nil)
		defer srv.Close()
		client, err := search.NewIndexClientWithKey(srv.URL(), credential, options(srv))
		if err != nil {
			return 0, err
		}
		if err := createSynonymMaps(ctx, client); err != nil {
			return 0, err
		}
		if _, err := client.CreateIndex(ctx, after, nil); err != nil {
			return 0, errors.Join(errInvalid, err)
		}
		if err := client.DeleteIndex(ctx, after.Name, nil); err != nil {
			return 0, err
		}
		if _, err := client.CreateIndex(ctx, before, nil); err != nil {
			return 0, errors.Join(errInvalid, err)
		}
		after.ETag = ""
		_, err = client.CreateOrUpdateIndex(ctx, after, &search.CreateOrUpdateIndexOptions{AllowIndexDowntime: allowed})
		var e *search.Error
		switch {
		case err == nil && !allowed:
			return search.ChangeInPlace, nil
		case err == nil:
			return search.ChangeInPlaceWithDowntime, nil
		case !errors.As(err, &e) || e.StatusCode != http.StatusBadRequest:
			return 0, err
		}
	}
	return search.ChangeNeedsRebuild, nil
}

// Each case combines several changes.
func TestDiffIndexAgreesWithTheEmulatorOnManyChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := diffBase(), diffBase()
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(diffCases), 0, 3).Draw(t, "before") {
			applyCase(c, &before)
		}
		for _, c := range rapid.SliceOfN(rapid.SampledFrom(diffCases), 1, 4).Draw(t, "after") {
			applyCase(c, &after)
		}
		changes, err := search.DiffIndex(before, after)
		if err != nil {
			t.Fatal(err)
		}
		want := max(search.ChangeInPlace, changes.Kind())
		if encryptionRemoved(changes) { // the service accepts the request and keeps the key
			return
		}
		got, err := outcome(context.Background(), before, after)
		if errors.Is(err, errInvalid) {
			t.Skip(err.Error())
		}
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("the emulator: %v, DiffIndex: %v\n%v", got, want, changes)
		}
	})
}

// applyCase applies a change unless an earlier change removed its target.
func applyCase(c diffCase, x *models.SearchIndex) {
	defer func() { _ = recover() }()
	c.change(x)
}

func encryptionRemoved(changes search.IndexChanges) bool {
	return slices.ContainsFunc(changes, func(c search.IndexChange) bool { return c.Path == "encryptionKey" && c.New == nil })
}

// Defaults and nulls of the service are not changes.
func TestWhatTheServiceReturnsIsNoChange(t *testing.T) {
	paths, err := filepath.Glob("searchtest/testdata/requests/definitions/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	definitions := map[string]models.SearchIndex{"base": diffBase()}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		var index models.SearchIndex
		require.NoError(t, json.Unmarshal(b, &index))
		definitions[filepath.Base(path)] = index
	}
	delete(definitions, "test-index-without-key.json") // the emulator refuses it
	for name, index := range definitions {
		t.Run(name, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			defer srv.Close()
			client, err := search.NewIndexClientWithKey(srv.URL(), credential, options(srv))
			require.NoError(t, err)
			if index.Name == "" {
				index.Name = "hotels"
			}
			require.NoError(t, createSynonymMaps(t.Context(), client))
			created, err := client.CreateOrUpdateIndex(t.Context(), index, nil)
			require.NoError(t, err)
			changes, err := search.DiffIndex(index, created)
			require.NoError(t, err)
			assert.Empty(t, changes)
		})
	}
}

func TestTheDefaultsOfPermissionsAreNoChange(t *testing.T) {
	plain, named, enabled := diffBase(), diffBase(), diffBase()
	named.PermissionFilterOption = models.PermissionFilterDisabled
	named.AdditionalProperties = map[string]json.RawMessage{"purviewEnabled": json.RawMessage(`false`)}
	enabled.PermissionFilterOption = models.PermissionFilterEnabled
	enabled.AdditionalProperties = map[string]json.RawMessage{"purviewEnabled": json.RawMessage(`true`)}
	for _, pair := range [][2]models.SearchIndex{{plain, named}, {named, plain}} {
		changes, err := search.DiffIndex(pair[0], pair[1])
		require.NoError(t, err)
		assert.Empty(t, changes)
	}
	changes, err := search.DiffIndex(plain, enabled)
	require.NoError(t, err)
	assert.Equal(t, []string{"permissionFilterOption" + inPlace, "purviewEnabled" + inPlace}, pathsAndKinds(changes))
}

func TestDiffIndexKnowsWhatTheEmulatorDoesNot(t *testing.T) {
	before := diffBase()
	before.EncryptionKey = &models.EncryptionKey{KeyVaultURI: "https://v.vault.azure.net", KeyVaultKeyName: "k"}
	before.AdditionalProperties = map[string]json.RawMessage{"newer": json.RawMessage(`{"a":1}`)}
	diffField(&before, "name").AdditionalProperties = map[string]json.RawMessage{"newer": json.RawMessage(`1`)}
	before.VectorSearch.AdditionalProperties = map[string]json.RawMessage{"newer": json.RawMessage(`1`)}
	after := diffBase()
	after.Name = "motels"
	diffField(&after, "name").PermissionFilter = models.PermissionFilterUserIDs
	changes, err := search.DiffIndex(before, after)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"name" + rebuild, "fields/name.newer" + rebuild, "fields/name.permissionFilter" + rebuild,
		"encryptionKey" + rebuild, "vectorSearch.newer" + inPlace, "newer" + inPlace,
	}, pathsAndKinds(changes))
}

// The emulator does not support these fields.
func TestDiffIndexSeesVectorsInsideComplexFields(t *testing.T) {
	inside := func(profile string, stored bool) models.SearchIndex {
		x := diffBase()
		rooms := diffField(&x, "rooms")
		rooms.Fields = append(rooms.Fields, models.SearchField{Name: "w", Type: models.Collection(models.DataTypeSingle), Dimensions: new(3), VectorSearchProfile: profile, Stored: &stored})
		return x
	}
	before, after := inside("idle", true), inside("idle", true)
	after.VectorSearch.Algorithms[1].ExhaustiveKNN = &models.ExhaustiveKNNParameters{Metric: models.VectorMetricEuclidean}
	changes, err := search.DiffIndex(before, after)
	require.NoError(t, err)
	assert.Equal(t, []string{"vectorSearch.algorithms/flat.exhaustiveKnnParameters.metric" + rebuild}, pathsAndKinds(changes))

	changes, err = search.DiffIndex(diffBase(), inside("fast", false))
	require.NoError(t, err)
	assert.Equal(t, []string{"fields/rooms/w" + rebuild}, pathsAndKinds(changes))
	without := diffBase()
	without.Fields = slices.DeleteFunc(without.Fields, func(f models.SearchField) bool { return f.Name == "rooms" })
	changes, err = search.DiffIndex(without, inside("fast", false))
	require.NoError(t, err)
	assert.Equal(t, []string{"fields/rooms" + rebuild}, pathsAndKinds(changes))

	named, plain := diffBase(), diffBase()
	diffField(&named, "name").SensitivityLabel = new(false)
	diffField(&named, "name").SharePointSiteURL = new(false)
	changes, err = search.DiffIndex(plain, named)
	require.NoError(t, err)
	assert.Empty(t, changes, "the default in so many words")
}

func TestDiffIndexShowsNoSecrets(t *testing.T) {
	with := func(secret string) models.SearchIndex {
		x := diffBase()
		x.EncryptionKey = &models.EncryptionKey{KeyVaultURI: "u", KeyVaultKeyName: "k", AccessCredentials: &models.ApplicationCredentials{ApplicationID: "a", ApplicationSecret: secret}}
		x.VectorSearch.Vectorizers = []models.Vectorizer{
			{Name: "a", Kind: models.VectorizerAzureOpenAI, AzureOpenAI: &models.AzureOpenAIParameters{APIKey: secret}},
			{Name: "b", Kind: models.VectorizerWebAPI, WebAPI: &models.WebAPIParameters{HTTPHeaders: map[string]string{"Authorization": secret}}},
			{Name: "c", Kind: models.VectorizerAML, AML: &models.AMLParameters{Key: secret}},
		}
		return x
	}
	for _, pair := range [][2]models.SearchIndex{{diffBase(), with("s3cret")}, {with("s3cret"), diffBase()}, {with("s3cret"), with("hidd3n")}} {
		changes, err := search.DiffIndex(pair[0], pair[1])
		require.NoError(t, err)
		require.NotEmpty(t, changes)
		for _, c := range changes {
			assert.NotContains(t, c.String(), "s3cret")
			assert.NotContains(t, c.String(), "hidd3n")
		}
	}
	changes, err := search.DiffIndex(with("s3cret"), with("hidd3n"))
	require.NoError(t, err)
	assert.Len(t, changes, 4)
	changes, err = search.DiffIndex(with(""), with("hidd3n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"vectorSearch.vectorizers/b.customWebApiParameters.httpHeaders.Authorization" + inPlace}, pathsAndKinds(changes))
	changes, err = search.DiffIndex(with("<redacted>"), with("hidd3n"))
	require.NoError(t, err)
	assert.Empty(t, changes)
}

func TestDiffIndexRefusesWhatIsNotJSON(t *testing.T) {
	bad := diffBase()
	bad.AdditionalProperties = map[string]json.RawMessage{"x": json.RawMessage("{")}
	_, err := search.DiffIndex(bad, diffBase())
	require.ErrorContains(t, err, "the definition before")
	_, err = search.DiffIndex(diffBase(), bad)
	require.ErrorContains(t, err, "the definition after")
}

func TestChangesReadAsSentences(t *testing.T) {
	after := diffBase()
	diffField(&after, "rating").Filterable = new(false)
	after.Description = "d"
	changes, err := search.DiffIndex(diffBase(), after)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	assert.Equal(t, `description: nothing → "d" (in place: it is only descriptive)`, changes[0].String())
	assert.Equal(t, "fields/rating.filterable: true → false (needs a rebuild: only retrievable, searchAnalyzer and synonymMaps of an existing field can be changed)", changes[1].String())
	assert.Equal(t, search.ChangeNeedsRebuild, changes.Kind())
	assert.Equal(t, "no change", search.IndexChanges(nil).Kind().String())
	assert.Equal(t, "ChangeKind(9)", search.ChangeKind(9).String())
}

// Only members with such a name are secrets, not values of "name".
func TestFieldWithTheNameOfASecretIsShown(t *testing.T) {
	key := models.SearchField{Name: "id", Type: models.DataTypeString, Key: new(true)}
	for _, name := range []string{"password", "token", "headers", "credentials"} {
		changes, err := search.DiffIndex(models.SearchIndex{Fields: []models.SearchField{key}}, models.SearchIndex{Fields: []models.SearchField{key, {Name: name, Type: models.DataTypeString}}})
		require.NoError(t, err)
		require.Len(t, changes, 1)
		assert.Contains(t, string(changes[0].New), "Edm.String", name)
	}
}
