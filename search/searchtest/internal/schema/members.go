package schema

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// The tables below list the members of an index definition in the order in which the service
// writes them. Order and defaults up to 2020-06-30 come from recordings; members of later
// versions have the positions of their published examples.

// Shape is the shape of the definition of an index.
var Shape = shape.Shape{TypeName: "IndexDefinition"}

var fieldShape = shape.Shape{TypeName: "SchemaField"}

// fieldShape refers to itself, which the initializer of a package variable cannot do.
func init() {
	fieldShape.Members = []shape.Property{
		shape.Text("name").Must(),
		shape.Text("type").Must(),
		shape.Flag("searchable"), // the defaults of the attributes depend on the type: see completeField
		shape.Flag("filterable"),
		shape.Flag("retrievable"),
		shape.Flag("stored").When(apiversion.Stored),
		shape.Flag("sortable"),
		shape.Flag("facetable"),
		shape.Flag("key"),
		shape.Text("permissionFilter").When(apiversion.PermissionFilters).Among("userIds", "groupIds", "rbacScope"),
		shape.Flag("sharepointSiteUrl").When(apiversion.SharePointPermissions),
		shape.Text("indexAnalyzer"),
		shape.Text("searchAnalyzer"),
		shape.Text("analyzer"),
		shape.Text("normalizer").When(apiversion.Normalizers),
		shape.Whole("dimensions").When(apiversion.VectorSearch),
		shape.Text("vectorSearchProfile").When(apiversion.VectorSearch),
		shape.Text("vectorEncoding").When(apiversion.PackedBits).Among("packedBit"),
		shape.Texts("synonymMaps"),
		{Name: "fields", Kind: shape.KindObjects, Shape: func() *shape.Shape { return &fieldShape }},
	}
	fieldShape.Writes = func(o *shape.Object, name string) bool {
		switch name {
		case "name", "type":
			return true
		case "fields":
			return complexField(o)
		}
		return !complexField(o)
	}
	Shape.Members = []shape.Property{
		shape.Text("name").Must(),
		shape.Text("description").When(apiversion.IndexDescription),
		shape.Text("defaultScoringProfile"),
		shape.ListOf("fields", &fieldShape).Must(),
		shape.ListOf("scoringProfiles", &scoringProfileShape),
		shape.ObjectOf("corsOptions", &corsShape),
		shape.ListOf("suggesters", &suggesterShape),
		shape.ManyOf("analyzers", analyzerShapes),
		shape.ManyOf("normalizers", normalizerShapes).When(apiversion.Normalizers),
		shape.ManyOf("tokenizers", tokenizerShapes),
		shape.ManyOf("tokenFilters", tokenFilterShapes),
		shape.ManyOf("charFilters", charFilterShapes),
		shape.ObjectOf("encryptionKey", &EncryptionKey).When(apiversion.EncryptionKeys),
		shape.OneOf("similarity", similarityShapes).When(apiversion.Similarity),
		shape.ObjectOf("semantic", &semanticShape).When(apiversion.SemanticRanking),
		shape.ObjectOf("vectorSearch", &vectorSearchShape).When(apiversion.VectorSearch),
		shape.Text("permissionFilterOption").When(apiversion.PermissionFilters).Among("enabled", "disabled"),
		shape.Flag("purviewEnabled").When(apiversion.SensitivityLabels),
		shape.ObjectOf("sharePointConnectorAppRegistration", &shape.Shape{TypeName: "SharePointConnectorAppRegistration", Members: []shape.Property{
			shape.Text("applicationId").Must(),
			shape.Text("federatedCredentialId").Must(),
			shape.Text("tenantId"),
		}}).When(apiversion.SharePointPermissions),
	}
}

var corsShape = shape.Shape{TypeName: "CorsOptions", Members: []shape.Property{
	shape.Texts("allowedOrigins").Must(),
	shape.Whole("maxAgeInSeconds").Within(0, 1<<53),
}}

var suggesterShape = shape.Shape{TypeName: "Suggester", Members: []shape.Property{
	shape.Text("name").Must(),
	shape.Text("searchMode").Or("analyzingInfixMatching").Among("analyzingInfixMatching"),
	shape.Texts("sourceFields").Must(),
}}

