package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/search"
)

// question is a query as the user enters it.
type question struct {
	words     string
	pkg       string   // only this package; "net/..." includes packages below it; "" for all
	kinds     []string // only these; empty for all
	all       bool     // includes tests and unexported names
	top, page int      // results per page; pages start at 1
}

// The service returns at most maxTop results per page, and skips at most maxSkip.
const maxTop, maxSkip = 1000, 100_000

// check returns an error for a page beyond the limits of the service. The service would shorten a larger page, and
// the next page would skip results.
func (q question) check() error {
	if q.top < 1 || q.top > maxTop || q.page < 1 || q.page-1 > maxSkip/q.top {
		return fmt.Errorf("-top %d -page %d: the service gives 1 to %d results a page, and skips %d at most", q.top, q.page, maxTop, maxSkip)
	}
	return nil
}

// answer is the result of a question.
type answer struct {
	// fuzzy is true if nothing matches the words exactly; the results are then similarly spelled, and suggestions has
	// names that the user may have meant.
	fuzzy       bool
	suggestions []string

	first    int   // position of the first result, starting at 1
	count    int64 // on all pages
	results  []models.SearchResult[declarations.Declaration]
	kinds    []models.ValueFacet[string]
	packages []models.ValueFacet[string]
}

// find runs the query, and a fuzzy query if nothing matches.
func find(ctx context.Context, client *search.Client, q question) (answer, error) {
	a, err := q.ask(ctx, client, models.QueryTypeSimple, q.text())
	alike := q.alike()
	if err != nil || a.count > 0 || alike == "" {
		return a, err
	}
	if a, err = q.ask(ctx, client, models.QueryTypeFull, alike); err != nil {
		return a, err
	}
	a.fuzzy = true
	a.suggestions, err = q.suggest(ctx, client)
	return a, err
}

// ask requests one page.
func (q question) ask(ctx context.Context, client *search.Client, syntax models.QueryType, text string) (a answer, err error) {
	if err := q.check(); err != nil {
		return a, err
	}
	opts := &search.SearchOptions{
		SearchMode: models.SearchModeAll, QueryType: syntax, Filter: q.filter(),
		Top: new(q.top), Skip: (q.page - 1) * q.top, IncludeTotalCount: true,
		HighlightFields: []string{"doc-1"}, HighlightPreTag: "[", HighlightPostTag: "]",
		Facets: []search.Facet{search.FacetByValue("kind", nil), search.FacetByValue("package", &search.FacetByValueOptions{Count: 5})},
	}
	reply, err := search.NewSearchPager[declarations.Declaration](client, text, opts).NextPage(ctx)
	if err != nil {
		return a, err
	}
	if reply.Count == nil {
		return a, errors.New("the service does not say how many results there are")
	}
	a = answer{first: opts.Skip + 1, count: *reply.Count, results: reply.Results}
	if a.kinds, err = models.ValueFacets[string](reply.Facets["kind"]); err != nil {
		return a, err
	}
	a.packages, err = models.ValueFacets[string](reply.Facets["package"])
	return a, err
}

// filter returns the filter of a question. It escapes the user's values, so they cannot change the condition.
func (q question) filter() search.Filter {
	var filter search.Filter
	if !q.all {
		filter = search.And(search.IsTrue("exported"), search.Not(search.IsTrue("test")))
	}
	if len(q.kinds) > 0 {
		filter = search.And(filter, search.In("kind", q.kinds...))
	}
	switch prefix, below := strings.CutSuffix(q.pkg, "/..."); {
	case below:
		// Packages below "net/" sort between "net/" and "net0", because 0 follows the slash.
		filter = search.And(filter, search.Or(
			search.Eq("package", prefix),
			search.And(search.Gt("package", prefix+"/"), search.Lt("package", prefix+"0")),
		))
	case q.pkg != "":
		filter = search.And(filter, search.Eq("package", q.pkg))
	}
	return filter
}

// text returns the query in the simple syntax. Users type a name as several words, but the index has it as one: "read
// file" also searches for readfile. A query that uses the syntax stays as it is.
func (q question) text() string {
	words := strings.Fields(q.words)
	if len(words) < 2 || strings.ContainsFunc(q.words, func(r rune) bool { return !isNamePart(r) && r != ' ' }) {
		return q.words
	}
	return "(" + strings.Join(words, " ") + ") | " + strings.Join(words, "")
}

// alike returns a fuzzy query in the full syntax. Words up to five characters may differ in one character only, since
// two would match unrelated words; up to two characters must match exactly.
func (q question) alike() string {
	words := strings.FieldsFunc(q.words, func(r rune) bool { return !isNamePart(r) })
	for i, word := range words {
		switch n := utf8.RuneCountInString(word); {
		case n > 5:
			words[i] = word + "~2"
		case n > 2:
			words[i] = word + "~1"
		}
		if strings.ToUpper(word) == word {
			words[i] = strings.ToLower(words[i]) // as AND, OR and NOT they would be operators
		}
	}
	return strings.Join(words, " ")
}

func isNamePart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// maxPrefix is the maximum length of a text that the service completes, in characters.
const maxPrefix = 100

// suggest returns names that the user may have meant.
func (q question) suggest(ctx context.Context, client *search.Client) (names []string, err error) {
	if utf8.RuneCountInString(q.words) > maxPrefix {
		return nil, nil
	}
	reply, err := search.Suggest[declarations.Declaration](ctx, client, q.words, declarations.Suggester, &search.SuggestOptions{Filter: q.filter(), Fuzzy: true})
	for _, s := range reply.Results {
		if !slices.Contains(names, s.Text) { // several packages may declare it
			names = append(names, s.Text)
		}
	}
	return names, err
}

// complete returns completions of the words.
func (q question) complete(ctx context.Context, client *search.Client) (texts []string, err error) {
	reply, err := client.Autocomplete(ctx, q.words, declarations.Suggester, &search.AutocompleteOptions{Filter: q.filter()})
	for _, c := range reply.Results {
		texts = append(texts, c.QueryPlusText)
	}
	return texts, err
}
