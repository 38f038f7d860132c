package search

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// AutocompleteOptions are the options of Client.Autocomplete. nil and the zero
// value are ready to use.
type AutocompleteOptions struct {
	// Mode selects what is completed. Defaults to models.AutocompleteModeOneTerm.
	Mode models.AutocompleteMode
	// Filter selects the documents whose terms are used. It cannot contain IsMatch. Defaults to all documents.
	Filter Filter
	// Fuzzy also completes text with one wrong or missing character, which takes the service longer. Defaults to false.
	Fuzzy bool
	// HighlightPreTag and HighlightPostTag enclose the completion in QueryPlusText. Set both or neither. Defaults to no
	// tags.
	HighlightPreTag, HighlightPostTag string
	// MinimumCoverage is the percentage of the index, 0 to 100, that must be searched for the request to succeed. If the
	// service can search less, it replies 503. Defaults to 80.
	MinimumCoverage *float64
	// SearchFields names the fields of the suggester to take terms from. Defaults to
	// all of them.
	SearchFields []string
	// Top is the largest number of completions, 1 to 100. Defaults to 5.
	Top int
	// AdditionalProperties has the meaning of SearchOptions.AdditionalProperties.
	AdditionalProperties map[string]json.RawMessage
}

// Autocomplete returns completions of the last word of text, from the terms in the fields of the suggester. text is
// plain, without operators, 1 to 100 characters long.
//
// Errors are those of Search. ctx bounds the whole call.
func (c *Client) Autocomplete(ctx context.Context, text, suggester string, opts *AutocompleteOptions) (_ models.AutocompleteResult, err error) {
	const operation = "Autocomplete"
	ctx, end := c.conn.span(ctx, "Client."+operation)
	defer func() { end(err) }()
	call := c.call(operation, readDocuments)
	body, err := opts.body(text, suggester, c.conn.apiVersion)
	if err != nil {
		return models.AutocompleteResult{}, call.wrap(err)
	}
	var result models.AutocompleteResult
	call.measured = c.telemetry.begin(ctx, measureAutocomplete)
	resp, err := c.postQuery(ctx, c.conn.url(c.docs+"/search.post.autocomplete"), body, &result, call, http.StatusOK)
	call.measured.end(ctx, len(result.Results), err)
	if err != nil {
		return models.AutocompleteResult{}, err
	}
	result.RequestID = requestID(resp)
	return result, nil
}

// body returns the body of the request for text.
func (o *AutocompleteOptions) body(text, suggester string, version apiversion.Version) ([]byte, error) {
	if o == nil {
		o = &AutocompleteOptions{}
	}
	b := newQueryBody(version)
	b.suggester(text, suggester)
	oneOf(b, "autocompleteMode", "Mode", o.Mode,
		models.AutocompleteModeOneTerm, models.AutocompleteModeTwoTerms, models.AutocompleteModeOneTermWithContext)
	b.filter("filter", "Filter", o.Filter)
	b.flag("fuzzy", o.Fuzzy)
	b.tags(o.HighlightPreTag, o.HighlightPostTag)
	b.coverage(o.MinimumCoverage)
	b.paths("searchFields", "SearchFields", o.SearchFields, checkPath)
	b.topSuggestions(o.Top)
	b.additional(0, o.AdditionalProperties)
	return b.end()
}
