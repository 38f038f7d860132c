package apiversion

// release is one api-version, described by its differences from an older one.
type release struct {
	version string
	like    string // the version it differs from, "" for the first
	adds    []Capability
	lacks   []Capability // capabilities of like that it lacks
	has     capabilities // filled in by init
}

// table lists the versions, the oldest first, in lower case. Its sources are the service's published specifications,
// the packages that the vendor generated from them, and recorded replies for capabilities that no specification has.
// TestTheSpecificationAgrees compares it with the specifications.
var table = []release{
	{version: "2019-05-06", adds: []Capability{RetiredMembers}},
	{
		version: "2019-05-06-preview", like: "2019-05-06",
		adds: []Capability{EncryptionKeys, Similarity, SkillsetCounter, FuzzyFallback, KnowledgeStore, IndexerCache},
	},
	{
		version: "2020-06-30", like: "2019-05-06",
		adds: []Capability{
			EncryptionKeys, Similarity, SkillsetCounter, FuzzyFallback, ScoringStatistics, KnowledgeStore,
			IndexerCache, // found in recorded replies, not in specifications
		},
	},
	{
		version: "2020-06-30-preview", like: "2020-06-30",
		adds: []Capability{Normalizers, QueryLanguage, ResetDocuments, ResetSkills},
	},
	{
		version: "2021-04-30-preview", like: "2020-06-30-preview",
		adds: []Capability{
			Aliases, AnalyzeNormalizer, SemanticRanking, SemanticFields, DataSourceIdentities,
			CodedErrors, RenewedHeaders, CountLast, FlatScores, // recorded for 2023-10-01-preview
		},
	},
	{
		// Its vector queries and profiles have other names than in all later versions, so it lacks VectorSearch.
		version: "2023-07-01-preview", like: "2021-04-30-preview",
		adds:  []Capability{SemanticErrorHandling, Debug, SemanticDebug, VectorIndexSize},
		lacks: []Capability{RetiredMembers},
	},
	{
		version: "2023-10-01-preview", like: "2023-07-01-preview",
		adds: []Capability{VectorSearch, Vectorizers, SemanticQuery, IndexProjections},
	},
	{
		version: "2023-11-01", like: "2020-06-30",
		adds: []Capability{
			SemanticRanking, SemanticErrorHandling, VectorSearch, VectorIndexSize,
			CodedErrors, RenewedHeaders, CountLast, FlatScores,
		},
		lacks: []Capability{RetiredMembers, IndexerCache},
	},
	{
		version: "2024-03-01-preview", like: "2023-10-01-preview",
		adds: []Capability{NarrowVectors, Stored, Compressions, RerankWithOriginals, Oversampling},
	},
	{
		version: "2024-05-01-preview", like: "2024-03-01-preview",
		adds: []Capability{PackedBits, VectorWeight, VectorThreshold, VectorImages, HybridSearch, StorageLimit, VisionVectorizers},
	},
	{
		version: "2024-07-01", like: "2023-11-01",
		adds: []Capability{
			NarrowVectors, Stored, Compressions, RerankWithOriginals, Oversampling, PackedBits, VectorWeight, StorageLimit,
			Vectorizers, SemanticQuery, IndexProjections,
		},
	},
	{
		version: "2024-09-01-preview", like: "2024-05-01-preview",
		adds: []Capability{FilterOverride, TruncationDimension, WideVectors},
	},
	{
		version: "2024-11-01-preview", like: "2024-09-01-preview",
		adds:  []Capability{QueryRewrites, Rescoring, PassageLength},
		lacks: []Capability{RerankWithOriginals},
	},
	{version: "2025-03-01-preview", like: "2024-11-01-preview"},
	{
		version: "2025-05-01-preview", like: "2025-03-01-preview",
		adds: []Capability{IndexDescription, RankingOrder, PermissionFilters, Resync},
	},
	{
		version: "2025-08-01-preview", like: "2025-05-01-preview",
		adds: []Capability{StrictPostFilter},
	},
	{
		version: "2025-09-01", like: "2024-07-01",
		adds: []Capability{
			Normalizers, AnalyzeNormalizer, IndexDescription, RankingOrder, Rescoring, TruncationDimension, WideVectors, Debug,
		},
		lacks: []Capability{RerankWithOriginals},
	},
	{
		version: "2025-11-01-preview", like: "2025-08-01-preview",
		adds: []Capability{FacetMetrics, KnowledgeBases, IndexSummaries, SensitivityLabels},
	},
	{
		version: "2026-04-01", like: "2025-09-01",
		adds: []Capability{Aliases, VectorImages, StrictPostFilter, PassageLength, KnowledgeBases, DataSourceIdentities},
	},
	{
		version: "2026-05-01-preview", like: "2025-11-01-preview",
		adds: []Capability{KnowledgeCounters, SharePointPermissions},
	},
	{
		version: "2026-08-01-preview", like: "2026-05-01-preview",
		adds: []Capability{ListPages, KnowledgeFiles, RetrieveStream},
	},
	{
		version: Default, like: "2026-04-01",
		adds: []Capability{
			PermissionFilters, SharePointPermissions, Resync, IndexSummaries, ListPages, MoreLikeThis, KnowledgeFiles, RetrieveStream,
		},
	},
	// Only its name is published.
	{version: "2026-11-01-preview", like: "2026-08-01-preview"},
}

func init() {
	for i := range table {
		r := &table[i]
		if r.like != "" {
			r.has = find(r.like).has
		}
		for _, c := range r.adds {
			r.has |= c.bit()
		}
		for _, c := range r.lacks {
			r.has &^= c.bit()
		}
	}
}

// find returns the row of a version, or nil.
func find(version string) *release {
	for i := range table {
		if table[i].version == version {
			return &table[i]
		}
	}
	return nil
}
