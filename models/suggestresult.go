package models

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models/internal/object"
)

// SuggestDocumentsResult is the reply to a request for suggestions.
type SuggestDocumentsResult[T any] struct {
	// Results are the suggestions, the best first unless the request says
	// otherwise.
	Results []SuggestResult[T]
	// Coverage is the percentage of the index that was searched, nil if the request
	// has no MinimumCoverage.
	Coverage *float64
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage

	// RequestID is the service's id of the request, for support cases. It is no
	// part of the JSON.
	RequestID string
}

// SuggestResult is a document that is suggested.
type SuggestResult[T any] struct {
	// Text is the text of the field that matches, all of it, with the matches
	// marked if the request asked for that.
	Text string
	// Document is the document, those of its fields that the request selects, only
	// the key by default.
	Document T
	// AdditionalProperties are the members whose names start with "@search." or
	// "@odata." that this library does not know. All others belong to the
	// document.
	AdditionalProperties map[string]json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler. What r held is gone, unless b is
// null. The error is a *ResultError if a document does not fit into T, and has
// ErrMalformedReply in its chain if b is no list of suggestions.
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

// MarshalJSON returns the reply as the service writes it.
func (r SuggestDocumentsResult[T]) MarshalJSON() ([]byte, error) {
	w := newReplyWriter()
	w.member("@search.coverage", r.Coverage, r.Coverage != nil)
	w.others(r.AdditionalProperties)
	w.member("value", notNil(r.Results), true)
	return w.end()
}

// UnmarshalJSON implements json.Unmarshaler. What r held is gone, unless b is
// null.
func (r *SuggestResult[T]) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	var scratch []byte
	return r.decode(b, &scratch)
}

// MarshalJSON returns the suggestion as the service writes it.
func (r SuggestResult[T]) MarshalJSON() ([]byte, error) {
	w := newReplyWriter()
	w.member("@search.text", r.Text, true)
	w.others(r.AdditionalProperties)
	w.document(encodable(r.Document))
	return w.end()
}

// decode reads a suggestion. scratch is memory that suggestions share.
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
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`

	// RequestID is the service's id of the request, for support cases. It is no
	// part of the JSON.
	RequestID string `json:"-"`
}

// AutocompleteItem is a completion.
type AutocompleteItem struct {
	// Text is what completes the text: a term, or two.
	Text string `json:"text"`
	// QueryPlusText is the text with its last term replaced by it.
	QueryPlusText string `json:"queryPlusText"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// MarshalJSON implements json.Marshaler.
func (r AutocompleteResult) MarshalJSON() ([]byte, error) {
	r.Results = notNil(r.Results)
	return object.Encode(r)
}

// UnmarshalJSON implements json.Unmarshaler. A reply without a list of
// completions is an error with ErrMalformedReply in its chain.
func (r *AutocompleteResult) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	if err := object.Decode(b, r); err != nil {
		return malformedReply(err)
	}
	if r.Results == nil {
		return errNoResults
	}
	return nil
}