// EncryptionKey is the shape of a customer's key, in definitions of all kinds.
var EncryptionKey = shape.Shape{TypeName: "EncryptionKey", Members: []shape.Property{
	shape.Text("keyVaultKeyName").Must(),
	shape.Text("keyVaultKeyVersion"),
	shape.Text("keyVaultUri").Must(),
	shape.ObjectOf("accessCredentials", &shape.Shape{TypeName: "AzureActiveDirectoryApplicationCredentials", Members: []shape.Property{
		shape.Text("applicationId"),
		shape.Text("applicationSecret").Hidden(nil),
	}}),
	shape.ObjectOf("identity", &identityShape).When(apiversion.DataSourceIdentities),
}}

var similarityShapes = map[string]*shape.Shape{
	bm25Similarity: {TypeName: "BM25Similarity", Members: []shape.Property{
		shape.Text("@odata.type"),
		shape.Double("k1").Within(0, 1e6),
		shape.Double("b").Within(0, 1),
	}},
	classicSimilarity: {TypeName: "ClassicSimilarity", Members: []shape.Property{
		shape.Text("@odata.type"),
	}},
}

// defaultSimilarity returns the type of the similarity of a new index. Recorded: versions without a choice use the
// older algorithm.
func defaultSimilarity(version apiversion.Version) string {
	if version.Has(apiversion.Similarity) {
		return bm25Similarity
	}
	return classicSimilarity
}

const (
	bm25Similarity    = "#Microsoft.Azure.Search.BM25Similarity"
	classicSimilarity = "#Microsoft.Azure.Search.ClassicSimilarity"
)

var scoringProfileShape = shape.Shape{TypeName: "ScoringProfile", Members: []shape.Property{
	shape.Text("name").Must(),
	shape.Text("functionAggregation").Among("sum", "average", "minimum", "maximum", "firstMatching"),
	shape.ObjectOf("text", &shape.Shape{TypeName: "TextWeights", Members: []shape.Property{
		{Name: "weights", Kind: shape.KindWeights, Required: true},
	}}),
	shape.ListOf("functions", &scoringFunctionShape),
}}

var scoringFunctionShape = shape.Shape{TypeName: "ScoringFunction", Members: []shape.Property{
	shape.Text("fieldName").Must(),
	shape.Text("interpolation").Or("linear").Among("linear", "constant", "quadratic", "logarithmic"),
	shape.Text("type").Must().Among("freshness", "magnitude", "distance", "tag"),
	shape.Double("boost").Must(),
	shape.ObjectOf("freshness", &shape.Shape{TypeName: "FreshnessParameters", Members: []shape.Property{
		shape.Text("boostingDuration").Must(),
	}}),
	shape.ObjectOf("magnitude", &shape.Shape{TypeName: "MagnitudeParameters", Members: []shape.Property{
		shape.Double("boostingRangeStart").Must(),
		shape.Double("boostingRangeEnd").Must(),
		shape.Flag("constantBoostBeyondRange").Or(false),
	}}),
	shape.ObjectOf("distance", &shape.Shape{TypeName: "DistanceParameters", Members: []shape.Property{
		shape.Text("referencePointParameter").Must(),
		shape.Double("boostingDistance").Must(),
	}}),
	shape.ObjectOf("tag", &shape.Shape{TypeName: "TagParameters", Members: []shape.Property{
		shape.Text("tagsParameter").Must(),
	}}),
}}

var semanticShape = shape.Shape{TypeName: "SemanticSettings", Members: []shape.Property{
	shape.Text("defaultConfiguration"),
	shape.ListOf("configurations", &shape.Shape{TypeName: "SemanticConfiguration", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("rankingOrder").When(apiversion.RankingOrder).Or("BoostedRerankerScore").Among("BoostedRerankerScore", "RerankerScore"),
		shape.ObjectOf("prioritizedFields", &shape.Shape{TypeName: "PrioritizedFields", Members: []shape.Property{
			shape.ObjectOf("titleField", &semanticFieldShape),
			shape.ListOf("prioritizedContentFields", &semanticFieldShape),
			shape.ListOf("prioritizedKeywordsFields", &semanticFieldShape),
		}}).Must(),
	}}),
}}

var semanticFieldShape = shape.Shape{TypeName: "SemanticField", Members: []shape.Property{shape.Text("fieldName").Must()}}

var metrics = []string{"cosine", "euclidean", "dotProduct", "hamming"}

