package models

// QueryType is the syntax of the text of a query.
type QueryType string

// The types of queries. The service defaults to QueryTypeSimple.
const (
	// QueryTypeSimple is the simple syntax: + | - "" * and parentheses. Any text is a valid query.
	QueryTypeSimple QueryType = "simple"
	// QueryTypeFull is Lucene's syntax: fields, fuzzy and proximity search, boosts, regular expressions. The service
	// refuses malformed text.
	QueryTypeFull QueryType = "full"
	// QueryTypeSemantic is the simple syntax, and a language model reranks the best matches.
	QueryTypeSemantic QueryType = "semantic"
)

// SearchMode selects whether a document must match any or all terms of a query.
type SearchMode string

// The search modes. The service defaults to SearchModeAny.
const (
	SearchModeAny SearchMode = "any"
	SearchModeAll SearchMode = "all"
)

// ScoringStatistics selects the scope of term statistics, such as the rarity of a term, for scores.
type ScoringStatistics string

// The scoring statistics. The service defaults to ScoringStatisticsLocal.
const (
	// ScoringStatisticsLocal are the statistics of the document's shard.
	ScoringStatisticsLocal ScoringStatistics = "local"
	// ScoringStatisticsGlobal are the statistics of the whole index. They take more time.
	ScoringStatisticsGlobal ScoringStatistics = "global"
)

// VectorFilterMode selects when the filter of a query applies to its vector queries.
type VectorFilterMode string

// The vector filter modes. The service defaults to VectorFilterModePreFilter.
const (
	// VectorFilterModePreFilter searches only the documents that match the filter, so k are found if k match.
	VectorFilterModePreFilter VectorFilterMode = "preFilter"
	// VectorFilterModePostFilter filters the results of each shard. If few documents match the filter, fewer than k
	// remain.
	VectorFilterModePostFilter VectorFilterMode = "postFilter"
	// VectorFilterModeStrictPostFilter filters the k nearest documents of the whole index. It needs api-version
	// 2026-04-01.
	VectorFilterModeStrictPostFilter VectorFilterMode = "strictPostFilter"
)

// QueryDebugMode selects the debugging information about the results.
type QueryDebugMode string

// The debug modes of the stable api-versions. The service defaults to QueryDebugModeDisabled. Previews also have
// "semantic", "queryRewrites", "innerHits" and "all". Join several modes with "|".
const (
	QueryDebugModeDisabled QueryDebugMode = "disabled"
	// QueryDebugModeVector returns the components of each score of a vector or hybrid query in SearchResult.DebugInfo.
	QueryDebugModeVector QueryDebugMode = "vector"
)

// SemanticErrorHandling selects the reaction to a failed semantic ranking.
type SemanticErrorHandling string

// The ways to handle semantic errors. The service's specification contradicts itself about the default; queries that
// set neither have returned partial responses.
const (
	// SemanticErrorHandlingPartial returns a partial response with its reason in
	// SearchDocumentsResult.SemanticPartialResponseReason.
	SemanticErrorHandlingPartial SemanticErrorHandling = "partial"
	// SemanticErrorHandlingFail returns an error.
	SemanticErrorHandlingFail SemanticErrorHandling = "fail"
)

// SemanticPartialResponseReason is the reason why the semantic ranking of a reply is incomplete. Other values are
// possible and are kept as received; the case of the known values is normalized.
type SemanticPartialResponseReason string

// The reasons of partial responses.
const (
	// SemanticPartialResponseMaxWaitExceeded means that the ranking exceeded the time limit of the request.
	SemanticPartialResponseMaxWaitExceeded SemanticPartialResponseReason = "maxWaitExceeded"
	// SemanticPartialResponseCapacityOverloaded means that the ranking was throttled.
	SemanticPartialResponseCapacityOverloaded SemanticPartialResponseReason = "capacityOverloaded"
	// SemanticPartialResponseTransient means that a step of the ranking failed.
	SemanticPartialResponseTransient SemanticPartialResponseReason = "transient"
)

// SemanticPartialResponseType is the content of a partial response. Other values are possible, as for the reasons.
type SemanticPartialResponseType string

// The types of partial responses.
const (
	// SemanticPartialResponseBaseResults are results without any semantic ranking.
	SemanticPartialResponseBaseResults SemanticPartialResponseType = "baseResults"
	// SemanticPartialResponseRerankedResults are ranked results without answers and without highlights in captions.
	SemanticPartialResponseRerankedResults SemanticPartialResponseType = "rerankedResults"
)

// AutocompleteMode selects what is completed.
type AutocompleteMode string

// The modes of autocompletion. The service defaults to AutocompleteModeOneTerm.
const (
	// AutocompleteModeOneTerm completes the last term of the text.
	AutocompleteModeOneTerm AutocompleteMode = "oneTerm"
	// AutocompleteModeTwoTerms completes the last term to two terms that are adjacent in the index.
	AutocompleteModeTwoTerms AutocompleteMode = "twoTerms"
	// AutocompleteModeOneTermWithContext completes the last term to terms that follow its preceding term in the index.
	AutocompleteModeOneTermWithContext AutocompleteMode = "oneTermWithContext"
)
