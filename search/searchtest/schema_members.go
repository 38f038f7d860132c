package searchtest

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// The tables below say what an index definition may contain, and in which order
// the service writes it back. Up to 2020-06-30 order and defaults are as
// recorded from the service; what later versions added stands where their
// published examples have it.

func text(name string) property   { return property{name: name} }
func flag(name string) property   { return property{name: name, kind: kindBool} }
func whole(name string) property  { return property{name: name, kind: kindInt} }
func double(name string) property { return property{name: name, kind: kindDouble} }
func texts(name string) property  { return property{name: name, kind: kindStrings, def: []any{}} }

func anything(name string) property { return property{name: name, kind: kindAny} }

func objectOf(name string, sh *shape) property {
	return property{name: name, kind: kindObject, shape: func() *shape { return sh }}
}

func listOf(name string, sh *shape) property {
	return property{name: name, kind: kindObjects, def: []any{}, shape: func() *shape { return sh }}
}

func oneOf(name string, variants map[string]*shape) property {
	return property{name: name, kind: kindObject, variants: variants}
}

func manyOf(name string, variants map[string]*shape) property {
	return property{name: name, kind: kindObjects, def: []any{}, variants: variants}
}

func (m property) when(c apiversion.Capability) property { m.needs = c; return m }
func (m property) must() property                        { m.required = true; return m }
func (m property) or(def any) property                   { m.def = def; return m }
func (m property) among(values ...string) property       { m.enum = values; return m }
func (m property) within(low, high float64) property {
	m.bounded, m.min, m.max = true, low, high
	return m
}
func (m property) hidden(shown any) property { m.secret, m.shown = true, shown; return m }

var indexShape = shape{typeName: "IndexDefinition"}

var fieldShape = shape{typeName: "SchemaField"}

// fieldShape contains itself and indexShape contains it, which the initialisers
// of package variables may not.
func init() {
	fieldShape.members = []property{
		text("name").must(),
		text("type").must(),
		flag("searchable"), // the defaults of the attributes depend on the type: see completeField
		flag("filterable"),
		flag("retrievable"),
		flag("stored").when(apiversion.Stored),
		flag("sortable"),
		flag("facetable"),
		flag("key"),
		text("permissionFilter").when(apiversion.PermissionFilters).among("userIds", "groupIds", "rbacScope"),
		text("indexAnalyzer"),
		text("searchAnalyzer"),
		text("analyzer"),
		text("normalizer").when(apiversion.Normalizers),
		whole("dimensions").when(apiversion.VectorSearch),
		text("vectorSearchProfile").when(apiversion.VectorSearch),
		text("vectorEncoding").when(apiversion.PackedBits).among("packedBit"),
		texts("synonymMaps"),
		{name: "fields", kind: kindObjects, shape: func() *shape { return &fieldShape }},
	}
	fieldShape.writes = func(o *object, name string) bool {
		switch name {
		case "name", "type":
			return true
		case "fields":
			return complexField(o)
		}
		return !complexField(o)
	}
	indexShape.members = []property{
		text("name").must(),
		text("description").when(apiversion.IndexDescription),
		text("defaultScoringProfile"),
		listOf("fields", &fieldShape).must(),
		listOf("scoringProfiles", &scoringProfileShape),
		objectOf("corsOptions", &corsShape),
		listOf("suggesters", &suggesterShape),
		manyOf("analyzers", analyzerShapes),
		manyOf("normalizers", normalizerShapes).when(apiversion.Normalizers),
		manyOf("tokenizers", tokenizerShapes),
		manyOf("tokenFilters", tokenFilterShapes),
		manyOf("charFilters", charFilterShapes),
		objectOf("encryptionKey", &encryptionKeyShape).when(apiversion.EncryptionKeys),
		oneOf("similarity", similarityShapes).when(apiversion.Similarity),
		objectOf("semantic", &semanticShape).when(apiversion.SemanticRanking),
		objectOf("vectorSearch", &vectorSearchShape).when(apiversion.VectorSearch),
		text("permissionFilterOption").when(apiversion.PermissionFilters).among("enabled", "disabled"),
	}
}

