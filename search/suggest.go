package search

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// SuggestOptions are the options of Suggest. nil and the zero value are ready to
// use.
type SuggestOptions struct {
	// Filter is the condition for documents. It cannot contain IsMatch. Defaults to no condition.
	Filter Filter
	// Fuzzy also finds text with one wrong or missing character, which takes the service longer. Defaults to false.
	Fuzzy bool
	// HighlightPreTag and HighlightPostTag enclose a match. Set both or neither. Defaults to no tags.
	HighlightPreTag, HighlightPostTag string
	// MinimumCoverage is the percentage of the index, 0 to 100, that must be searched for the request to succeed. If the
	// service can search less, it replies 503. Defaults to 80.
	MinimumCoverage *float64
	// OrderBy are the sort orders of the suggestions, as in SearchOptions. Defaults to the score, the best first.
	OrderBy []string
	// SearchFields names the fields of the suggester to search. Defaults to all of
	// them.
	SearchFields []string
	// Select names the fields to return; "*" means all. Defaults to the key.
	Select []string
	// Top is the largest number of suggestions, 1 to 100. Defaults to 5.
	Top int
	// AdditionalProperties has the meaning of SearchOptions.AdditionalProperties.
	AdditionalProperties map[string]json.RawMessage
}

// Suggest returns documents for a search box that shows results while a user types. A document matches if a field of
// the suggester has a term that begins with the last word of text. The documents are decoded into a T as by Search.
// text is plain, without operators, 1 to 100 characters long.
//
// Errors are those of Search. ctx bounds the whole call. Suggest is safe for concurrent use.
func Suggest[T any](ctx context.Context, c *Client, text, suggester string, opts *SuggestOptions) (_ models.SuggestDocumentsResult[T], err error) {
	const operation = "Suggest"
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, readDocuments)
	var result models.SuggestDocumentsResult[T]
	body, err := opts.body(text, suggester, c.conn.apiVersion)
	if err != nil {
		return result, call.wrap(err)
	}
	call.measured = c.telemetry.begin(ctx, measureSuggest)
	resp, err := c.postQuery(ctx, c.conn.url(c.docs+"/search.post.suggest"), body, &result, call, http.StatusOK)
	call.measured.end(ctx, len(result.Results), err)
	if err != nil {
		return models.SuggestDocumentsResult[T]{}, err
	}
	result.RequestID = requestID(resp)
	return result, nil
}

// body returns the body of the request for text.
func (o *SuggestOptions) body(text, suggester string, version apiversion.Version) ([]byte, error) {
	if o == nil {
		o = &SuggestOptions{}
	}
	b := newQueryBody(version)
	b.suggester(text, suggester)
	b.filter("filter", "Filter", o.Filter)
	b.flag("fuzzy", o.Fuzzy)
	b.tags(o.HighlightPreTag, o.HighlightPostTag)
	b.coverage(o.MinimumCoverage)
	b.orderBy(o.OrderBy)
	b.paths("searchFields", "SearchFields", o.SearchFields, checkPath)
	b.paths("select", "Select", o.Select, selectPath)
	b.topSuggestions(o.Top)
	b.additional(0, o.AdditionalProperties)
	return b.end()
}

// maxSuggestionText is the largest number of characters that the service completes, and maxSuggestions the largest
// number of suggestions that it returns.
const (
	maxSuggestionText = 100
	maxSuggestions    = 100
)

// suggester writes the text and the name of the suggester.
func (b *queryBody) suggester(text, suggester string) {
	if n := utf8.RuneCountInString(text); n < 1 || n > maxSuggestionText {
		b.problemf("the search text", "it is %d characters long, not 1 to %d", n, maxSuggestionText)
	}
	b.text("search", "the search text", text)
	if suggester == "" {
		b.problem("the suggester", errors.New("its name is empty"))
	}
	b.text("suggesterName", "the suggester", suggester)
}

func (b *queryBody) topSuggestions(top int) {
	if top < 0 || top > maxSuggestions {
		b.problemf("Top", "%d is not from 1 to %d", top, maxSuggestions)
	}
	b.integer("top", top)
}
