package search

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// maxSkip is how many results the service passes over.
const maxSkip = 100_000

// SearchOptions are the options of Search and NewSearchPager. nil and the zero
// value are ready to use.
//
// An option that the api-version of the client does not have is refused with an
// error that says which version has it. So is everything else that can be
// known to be wrong, all at once, before anything is sent.
type SearchOptions struct {
	// Filter is the condition that documents must meet. It does not change scores,
	// IsMatchScoring apart. Defaults to no condition.
	Filter Filter
	// OrderBy are the orders of the results, the first one first: a sortable field or
	// search.score(), followed by asc, which is the default, or desc, and what Asc and
	// Desc of a Distance return. At most 32. Defaults to the score, the best first.
	OrderBy []string
	// Skip is how many results to pass over, at most 100000. To read more, or all,
	// see Scan. Defaults to 0.
	Skip int
	// Top is how many results there should be at most, on all pages together. 0 is
	// for queries that want nothing but facets or the count. Defaults to all, which
	// come in pages of 50.
	Top *int
	// Select names the fields to return; sub-fields are written with a slash,
	// "address/city". Defaults to all retrievable fields.
	Select []string
	// IncludeTotalCount asks how many documents match. Defaults to false.
	IncludeTotalCount bool
	// Facets are the facets to compute, over all documents that match. See
	// FacetByValue. Defaults to none.
	Facets []Facet

	// MoreLikeThis is the key of a document; those that are like it in SearchFields are
	// found, and the text must be empty. It needs api-version 2026-10-01. Defaults to none.
	MoreLikeThis string

	// QueryType is the syntax of the text. Defaults to models.QueryTypeSimple.
	QueryType models.QueryType
	// SearchMode says whether documents must match any or all terms of the text.
	// Defaults to models.SearchModeAny.
	SearchMode models.SearchMode
	// SearchFields names the fields to search the text in. Defaults to all
	// searchable fields.
	SearchFields []string
	// HighlightFields names the fields to return with matches marked. A field can be
	// followed by a dash and how many fragments of it to return, "description-3";
	// the service defaults to 5. Defaults to none.
	HighlightFields []string
	// HighlightPreTag and HighlightPostTag go around a match. Set both or neither.
	// Defaults to <em> and </em>.
	HighlightPreTag, HighlightPostTag string

	// ScoringProfile is the scoring profile of the index to score with. Defaults to
	// the default profile of the index.
	ScoringProfile string
	// ScoringParameters are the values for the functions of the scoring profile.
	// See ScoringParameter. Defaults to none.
	ScoringParameters []ScoringParameterValue
	// ScoringStatistics says whose statistics go into scores. Defaults to
	// models.ScoringStatisticsLocal.
	ScoringStatistics models.ScoringStatistics
	// SessionID sends queries with the same id to the same replica if possible,
	// for results that do not change from one to the next. It must not start with
	// an underscore. Defaults to none.
	SessionID string
	// MinimumCoverage is the percentage of the index that must be searched, 0 to
	// 100, for the query to succeed; where it cannot be, the service answers 503.
	// The page says what was reached. Defaults to 100.
	MinimumCoverage *float64

	// Semantic is about ranking by a language model. It takes
	// models.QueryTypeSemantic or a Query of its own. Defaults to none, and with
	// models.QueryTypeSemantic to the default configuration of the index.
	Semantic *SemanticOptions

	// VectorQueries are the vectors to search for. With a text as well the query is
	// hybrid: the service fuses the results. Defaults to none.
	VectorQueries []VectorQuery
	// VectorFilterMode says when Filter is applied to them. Defaults to
	// models.VectorFilterModePreFilter.
	VectorFilterMode models.VectorFilterMode
	// HybridSearch is about how text and vectors work together. It takes a preview
	// of the api-version. Defaults to none.
	HybridSearch *HybridSearch

	// Debug asks how the results came to be. Defaults to
	// models.QueryDebugModeDisabled.
	Debug models.QueryDebugMode

	// AdditionalProperties are members of the request that no option stands for, as JSON: those
	// of a preview, such as "queryLanguage" and "speller", or of a later api-version. The service
	// checks them. A member that an option has written is refused. Defaults to none.
	AdditionalProperties map[string]json.RawMessage
}

// HybridSearch is about how the text and the vectors of a query work together.
type HybridSearch struct {
	// MaxTextRecallSize is how many results of the text are fused with those of the
	// vectors, 1 to 10000. Defaults to 1000.
	MaxTextRecallSize int
	// CountAndFacetMode is "countAllResults" to count all that the text matches, or
	// "countRetrievableResults" to count what can be fused. Defaults to the former.
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
			b.problemf("Debug", "%s is no debug mode", clip(mode))
		}
	}
	b.string("debug", string(o.Debug))
}
