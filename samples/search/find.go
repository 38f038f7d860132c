package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// check says why the service could not answer. It would cut a larger page short,
// and the next one would begin behind what is missing.
func (q question) check() error {
	switch {
	case q.top < 1 || q.page < 1:
		return errors.New("-top and -page count from 1")
	case q.top > maxTop:
		return fmt.Errorf("-top %d: the service gives at most %d results a page", q.top, maxTop)
	case q.page-1 > maxSkip/q.top:
		return fmt.Errorf("page %d: with %d results each, the service gives %d pages at most", q.page, q.top, 1+maxSkip/q.top)
	}
	return nil
}

// answer is what the service knows about it.
type answer struct {
	Words string `json:"words"`
	// Fuzzy says that nothing matches the words, and the results what is spelled
	// alike. Then Suggestions are names that may have been meant.
	Fuzzy       bool     `json:"fuzzy"`
	Suggestions []string `json:"suggestions,omitempty"`
	// NoSuggestions says why the service makes none.
	NoSuggestions string `json:"noSuggestions,omitempty"`

	First    int                                             `json:"first"` // position of the first result, from 1
	Count    int64                                           `json:"count"` // on all pages
	Results  []models.SearchResult[declarations.Declaration] `json:"results"`
	Kinds    []models.ValueFacet[string]                     `json:"kinds"`
	Packages []models.ValueFacet[string]                     `json:"packages"`
}

// markStart and markEnd stand around what matches in a highlight. No text has
// them, so that nothing in the source can look like a match.
const markStart, markEnd = "\ue000", "\ue001"

// find asks the service, and asks again for what is spelled alike if nothing
// matches.
func find(ctx context.Context, client *search.Client, q question) (answer, error) {
	a, err := q.ask(ctx, client, &search.SearchOptions{SearchMode: models.SearchModeAll}, q.text())
	if err != nil || a.Count > 0 {
		return a, err
	}
	alike := q.alike()
	if alike == "" {
		return a, nil
	}
	a, err = q.ask(ctx, client, &search.SearchOptions{SearchMode: models.SearchModeAll, QueryType: models.QueryTypeFull}, alike)
	if err != nil {
		return a, err
	}
	a.Fuzzy = true
	a.Suggestions, err = q.suggest(ctx, client)
	if refused, ok := errors.AsType[*search.Error](err); ok && refused.StatusCode == http.StatusBadRequest {
		// The index of a quickstart from before it had a suggester. The results
		// are good without.
		a.NoSuggestions, err = refused.Message, nil
	}
	return a, err
}

// ask gets one page.
func (q question) ask(ctx context.Context, client *search.Client, opts *search.SearchOptions, text string) (answer, error) {
	if err := q.check(); err != nil {
		return answer{}, err
	}
	opts.Filter = q.filter()
	opts.Top, opts.Skip = new(q.top), (q.page-1)*q.top
	opts.IncludeTotalCount = true
	opts.HighlightFields = []string{"name", "signature", "doc-1"}
	opts.HighlightPreTag, opts.HighlightPostTag = markStart, markEnd
	opts.Facets = []search.Facet{search.FacetByValue("kind", nil), search.FacetByValue("package", &search.FacetByValueOptions{Count: 5})}
	reply, err := search.NewSearchPager[declarations.Declaration](client, text, opts).NextPage(ctx)
	if err != nil {
		return answer{}, err
	}
	if reply.Count == nil {
		return answer{}, errors.New("the service does not say how many results there are")
	}
	a := answer{Words: q.words, First: opts.Skip + 1, Count: *reply.Count, Results: reply.Results}
	if a.Kinds, err = models.ValueFacets[string](reply.Facets["kind"]); err != nil {
		return answer{}, err
	}
	a.Packages, err = models.ValueFacets[string](reply.Facets["package"])
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
func (q question) suggest(ctx context.Context, client *search.Client) ([]string, error) {
	if utf8.RuneCountInString(q.words) > maxPrefix {
		return nil, nil
	}
	reply, err := search.Suggest[declarations.Declaration](ctx, client, q.words, declarations.Suggester, &search.SuggestOptions{Filter: q.filter(), Fuzzy: true})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range reply.Results {
		names = append(names, s.Text)
	}
	return unique(names), nil
}

// complete returns what the words may become.
func (q question) complete(ctx context.Context, client *search.Client) ([]string, error) {
	if utf8.RuneCountInString(q.words) > maxPrefix {
		return nil, nil
	}
	reply, err := client.Autocomplete(ctx, q.words, declarations.Suggester, &search.AutocompleteOptions{Filter: q.filter()})
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, c := range reply.Results {
		texts = append(texts, c.QueryPlusText)
	}
	return unique(texts), nil
}

// unique drops what is there already.
func unique(texts []string) []string {
	seen := make(map[string]bool, len(texts))
	kept := texts[:0]
	for _, t := range texts {
		if !seen[t] {
			seen[t] = true
			kept = append(kept, t)
		}
	}
	return kept
}