var corsShape = shape{typeName: "CorsOptions", members: []property{
	texts("allowedOrigins").must(),
	whole("maxAgeInSeconds").within(0, 1<<53),
}}

var suggesterShape = shape{typeName: "Suggester", members: []property{
	text("name").must(),
	text("searchMode").or("analyzingInfixMatching").among("analyzingInfixMatching"),
	texts("sourceFields").must(),
}}

var encryptionKeyShape = shape{typeName: "EncryptionKey", members: []property{
	text("keyVaultKeyName").must(),
	text("keyVaultKeyVersion"),
	text("keyVaultUri").must(),
	objectOf("accessCredentials", &shape{typeName: "AzureActiveDirectoryApplicationCredentials", members: []property{
		text("applicationId"),
		text("applicationSecret").hidden(nil),
	}}),
}}

var similarityShapes = map[string]*shape{
	bm25Similarity: {typeName: "BM25Similarity", members: []property{
		text("@odata.type"),
		double("k1").within(0, 1e6),
		double("b").within(0, 1),
	}},
	classicSimilarity: {typeName: "ClassicSimilarity", members: []property{
		text("@odata.type"),
	}},
}

// bm25Similarity is what an index has that asks for nothing, classicSimilarity
// what it had before there was a choice.
const (
	bm25Similarity    = "#Microsoft.Azure.Search.BM25Similarity"
	classicSimilarity = "#Microsoft.Azure.Search.ClassicSimilarity"
)

var scoringProfileShape = shape{typeName: "ScoringProfile", members: []property{
	text("name").must(),
	text("functionAggregation").among("sum", "average", "minimum", "maximum", "firstMatching"),
	objectOf("text", &shape{typeName: "TextWeights", members: []property{
		{name: "weights", kind: kindWeights, required: true},
	}}),
	listOf("functions", &scoringFunctionShape),
}}

var scoringFunctionShape = shape{typeName: "ScoringFunction", members: []property{
	text("fieldName").must(),
	text("interpolation").or("linear").among("linear", "constant", "quadratic", "logarithmic"),
	text("type").must().among("freshness", "magnitude", "distance", "tag"),
	double("boost").must(),
	objectOf("freshness", &shape{typeName: "FreshnessParameters", members: []property{
		text("boostingDuration").must(),
	}}),
	objectOf("magnitude", &shape{typeName: "MagnitudeParameters", members: []property{
		double("boostingRangeStart").must(),
		double("boostingRangeEnd").must(),
		flag("constantBoostBeyondRange").or(false),
	}}),
	objectOf("distance", &shape{typeName: "DistanceParameters", members: []property{
		text("referencePointParameter").must(),
		double("boostingDistance").must(),
	}}),
	objectOf("tag", &shape{typeName: "TagParameters", members: []property{
		text("tagsParameter").must(),
	}}),
}}

var semanticShape = shape{typeName: "SemanticSettings", members: []property{
	text("defaultConfiguration"),
	listOf("configurations", &shape{typeName: "SemanticConfiguration", members: []property{
		text("name").must(),
		text("rankingOrder").when(apiversion.RankingOrder).or("BoostedRerankerScore").among("BoostedRerankerScore", "RerankerScore"),
		objectOf("prioritizedFields", &shape{typeName: "PrioritizedFields", members: []property{
			objectOf("titleField", &semanticFieldShape),
			listOf("prioritizedContentFields", &semanticFieldShape),
			listOf("prioritizedKeywordsFields", &semanticFieldShape),
		}}).must(),
	}}),
}}

var semanticFieldShape = shape{typeName: "SemanticField", members: []property{text("fieldName").must()}}

var metrics = []string{"cosine", "euclidean", "dotProduct", "hamming"}

