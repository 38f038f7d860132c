package apiversion

// Capability is something that some api-versions have and others lack.
type Capability uint8

// The capabilities, each with what it is. Those without a member of requests or
// replies are behaviour of the service that was recorded or reported.
const (
	_ Capability = iota // what all versions have

	// Of indexes and their definitions.

	// EncryptionKeys encrypt indexes and synonym maps with keys of the customer.
	EncryptionKeys
	// Similarity selects the algorithm of scores; versions without it score by the classic one.
	Similarity
	// Normalizers treat the values that filters, sorting and facets compare.
	Normalizers
	// SemanticRanking ranks results again by a semantic configuration of the index.
	SemanticRanking
	// RankingOrder says which score orders semantic results, and returns the boosted one.
	RankingOrder
	// VectorSearch has fields of Edm.Single, vector profiles, and vectorQueries.
	VectorSearch
	// NarrowVectors are fields of Edm.Half, Edm.Int16 and Edm.SByte.
	NarrowVectors
	// PackedBits are vectors of single bits: Edm.Byte and vectorEncoding.
	PackedBits
	// WideVectors have up to 4096 dimensions instead of 2048.
	WideVectors
	// Stored says whether a vector is kept as it was uploaded.
	Stored
	// Compressions compress the vectors of an index.
	Compressions
	// RerankWithOriginals are the options of compressions that Rescoring has replaced.
	RerankWithOriginals
	// Rescoring are the rescoringOptions of compressions.
	Rescoring
	// TruncationDimension shortens the vectors of a compression.
	TruncationDimension
	// Vectorizers make the vectors of queries from their text, in definitions and as the kind "text".
	Vectorizers
	// IndexDescription is the member description of an index.
	IndexDescription
	// Aliases are second names of indexes.
	Aliases
	// VisionVectorizers are vectorizers of the kinds aiServicesVision and aml.
	VisionVectorizers
	// PermissionFilters let the service trim results by the permissions of their reader.
	PermissionFilters
	// SharePointPermissions let the service ask SharePoint for the permissions of documents.
	SharePointPermissions
	// AnalyzeNormalizer analyzes a text with a normalizer.
	AnalyzeNormalizer

	// Of indexers and skillsets.

	// ResetSkills runs single skills again.
	ResetSkills

	// Of knowledge.

	// KnowledgeFiles are files that clients upload to a knowledge source.
	KnowledgeFiles
	// RetrieveStream is the answer of a knowledge base as a stream of events.
	RetrieveStream

	// Of indexers and what they need.

	// RetiredMembers are those of indexers and skills that the service has given up, and the first entity and
	// sentiment skills.
	RetiredMembers
	// KnowledgeStore is the member of skillsets.
	KnowledgeStore
	// IndexProjections is the member of skillsets.
	IndexProjections
	// DataSourceIdentities let a data source, or an encryption key, sign in with an identity of its own.
	DataSourceIdentities
	// IndexerCache is the member cache of indexers.
	IndexerCache
	// Resync lets an indexer read permissions again.
	Resync
	// ResetDocuments lets an indexer process some documents, or some skills, again.
	ResetDocuments
	// KnowledgeBases are knowledge sources and the bases made of them.
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
	// FacetMetrics are the averages and other metrics that facets return.
	FacetMetrics

	// Of replies.

	// SkillsetCounter counts skillsets in the statistics of the service.
	SkillsetCounter
	// VectorIndexSize is in the statistics of an index and of the service.
	VectorIndexSize
	// KnowledgeCounters count knowledge sources and bases in the statistics of the service.
	KnowledgeCounters
	// IndexSummaries are the statistics of all indexes in one reply.
	IndexSummaries
	// ListPages are the parameters search and pageSize of lists, which come page by page.
	ListPages
	// StorageLimit is the limit maxStoragePerIndex in the statistics of the service.
	StorageLimit
	// CodedErrors fill code and details of refusals, and name the body otherwise.
	CodedErrors
	// RenewedHeaders are the headers of replies as recorded since 2023.
	RenewedHeaders
	// CountLast writes the count of a facet behind its value.
	CountLast
	// FlatScores do not count nested objects as documents.
	FlatScores
	// FuzzyFallback completes fuzzily only where no term begins as was typed.
	FuzzyFallback

	end // behind the last capability
)

// capabilities is a set of them.
type capabilities uint64

func (c Capability) bit() capabilities { return 1 << c }

// Stable returns the oldest stable version that has c, the zero Version if none has.
func (c Capability) Stable() Version {
	for i := range table {
		if known := &table[i]; known.has&c.bit() != 0 && !preview(known.version) {
			return Of(known.version)
		}
	}
	return Version{}
}

// Versions describes the versions that have c for an error: the oldest stable and
// the oldest preview version. Newer ones of the same kind have it as well.
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
