package apiversion

// Capability is a feature that some api-versions have and others lack.
type Capability uint8

// The capabilities. Those that do not name a member of requests or replies are behaviour of the service that was
// recorded or reported.
const (
	_ Capability = iota // 0: all versions have it

	// Indexes and their definitions.

	// EncryptionKeys encrypt indexes and synonym maps with customer-managed keys.
	EncryptionKeys
	// Similarity selects the scoring algorithm. Versions without it use the classic one.
	Similarity
	// Normalizers normalize the values for filters, sorting and facets.
	Normalizers
	// SemanticRanking reranks results by a semantic configuration of the index.
	SemanticRanking
	// RankingOrder selects the score that orders semantic results, and returns the boosted score.
	RankingOrder
	// VectorSearch has fields of Edm.Single, vector profiles, and vectorQueries.
	VectorSearch
	// NarrowVectors are fields of Edm.Half, Edm.Int16 and Edm.SByte.
	NarrowVectors
	// PackedBits are vectors of single bits: Edm.Byte and vectorEncoding.
	PackedBits
	// WideVectors have up to 4096 dimensions instead of 2048.
	WideVectors
	// Stored controls whether the original vector is kept.
	Stored
	// Compressions compress the vectors of an index.
	Compressions
	// RerankWithOriginals are the predecessors of Rescoring in the options of compressions.
	RerankWithOriginals
	// Rescoring are the rescoringOptions of compressions.
	Rescoring
	// TruncationDimension shortens the vectors of a compression.
	TruncationDimension
	// Vectorizers compute the vectors of queries from text, in definitions and as the kind "text".
	Vectorizers
	// IndexDescription is the member description of an index.
	IndexDescription
	// Aliases are second names of indexes.
	Aliases
	// VisionVectorizers are vectorizers of the kinds aiServicesVision and aml.
	VisionVectorizers
	// PermissionFilters let the service trim results by the permissions of the reader.
	PermissionFilters
	// SensitivityLabels are labels of Microsoft Purview, by which the service also trims results.
	SensitivityLabels
	// SharePointPermissions let the service query the permissions of documents from SharePoint.
	SharePointPermissions
	// AnalyzeNormalizer analyzes a text with a normalizer.
	AnalyzeNormalizer

	// Indexers and skillsets.

	// ResetSkills runs single skills again.
	ResetSkills

	// Knowledge sources and bases.

	// KnowledgeFiles are files that clients upload to a knowledge source.
	KnowledgeFiles
	// RetrieveStream returns the answer of a knowledge base as a stream of events.
	RetrieveStream

	// Indexers, data sources and skillsets.

	// RetiredMembers are members of indexers and skills that the service has retired, and the first entity and sentiment
	// skills.
	RetiredMembers
	// KnowledgeStore is a member of skillsets.
	KnowledgeStore
	// IndexProjections is a member of skillsets.
	IndexProjections
	// DataSourceIdentities give a data source or an encryption key its own identity.
	DataSourceIdentities
	// IndexerCache is the member cache of indexers.
	IndexerCache
	// Resync lets an indexer read permissions again.
	Resync
	// ResetDocuments lets an indexer process selected documents again.
	ResetDocuments
	// KnowledgeBases are knowledge sources and knowledge bases.
	KnowledgeBases

	// Of queries.

	// ScoringStatistics are the parameters scoringStatistics and sessionId.
	ScoringStatistics
	// SemanticErrorHandling are the parameters semanticErrorHandling and semanticMaxWaitInMilliseconds.
	SemanticErrorHandling
	// SemanticQuery is the parameter semanticQuery.
	SemanticQuery
	// SemanticFields is the parameter semanticFields.
	SemanticFields
	// SemanticDebug explains semantic results: the value semantic of the parameter debug.
	SemanticDebug
	// Debug is the parameter debug.
	Debug
	// PassageLength limits the length of answers and captions: the setting maxcharlength.
	PassageLength
	// QueryLanguage are the parameters queryLanguage and speller.
	QueryLanguage
	// QueryRewrites is the parameter queryRewrites.
	QueryRewrites
	// MoreLikeThis is the parameter moreLikeThis.
	MoreLikeThis
	// Oversampling is the member oversampling of vector queries.
	Oversampling
	// VectorWeight is the member weight of vector queries.
	VectorWeight
	// VectorThreshold is the member threshold of vector queries.
	VectorThreshold
	// VectorImages are vector queries of the kinds imageUrl and imageBinary.
	VectorImages
	// FilterOverride is the member filterOverride of vector queries.
	FilterOverride
	// StrictPostFilter is a value of the parameter vectorFilterMode.
	StrictPostFilter
	// HybridSearch is the parameter hybridSearch.
	HybridSearch
	// FacetMetrics are averages and other aggregates in facets.
	FacetMetrics

	// Of replies.

	// SkillsetCounter counts skillsets in the statistics of the service.
	SkillsetCounter
	// VectorIndexSize is in the statistics of an index and of the service.
	VectorIndexSize
	// KnowledgeCounters count knowledge sources and bases in the statistics of the service.
	KnowledgeCounters
	// IndexSummaries are the statistics of all indexes in one request.
	IndexSummaries
	// ListPages are the parameters search and pageSize of lists, and their division into pages.
	ListPages
	// StorageLimit is the limit maxStoragePerIndex in the statistics of the service.
	StorageLimit
	// CodedErrors set code and details in the errors of refusals, and use another name for the body.
	CodedErrors
	// RenewedHeaders are the headers of replies as recorded since 2023.
	RenewedHeaders
	// CountLast writes the count of a facet after its value.
	CountLast
	// FlatScores do not count nested objects as documents.
	FlatScores
	// FuzzyFallback uses fuzzy completion only if no term has the typed prefix.
	FuzzyFallback

	end // after the last capability
)

// capabilities is a set of Capability values.
type capabilities uint64

func (c Capability) bit() capabilities { return 1 << c }

// Stable returns the oldest stable version that has c, or the zero Version.
func (c Capability) Stable() Version {
	return c.oldest(func(version string) bool { return !preview(version) })
}

// Oldest returns the oldest version that has c.
func (c Capability) Oldest() Version {
	return c.oldest(func(string) bool { return true })
}

func (c Capability) oldest(of func(version string) bool) Version {
	for i := range table {
		if known := &table[i]; known.has&c.bit() != 0 && of(known.version) {
			return Of(known.version)
		}
	}
	return Version{}
}

// Versions describes the versions that have c, for an error: the oldest stable one and the oldest preview. Newer ones
// of the same kind have it too.
func (c Capability) Versions() string {
	var stable, previews string
	for i := len(table) - 1; i >= 0; i-- {
		switch known := &table[i]; {
		case known.has&c.bit() == 0:
		case preview(known.version):
			previews = known.version + " or a newer preview"
		default:
			stable = known.version + " or newer"
		}
	}
	if stable == "" || previews == "" {
		return stable + previews
	}
	return stable + ", or " + previews
}
