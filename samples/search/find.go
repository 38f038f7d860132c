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

// question is what somebody wants to know.
type question struct {
	words     string
	pkg       string   // only this package, "net/..." with all below; "" for all
	kinds     []string // only these; none for all
	all       bool     // also tests and what is not exported
	top, page int      // results a page; the first page is 1
}

// The service gives at most maxTop results at once, and skips at most maxSkip.
const maxTop, maxSkip = 1000, 100_000

// check returns an error for a page that the service does not have. It would cut a larger one short, and the next one
// would begin behind what is missing.
func (q question) check() error {
	if q.top < 1 || q.top > maxTop || q.page < 1 || q.page-1 > maxSkip/q.top {
		return fmt.Errorf("-top %d -page %d: the service gives 1 to %d results a page, and skips %d at most", q.top, q.page, maxTop, maxSkip)
	}
	return nil
}

// answer is what the service knows about a question.
type answer struct {
	// fuzzy says that nothing matches the words, and the results are spelled alike. suggestions are then names that may
	// have been meant.
	fuzzy       bool
	suggestions []string

	first    int   // position of the first result, from 1
	count    int64 // on all pages
	results  []models.SearchResult[declarations.Declaration]
	kinds    []models.ValueFacet[string]
	packages []models.ValueFacet[string]
}

// find asks the service, and asks again for what is spelled alike if nothing matches.
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

// ask gets one page.
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

// filter is the condition that results meet. Whatever was typed, it cannot become
// another one.
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
		// What begins with "net/" lies between that and "net0": 0 comes after the
		// slash.
		filter = search.And(filter, search.Or(
			search.Eq("package", prefix),
			search.And(search.Gt("package", prefix+"/"), search.Lt("package", prefix+"0")),
		))
	case q.pkg != "":
		filter = search.And(filter, search.Eq("package", q.pkg))
	}
	return filter
}

// text is the query in the simple syntax. A name is one word to the index, and
// nobody types it so: "read file" looks for readfile as well, unless it makes use
// of the syntax.
func (q question) text() string {
	words := strings.Fields(q.words)
	if len(words) < 2 || strings.ContainsFunc(q.words, func(r rune) bool { return !isNamePart(r) && r != ' ' }) {
		return q.words
	}
	return "(" + strings.Join(words, " ") + ") | " + strings.Join(words, "")
}

// alike is a query in the full syntax for words that are spelled like those of
// the question. Two wrong letters in a short word would make another word.
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
			words[i] = strings.ToLower(words[i]) // AND, OR and NOT would be operators
		}
	}
	return strings.Join(words, " ")
}

func isNamePart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// maxPrefix is how long a text can be that the service completes, in characters.
const maxPrefix = 100

// suggest returns names that may have been meant.
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

// complete returns what the words may become.
func (q question) complete(ctx context.Context, client *search.Client) (texts []string, err error) {
	reply, err := client.Autocomplete(ctx, q.words, declarations.Suggester, &search.AutocompleteOptions{Filter: q.filter()})
	for _, c := range reply.Results {
		texts = append(texts, c.QueryPlusText)
	}
	return texts, err
}
