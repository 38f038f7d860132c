package query

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/facets"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// The limits of a search.
const (
	defaultPage        = 50
	longestText        = 100_000 // characters
	largestPage        = 1000
	mostSkipped        = 100_000
	defaultFragments   = 5
	mostFragments      = 1000
	defaultHighlight   = "<em>"
	defaultUnhighlight = "</em>"
)

// searchPlan is a search that was checked against the index definition.
type searchPlan struct {
	args *arguments
	sc   *schema.Index

	query    lucene.Node // nil if all documents match
	text     textindex.Options
	matchers []matchCall // the full-text calls in the filter

	filter     *odata.Filter // nil for none
	order      *odata.Order
	ordered    bool // by something other than the score
	chosen     *selection
	facets     []*facets.Facet
	highlights []highlight
	tags       textindex.Tags
	profile    *profile // nil for none
	vectors    []vectorList
	postFilter bool
	semantic   *semanticPlan // nil for none

	count     bool
	coverage  bool // the reply must contain it
	skip      int64
	top       int64 // results of this page and all later ones
	unlimited bool  // the request had no top
}

// matchCall is a call of search.ismatch or search.ismatchscoring in the filter.
type matchCall struct {
	query lucene.Node
	text  textindex.Options
}

// highlight is a field to highlight.
type highlight struct {
	path  string
	limit int
}

// needsText reports whether the search needs the text index.
func (p *searchPlan) needsText() bool { return p.query != nil || len(p.matchers) > 0 }

