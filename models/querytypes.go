package models

// QueryType is the syntax of the text of a query.
type QueryType string

// The types of queries. The service defaults to QueryTypeSimple.
const (
	// QueryTypeSimple is the simple syntax: + | - "" * and parentheses. Whatever
	// is written in it is a query.
	QueryTypeSimple QueryType = "simple"
	// QueryTypeFull is Lucene's syntax: fields, fuzzy and proximity search, boosts,
	// regular expressions. What is not well formed is refused.
	QueryTypeFull QueryType = "full"
	// QueryTypeSemantic is text in the simple syntax whose best matches are ranked
	// once more by a language model.
	QueryTypeSemantic QueryType = "semantic"
)

// SearchMode says how many terms of a query a document must match.
type SearchMode string

// The search modes. The service defaults to SearchModeAny.
const (
	SearchModeAny SearchMode = "any"
	SearchModeAll SearchMode = "all"
)

// ScoringStatistics says whose statistics, of how rare a term is for example, go
// into scores.
type ScoringStatistics string

// The scoring statistics. The service defaults to ScoringStatisticsLocal.
const (
	// ScoringStatisticsLocal are those of the shard that a document lies in.
	ScoringStatisticsLocal ScoringStatistics = "local"
	// ScoringStatisticsGlobal are those of the whole index. They cost time.
	ScoringStatisticsGlobal ScoringStatistics = "global"
)

// VectorFilterMode says when the filter of a query is applied to its vector
// queries.
type VectorFilterMode string

// The vector filter modes. The service defaults to VectorFilterModePreFilter.
const (
	// VectorFilterModePreFilter searches among the documents that meet the filter:
	// k of them are found if there are k.
	VectorFilterModePreFilter VectorFilterMode = "preFilter"
	// VectorFilterModePostFilter filters what each shard has found. With a filter
	// that few documents meet, fewer than k are left.
	VectorFilterModePostFilter VectorFilterMode = "postFilter"
	// VectorFilterModeStrictPostFilter filters the k nearest of the whole index. It
	// takes api-version 2026-04-01.
	VectorFilterModeStrictPostFilter VectorFilterMode = "strictPostFilter"
)

// QueryDebugMode says what a query should tell about how its results came to be.
type QueryDebugMode string

// The debug modes. Several are joined by "|". The service defaults to
// QueryDebugModeDisabled. The stable api-versions document these two;
// "semantic", "queryRewrites", "innerHits" and "all" belong to previews.
const (
	QueryDebugModeDisabled QueryDebugMode = "disabled"
	// QueryDebugModeVector tells the parts of each score of a vector or a hybrid
	// query: SearchResult.DebugInfo.
	QueryDebugModeVector QueryDebugMode = "vector"
)

// SemanticErrorHandling says what happens to a query whose semantic ranking
// fails.
type SemanticErrorHandling string

// The ways to handle semantic errors. Which is the default the service's
// specification says in two ways; programs that set neither have got partial
// responses.
const (
	// SemanticErrorHandlingPartial returns what there is:
	// SearchDocumentsResult.SemanticPartialResponseReason says why it is not all.
	SemanticErrorHandlingPartial SemanticErrorHandling = "partial"
	// SemanticErrorHandlingFail makes it an error.
	SemanticErrorHandlingFail SemanticErrorHandling = "fail"
)

// SemanticPartialResponseReason says why the semantic ranking of a reply is not
// complete. There may be others than these, which are decoded as they are written;
// these are, with whatever capitals.
type SemanticPartialResponseReason string

// The reasons of partial responses.
const (
	// SemanticPartialResponseMaxWaitExceeded means that it took longer than the
	// request allowed.
	SemanticPartialResponseMaxWaitExceeded SemanticPartialResponseReason = "maxWaitExceeded"
	// SemanticPartialResponseCapacityOverloaded means that it was throttled.
	SemanticPartialResponseCapacityOverloaded SemanticPartialResponseReason = "capacityOverloaded"
	// SemanticPartialResponseTransient means that a step of it failed.
	SemanticPartialResponseTransient SemanticPartialResponseReason = "transient"
)

// SemanticPartialResponseType says what a partial response holds. There may be
// others than these, as with the reasons.
type SemanticPartialResponseType string

// The types of partial responses.
const (
	// SemanticPartialResponseBaseResults are results without any semantic ranking.
	SemanticPartialResponseBaseResults SemanticPartialResponseType = "baseResults"
	// SemanticPartialResponseRerankedResults are ranked, but have no answers and
	// no highlights in their captions.
	SemanticPartialResponseRerankedResults SemanticPartialResponseType = "rerankedResults"
)

// AutocompleteMode says what is completed.
type AutocompleteMode string

// The modes of autocompletion. The service defaults to AutocompleteModeOneTerm.
const (
	// AutocompleteModeOneTerm completes the last term of the text.
	AutocompleteModeOneTerm AutocompleteMode = "oneTerm"
	// AutocompleteModeTwoTerms completes it to two terms that follow each other in
	// the index.
	AutocompleteModeTwoTerms AutocompleteMode = "twoTerms"
	// AutocompleteModeOneTermWithContext completes it to terms that follow the
	// term before it in the index.
	AutocompleteModeOneTermWithContext AutocompleteMode = "oneTermWithContext"
)