var vectorSearchShape = shape{typeName: "VectorSearch", members: []property{
	listOf("algorithms", &shape{typeName: "VectorSearchAlgorithmConfiguration", members: []property{
		text("name").must(),
		text("kind").must().among("hnsw", "exhaustiveKnn"),
		objectOf("hnswParameters", &hnswShape),
		objectOf("exhaustiveKnnParameters", &exhaustiveKnnShape),
	}}),
	listOf("profiles", &shape{typeName: "VectorSearchProfile", members: []property{
		text("name").must(),
		text("algorithm").must(),
		text("vectorizer").when(apiversion.Vectorizers),
		text("compression").when(apiversion.Compressions),
	}}),
	listOf("vectorizers", &shape{typeName: "VectorSearchVectorizer", members: []property{
		text("name").must(),
		text("kind").must().among("azureOpenAI", "customWebApi", "aiServicesVision", "aml"),
		objectOf("azureOpenAIParameters", &shape{typeName: "AzureOpenAIParameters", members: []property{
			text("resourceUri"),
			text("deploymentId"),
			text("apiKey").hidden("<redacted>"),
			text("modelName").among("text-embedding-ada-002", "text-embedding-3-large", "text-embedding-3-small"),
			objectOf("authIdentity", &identityShape),
		}}),
		objectOf("customWebApiParameters", &shape{typeName: "WebApiParameters", members: []property{
			text("uri"),
			text("httpMethod"),
			{name: "httpHeaders", kind: kindHeaders},
			text("timeout"),
			text("authResourceId"),
			objectOf("authIdentity", &identityShape),
		}}),
		objectOf("aiServicesVisionParameters", &shape{typeName: "AIServicesVisionParameters", members: []property{
			text("modelVersion").must(),
			text("resourceUri").must(),
			text("apiKey").hidden(redacted),
			objectOf("authIdentity", &identityShape),
		}}).when(apiversion.VisionVectorizers),
		objectOf("amlParameters", &shape{typeName: "AMLParameters", members: []property{
			text("uri").must(),
			text("key").hidden(redacted),
			text("resourceId"),
			text("timeout"),
			text("region"),
			text("modelName"),
		}}).when(apiversion.VisionVectorizers),
	}}).when(apiversion.Vectorizers),
	listOf("compressions", &shape{typeName: "VectorSearchCompressionConfiguration", members: []property{
		text("name").must(),
		text("kind").must().among("scalarQuantization", "binaryQuantization"),
		objectOf("scalarQuantizationParameters", &scalarQuantizationShape),
		flag("rerankWithOriginalVectors").or(true).when(apiversion.RerankWithOriginals),
		double("defaultOversampling").within(1, 1e6).when(apiversion.RerankWithOriginals),
		objectOf("rescoringOptions", &shape{typeName: "RescoringOptions", members: []property{
			flag("enableRescoring").or(true),
			double("defaultOversampling").within(1, 1e6),
			text("rescoreStorageMethod").or("preserveOriginals").among("preserveOriginals", "discardOriginals"),
		}}).when(apiversion.Rescoring),
		whole("truncationDimension").within(1, maxDimensions).when(apiversion.TruncationDimension),
	}}).when(apiversion.Compressions),
}}

var identityShape = shape{typeName: "SearchIndexerDataIdentity", members: []property{
	text("@odata.type"),
	text("userAssignedIdentity"),
}}

var hnswShape = shape{typeName: "HnswParameters", members: []property{
	text("metric").or("cosine").among(metrics...),
	whole("m").or(json.Number("4")).within(4, 10),
	whole("efConstruction").or(json.Number("400")).within(100, 1000),
	whole("efSearch").or(json.Number("500")).within(100, 1000),
}}

var exhaustiveKnnShape = shape{typeName: "ExhaustiveKnnParameters", members: []property{
	text("metric").or("cosine").among(metrics...),
}}

var scalarQuantizationShape = shape{typeName: "ScalarQuantizationParameters", members: []property{
	text("quantizedDataType").or("int8").among("int8"),
}}
