package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// SuggestDocumentsResult is the reply to a request for suggestions.
type SuggestDocumentsResult[T any] struct {
	// Results are the suggestions, the best first unless the request sets another order.
	Results []SuggestResult[T]
	// Coverage is the percentage of the index that was searched, nil if the request
	// has no MinimumCoverage.
	Coverage *float64
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage

	// RequestID is the service's id of the request, for support cases. It is not part of the JSON.
	RequestID string
}

// SuggestResult is a suggested document.
type SuggestResult[T any] struct {
	// Text is the whole text of the matching field, with the matches marked if the request set tags.
	Text string
	// Document is the document, with the fields that the request selects, by default only the key.
	Document T
	// AdditionalProperties are the members that start with "@search." or "@odata." and have no field. All other members
	// belong to the document.
	AdditionalProperties map[string]json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler. It discards the former content of r, unless b is null. The error is a
// *ResultError if a document does not fit into T, and has ErrMalformedReply in its chain if b is not a list of
// suggestions.
func (r *SuggestDocumentsResult[T]) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	*r = SuggestDocumentsResult[T]{}
	found := false
	err := decodeReply(b, func(name string, value []byte) error {
		switch name {
		case "value":
			found = true
			return decodeResults(value, &r.Results, (*SuggestResult[T]).decode)
		case "@search.coverage":
			return json.Unmarshal(value, &r.Coverage)
		}
		keep(&r.AdditionalProperties, name, value)
		return nil
	})
	if err == nil && !found {
		err = errNoResults
	}
	return err
}

// MarshalJSON returns the reply in the JSON of the service.
func (r SuggestDocumentsResult[T]) MarshalJSON() ([]byte, error) {
	w := newReplyWriter()
	w.member("@search.coverage", r.Coverage, r.Coverage != nil)
	w.others(r.AdditionalProperties)
	w.member("value", notNil(r.Results), true)
	return w.end()
}

// UnmarshalJSON implements json.Unmarshaler. It discards the former content of r, unless b is null.
func (r *SuggestResult[T]) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	var scratch []byte
	return r.decode(b, &scratch)
}

// MarshalJSON returns the suggestion in the JSON of the service.
func (r SuggestResult[T]) MarshalJSON() ([]byte, error) {
	w := newReplyWriter()
	w.member("@search.text", r.Text, true)
	w.others(r.AdditionalProperties)
	w.document(encodable(r.Document))
	return w.end()
}

// decode decodes a suggestion. scratch is memory that suggestions share.
func (r *SuggestResult[T]) decode(b []byte, scratch *[]byte) error {
	*r = SuggestResult[T]{}
	return decodeFound(b, scratch, &r.Document, func(quoted, value []byte) error {
		if wire.Quotes(quoted, "@search.text") {
			return decodeNullable(value, &r.Text)
		}
		name, _ := wire.Unquote(quoted)
		keep(&r.AdditionalProperties, name, value)
		return nil
	})
}

// AutocompleteResult is the reply to a request to complete text.
type AutocompleteResult struct {
	// Results are the completions.
	Results []AutocompleteItem `json:"value"`
	// Coverage is the percentage of the index that was searched, nil if the request
	// has no MinimumCoverage.
	Coverage *float64 `json:"@search.coverage,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`

	// RequestID is the service's id of the request, for support cases. It is not part of the JSON.
	RequestID string `json:"-"`
}

// AutocompleteItem is a completion.
type AutocompleteItem struct {
	// Text is the completion: one term, or two.
	Text string `json:"text"`
	// QueryPlusText is the text of the request with its last term replaced by Text.
	QueryPlusText string `json:"queryPlusText"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MarshalJSON implements json.Marshaler.
func (r AutocompleteResult) MarshalJSON() ([]byte, error) {
	r.Results = notNil(r.Results)
	return types.Encode(r)
}

// UnmarshalJSON implements json.Unmarshaler. A reply without a list of
// completions is an error with ErrMalformedReply in its chain.
func (r *AutocompleteResult) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	if err := types.Decode(b, r); err != nil {
		return malformedReply(err)
	}
	if r.Results == nil {
		return errNoResults
	}
	return nil
}
