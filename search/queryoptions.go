package search

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// maxSkip is the largest number of results that the service skips.
const maxSkip = 100_000

// SearchOptions are the options of Search and NewSearchPager. nil and the zero
// value are ready to use.
//
// If the api-version of the client lacks an option, the query is refused with an error that names a version that has
// it. All such errors, and all other detectable errors, are reported together before anything is sent.
type SearchOptions struct {
	// Filter is the condition for documents. It does not affect scores, except for IsMatchScoring. Defaults to no
	// condition.
	Filter Filter
	// OrderBy are the sort orders of the results, the most significant first. Each is a sortable field or search.score(),
	// followed by asc (the default) or desc, or the result of Distance.Asc or Desc. At most 32. Defaults to the score,
	// the best first.
	OrderBy []string
	// Skip is the number of results to skip, at most 100000. To read more, or all, see Scan. Defaults to 0.
	Skip int
	// Top is the largest number of results on all pages together. Set 0 to get only facets or the count. Defaults to all
	// results, in pages of 50.
	Top *int
	// Select names the fields to return. Sub-fields are written with a slash, "address/city". Defaults to all retrievable
	// fields.
	Select []string
	// IncludeTotalCount requests the number of matching documents. Defaults to false.
	IncludeTotalCount bool
	// Facets are the facets to compute over all matching documents. See FacetByValue. Defaults to none.
	Facets []Facet

	// MoreLikeThis is the key of a document. The query finds documents that are similar to it in SearchFields; its text
	// must be empty. It needs api-version 2026-10-01. Defaults to none.
	MoreLikeThis string

	// QueryType is the syntax of the text. Defaults to models.QueryTypeSimple.
	QueryType models.QueryType
	// SearchMode selects whether a document must match any or all terms of the text. Defaults to models.SearchModeAny.
	SearchMode models.SearchMode
	// SearchFields names the fields in which the text is searched. Defaults to all searchable fields.
	SearchFields []string
	// HighlightFields names the fields for which fragments with marked matches are returned. A dash and a number after
	// the field, "description-3", limit its fragments; the service defaults to 5. Defaults to none.
	HighlightFields []string
	// HighlightPreTag and HighlightPostTag enclose a match. Set both or neither. Defaults to <em> and </em>.
	HighlightPreTag, HighlightPostTag string

	// ScoringProfile is the scoring profile of the index that computes scores. Defaults to the default profile of the
	// index.
	ScoringProfile string
	// ScoringParameters are the values for the functions of the scoring profile.
	// See ScoringParameter. Defaults to none.
	ScoringParameters []ScoringParameterValue
	// ScoringStatistics selects the scope of the statistics for scores. Defaults to models.ScoringStatisticsLocal.
	ScoringStatistics models.ScoringStatistics
	// SessionID directs queries with the same id to the same replica if possible, so that their results are consistent.
	// It must not start with an underscore. Defaults to none.
	SessionID string
	// MinimumCoverage is the percentage of the index, 0 to 100, that must be searched for the query to succeed. If the
	// service can search less, it replies 503. The page reports the coverage that was reached. Defaults to 100.
	MinimumCoverage *float64

	// Semantic configures ranking by a language model. It needs models.QueryTypeSemantic or Semantic.Query. Defaults to
	// no semantic ranking, or with models.QueryTypeSemantic to the default configuration of the index.
	Semantic *SemanticOptions

	// VectorQueries are the vectors to search for. Together with a text the query is hybrid: the service fuses both
	// results. Defaults to none.
	VectorQueries []VectorQuery
	// VectorFilterMode selects when Filter applies to the vector queries. Defaults to models.VectorFilterModePreFilter.
	VectorFilterMode models.VectorFilterMode
	// HybridSearch configures the fusion of text and vector results. It needs a preview api-version. Defaults to none.
	HybridSearch *HybridSearch

	// Debug requests debugging information about the results. Defaults to models.QueryDebugModeDisabled.
	Debug models.QueryDebugMode

	// AdditionalProperties are members of the request that have no option, as JSON: those of a preview, such as
	// "queryLanguage" and "speller", or of a later api-version. Only the service checks them. A member that an option
	// writes is refused. Defaults to none.
	AdditionalProperties map[string]json.RawMessage
}