var vectorSearchShape = shape.Shape{TypeName: "VectorSearch", Members: []shape.Property{
	shape.ListOf("algorithms", &shape.Shape{TypeName: "VectorSearchAlgorithmConfiguration", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("kind").Must().Among("hnsw", "exhaustiveKnn"),
		shape.ObjectOf("hnswParameters", &hnswShape),
		shape.ObjectOf("exhaustiveKnnParameters", &exhaustiveKnnShape),
	}}),
	shape.ListOf("profiles", &shape.Shape{TypeName: "VectorSearchProfile", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("algorithm").Must(),
		shape.Text("vectorizer").When(apiversion.Vectorizers),
		shape.Text("compression").When(apiversion.Compressions),
	}}),
	shape.ListOf("vectorizers", &shape.Shape{TypeName: "VectorSearchVectorizer", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("kind").Must().Among("azureOpenAI", "customWebApi", "aiServicesVision", "aml"),
		shape.ObjectOf("azureOpenAIParameters", &shape.Shape{TypeName: "AzureOpenAIParameters", Members: []shape.Property{
			shape.Text("resourceUri"),
			shape.Text("deploymentId"),
			shape.Text("apiKey").Hidden("<redacted>"),
			shape.Text("modelName").Among("text-embedding-ada-002", "text-embedding-3-large", "text-embedding-3-small"),
			shape.ObjectOf("authIdentity", &identityShape),
		}}),
		shape.ObjectOf("customWebApiParameters", &shape.Shape{TypeName: "WebApiParameters", Members: []shape.Property{
			shape.Text("uri"),
			shape.Text("httpMethod"),
			{Name: "httpHeaders", Kind: shape.KindHeaders},
			shape.Text("timeout"),
			shape.Text("authResourceId"),
			shape.ObjectOf("authIdentity", &identityShape),
		}}),
		shape.ObjectOf("aiServicesVisionParameters", &shape.Shape{TypeName: "AIServicesVisionParameters", Members: []shape.Property{
			shape.Text("modelVersion").Must(),
			shape.Text("resourceUri").Must(),
			shape.Text("apiKey").Hidden(shape.Redacted),
			shape.ObjectOf("authIdentity", &identityShape),
		}}).When(apiversion.VisionVectorizers),
		shape.ObjectOf("amlParameters", &shape.Shape{TypeName: "AMLParameters", Members: []shape.Property{
			shape.Text("uri").Must(),
			shape.Text("key").Hidden(shape.Redacted),
			shape.Text("resourceId"),
			shape.Text("timeout"),
			shape.Text("region"),
			shape.Text("modelName"),
		}}).When(apiversion.VisionVectorizers),
	}}).When(apiversion.Vectorizers),
	shape.ListOf("compressions", &shape.Shape{TypeName: "VectorSearchCompressionConfiguration", Members: []shape.Property{
		shape.Text("name").Must(),
		shape.Text("kind").Must().Among("scalarQuantization", "binaryQuantization"),
		shape.ObjectOf("scalarQuantizationParameters", &scalarQuantizationShape),
		shape.Flag("rerankWithOriginalVectors").Or(true).When(apiversion.RerankWithOriginals),
		shape.Double("defaultOversampling").Within(1, 1e6).When(apiversion.RerankWithOriginals),
		shape.ObjectOf("rescoringOptions", &shape.Shape{TypeName: "RescoringOptions", Members: []shape.Property{
			shape.Flag("enableRescoring").Or(true),
			shape.Double("defaultOversampling").Within(1, 1e6),
			shape.Text("rescoreStorageMethod").Or("preserveOriginals").Among("preserveOriginals", "discardOriginals"),
		}}).When(apiversion.Rescoring),
		shape.Whole("truncationDimension").Within(1, maxDimensions).When(apiversion.TruncationDimension),
	}}).When(apiversion.Compressions),
}}

var identityShape = shape.Shape{TypeName: "SearchIndexerDataIdentity", Members: []shape.Property{
	shape.Text("@odata.type"),
	shape.Text("userAssignedIdentity"),
}}

var hnswShape = shape.Shape{TypeName: "HnswParameters", Members: []shape.Property{
	shape.Text("metric").Or("cosine").Among(metrics...),
	shape.Whole("m").Or(json.Number("4")).Within(4, 10),
	shape.Whole("efConstruction").Or(json.Number("400")).Within(100, 1000),
	shape.Whole("efSearch").Or(json.Number("500")).Within(100, 1000),
}}

var exhaustiveKnnShape = shape.Shape{TypeName: "ExhaustiveKnnParameters", Members: []shape.Property{
	shape.Text("metric").Or("cosine").Among(metrics...),
}}

var scalarQuantizationShape = shape.Shape{TypeName: "ScalarQuantizationParameters", Members: []shape.Property{
	shape.Text("quantizedDataType").Or("int8").Among("int8"),
}}