// planSearch makes all checks that need no documents.
func planSearch(sc *schema.Index, a *arguments) (*searchPlan, *reply.Error) {
	p := &searchPlan{args: a, sc: sc, count: a.flag("count")}
	for _, step := range []func() *reply.Error{
		sc.CompileNormalizers, p.planSemantic, p.planPage, p.planText, p.planFilter, p.planOrder, p.planSelection, p.planFacets, p.planHighlights, p.planProfile, p.planVectors,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// planPage reads count, skip, top and minimumCoverage.
func (p *searchPlan) planPage() *reply.Error {
	a := p.args
	p.skip, p.top, p.unlimited = a.whole("skip", 0), a.whole("top", defaultPage), !a.has("top")
	if p.skip < 0 || p.skip > mostSkipped {
		return a.refuseCoded("", "$skip", "Value must be between 0 and 100000.")
	}
	if p.top < 0 {
		return a.refuseCoded("", "$top", "Value must be between 0 and 2147483647.")
	}
	var err *reply.Error
	p.coverage, err = a.coverage()
	return err
}

// coverage reports whether the reply contains the coverage. The emulator always covers
// everything, so any minimum is met.
func (a *arguments) coverage() (asked bool, err *reply.Error) {
	minimum, asked := a.values["minimumCoverage"].(float64)
	if asked && !(minimum >= 0 && minimum <= 100) {
		return false, a.refuse("minimumCoverage", "Value must be between 0 and 100.")
	}
	return asked, nil
}

// planText parses the search text.
func (p *searchPlan) planText() *reply.Error {
	a := p.args
	if a.text("searchMode") == "all" {
		p.text.Operator = lucene.And
	}
	fields, err := searchFields(p.sc, a)
	if err != nil {
		return err
	}
	p.text.Fields = fields
	p.text.Nested = !a.version.Has(apiversion.FlatScores)
	text := a.text("search")
	if utf8.RuneCountInString(text) > longestText {
		return a.refuse("search", "The search text has more than 100000 characters.")
	}
	if strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "*" {
		return nil
	}
	if len(p.sc.Texts) == 0 {
		e := a.refuseCoded("CannotSearchWithoutSearchableFields", "search", "If a query contains the search option the target index must contain one or more searchable string fields.")
		if e.Code != "" {
			e.Code = "OperationNotAllowed"
		}
		return e
	}
	p.query, err = a.parseQueryText(text, a.text("queryType") == "full", p.text.Operator)
	return err
}

// parseQueryText parses a search text in one of the two syntaxes.
func (a *arguments) parseQueryText(text string, full bool, op lucene.Operator) (lucene.Node, *reply.Error) {
	if !full {
		return lucene.ParseSimple(text, op), nil
	}
	n, err := lucene.ParseFull(text, op)
	if err != nil {
		return nil, a.badQuery(err)
	}
	return n, nil
}

// badQuery returns the refusal of a search text in the full syntax. Recorded: it contains no
// parameter name.
func (a *arguments) badQuery(err error) *reply.Error {
	where := ""
	if syntax := (*lucene.SyntaxError)(nil); errors.As(err, &syntax) {
		where = " at line " + strconv.Itoa(syntax.Line) + ", column " + strconv.Itoa(syntax.Column)
	}
	e := &reply.Error{
		Status:  http.StatusBadRequest,
		Message: "Failed to parse query string" + where + ". See https://aka.ms/azure-search-full-query for supported syntax.",
	}
	if !a.version.Has(apiversion.CodedErrors) {
		return e
	}
	return e.WithCode("InvalidRequestParameter", "InvalidSearchSyntax")
}

// searchFields returns the paths in the parameter searchFields, nil for all fields.
func searchFields(sc *schema.Index, a *arguments) ([]string, *reply.Error) {
	if a.text("searchFields") == "" {
		return nil, nil
	}
	var out []string
	for path := range strings.SplitSeq(a.text("searchFields"), ",") {
		path = strings.TrimSpace(path)
		switch fields := sc.Find(path); {
		case fields == nil:
			return nil, a.refuse("searchFields", "Unknown field '"+path+"' in search field list.")
		case sc.TextField(path) < 0:
			return nil, a.refuse("searchFields", "The field '"+path+"' in the search field list is not searchable.")
		}
		out = append(out, path)
	}
	return out, nil
}

// planFilter compiles the filter and parses its search texts.
func (p *searchPlan) planFilter() *reply.Error {
	filter, err := p.args.compileFilter(p.sc.Expressions(), p.sc)
	if err != nil || filter == nil {
		return err
	}
	p.filter = filter
	for _, call := range filter.Matches() {
		m := matchCall{text: textindex.Options{Fields: call.Paths, Nested: !p.args.version.Has(apiversion.FlatScores)}}
		if call.All {
			m.text.Operator = lucene.And
		}
		var refusal *reply.Error
		if m.query, refusal = p.args.parseQueryText(call.Text, call.Full, m.text.Operator); refusal != nil {
			return refusal
		}
		p.matchers = append(p.matchers, m)
	}
	return nil
}

func (p *searchPlan) planOrder() *reply.Error {
	var err *reply.Error
	p.order, p.ordered, err = orderOf(p.sc, p.args)
	return err
}

// orderOf compiles the order of the results. given reports whether the request has one.
func orderOf(sc *schema.Index, a *arguments) (order *odata.Order, given bool, _ *reply.Error) {
	text := a.text("orderby")
	if strings.TrimSpace(text) == "" {
		return &odata.Order{}, false, nil
	}
	order, err := odata.CompileOrder(text, sc.Expressions())
	if err != nil {
		return nil, false, reply.InvalidExpression(err.Error(), "$orderby")
	}
	return order, true, nil
}

func (p *searchPlan) planSelection() *reply.Error {
	if !p.args.has("select") {
		return nil
	}
	var err *reply.Error
	p.chosen, err = parseSelection(p.sc, p.args.text("select"))
	return err
}

func (p *searchPlan) planFacets() *reply.Error {
	for _, text := range p.args.texts("facets") {
		f, err := facets.Compile(text, &facets.Options{Fields: p.sc.ByName, Normalize: p.sc.Normalizer, Metrics: p.args.version.Has(apiversion.FacetMetrics)})
		if unsupported := (*facets.Error)(nil); errors.As(err, &unsupported) && unsupported.Unsupported {
			return reply.NotImplemented(err.Error())
		}
		if err != nil {
			return p.args.refuse("facet", err.Error())
		}
		if slices.ContainsFunc(p.facets, func(g *facets.Facet) bool { return g.Name == f.Name && (!g.IsMetric() || !f.IsMetric()) }) {
			return p.args.refuse("facet", "The field '"+f.Name+"' is in more than one facet specification.")
		}
		p.facets = append(p.facets, f)
	}
	return nil
}

// planHighlights reads the fields to highlight: paths, each followed by a dash and the
// maximum number of fragments.
func (p *searchPlan) planHighlights() *reply.Error {
	a := p.args
	p.tags = textindex.Tags{Pre: defaultHighlight, Post: defaultUnhighlight}
	if a.has("highlightPreTag") {
		p.tags.Pre = a.text("highlightPreTag")
	}
	if a.has("highlightPostTag") {
		p.tags.Post = a.text("highlightPostTag")
	}
	if a.text("highlight") == "" {
		return nil
	}
	for text := range strings.SplitSeq(a.text("highlight"), ",") {
		path, number, limited := strings.Cut(strings.TrimSpace(text), "-")
		h := highlight{path: path, limit: defaultFragments}
		if limited {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > mostFragments {
				return a.refuse("highlight", "The number of highlights of the field '"+path+"' must be between 1 and "+strconv.Itoa(mostFragments)+".")
			}
			h.limit = n
		}
		switch fields := p.sc.Find(path); {
		case fields == nil:
			return a.refuse("highlight", "Unknown field '"+path+"' in highlight field list.")
		case p.sc.TextField(path) < 0:
			return a.refuse("highlight", "Only searchable fields can be used in the highlight list. Field '"+path+"' is not marked as 'searchable'.")
		case !fields[len(fields)-1].Retrievable:
			return a.refuse("highlight", "Only retrievable fields can be used in the highlight list. Field '"+path+"' is not marked as 'retrievable'.")
		}
		if slices.ContainsFunc(p.highlights, func(g highlight) bool { return g.path == path }) {
			return a.refuse("highlight", "The field '"+path+"' is in the highlight field list more than once.")
		}
		p.highlights = append(p.highlights, h)
	}
	// Recorded: highlights have the order of the definition.
	slices.SortStableFunc(p.highlights, func(a, b highlight) int { return p.sc.TextField(a.path) - p.sc.TextField(b.path) })
	return nil
}