// HybridSearch configures how the text and the vectors of a query are combined.
type HybridSearch struct {
	// MaxTextRecallSize is the number of text results, 1 to 10000, that are fused with those of the vectors. Defaults to
	// 1000.
	MaxTextRecallSize int
	// CountAndFacetMode is "countAllResults" to count all documents that the text matches, or "countRetrievableResults"
	// to count only those that can be fused. Defaults to "countAllResults".
	CountAndFacetMode string
}

// body returns the body of the request for text.
func (o *SearchOptions) body(text string, version apiversion.Version) ([]byte, error) {
	if o == nil {
		o = &SearchOptions{}
	}
	b := newQueryBody(version)
	b.text("search", "the search text", text)
	o.like(b, text)
	b.filter("filter", "Filter", o.Filter)
	b.orderBy(o.OrderBy)
	o.page(b)
	b.paths("select", "Select", o.Select, selectPath)
	b.flag("count", o.IncludeTotalCount)
	o.facets(b)
	oneOf(b, "queryType", "QueryType", o.QueryType, models.QueryTypeSimple, models.QueryTypeFull, models.QueryTypeSemantic)
	oneOf(b, "searchMode", "SearchMode", o.SearchMode, models.SearchModeAny, models.SearchModeAll)
	b.paths("searchFields", "SearchFields", o.SearchFields, checkPath)
	b.paths("highlight", "HighlightFields", o.HighlightFields, highlightPath)
	b.tags(o.HighlightPreTag, o.HighlightPostTag)
	o.scoring(b)
	b.coverage(o.MinimumCoverage)
	o.semantic(b, text)
	o.vectors(b)
	o.debug(b)
	b.additional(0, o.AdditionalProperties)
	return b.end()
}

func (o *SearchOptions) like(b *queryBody, text string) {
	if o.MoreLikeThis == "" {
		return
	}
	b.needs("MoreLikeThis", apiversion.MoreLikeThis)
	if text != "" {
		b.problemf("MoreLikeThis", "the search text must be empty with it")
	}
	b.text("moreLikeThis", "MoreLikeThis", o.MoreLikeThis)
}

func (o *SearchOptions) page(b *queryBody) {
	if o.Skip < 0 || o.Skip > maxSkip {
		b.problemf("Skip", "%d is not from 0 to %d: to read on, use Scan, or order by a key and filter by it", o.Skip, maxSkip)
	}
	b.integer("skip", o.Skip)
	switch {
	case o.Top == nil:
	case *o.Top < 0 || *o.Top > math.MaxInt32:
		b.problemf("Top", "%d is not from 0 to %d: nil is for all results", *o.Top, math.MaxInt32)
	default:
		b.number("top", float64(*o.Top))
	}
}

func (o *SearchOptions) facets(b *queryBody) {
	expressions := make([]string, len(o.Facets))
	for i, f := range o.Facets {
		if err := f.Err(); err != nil {
			b.problem(fmt.Sprintf("Facets[%d]", i), err)
		}
		expressions[i] = f.String()
	}
	b.strings("facets", expressions)
}

func (o *SearchOptions) scoring(b *queryBody) {
	b.text("scoringProfile", "ScoringProfile", o.ScoringProfile)
	parameters := make([]string, len(o.ScoringParameters))
	for i, p := range o.ScoringParameters {
		if err := p.Err(); err != nil {
			b.problem(fmt.Sprintf("ScoringParameters[%d]", i), err)
		}
		parameters[i] = p.String()
	}
	b.strings("scoringParameters", parameters)
	if o.ScoringStatistics != "" {
		b.needs("ScoringStatistics", apiversion.ScoringStatistics)
	}
	oneOf(b, "scoringStatistics", "ScoringStatistics", o.ScoringStatistics, models.ScoringStatisticsLocal, models.ScoringStatisticsGlobal)
	if o.SessionID != "" {
		b.needs("SessionID", apiversion.ScoringStatistics)
	}
	if strings.HasPrefix(o.SessionID, "_") {
		b.problemf("SessionID", "%s starts with an underscore", clip(o.SessionID))
	}
	b.text("sessionId", "SessionID", o.SessionID)
}

func (o *SearchOptions) debug(b *queryBody) {
	if o.Debug == "" {
		return
	}
	b.needs("Debug", apiversion.Debug)
	for mode := range strings.SplitSeq(string(o.Debug), "|") {
		switch mode {
		case "disabled", "vector", "semantic", "queryRewrites", "innerHits", "all":
		default:
			b.problemf("Debug", "%s is not a debug mode", clip(mode))
		}
	}
	b.string("debug", string(o.Debug))
}
