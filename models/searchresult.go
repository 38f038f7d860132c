package models

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// statusPartialContent is the HTTP status of an incomplete reply.
const statusPartialContent = 206

// SearchDocumentsResult is one page of the results of a query.
type SearchDocumentsResult[T any] struct {
	// Results are the results, the best first unless the query sets another order.
	Results []SearchResult[T]
	// Count is the number of matching documents on all pages, nil if the query did not request it. The service may
	// approximate.
	Count *int64
	// Coverage is the percentage of the index that was searched, nil if the query
	// has no MinimumCoverage.
	Coverage *float64
	// Facets are the requested facets, by field.
	Facets map[string][]FacetResult
	// Answers are the answers to a semantic query, the best first, nil if there are none or they were not requested.
	Answers []QueryAnswer
	// SemanticPartialResponseReason is the reason why the semantic ranking is incomplete, "" if it is complete or was not
	// requested.
	SemanticPartialResponseReason SemanticPartialResponseReason
	// SemanticPartialResponseType is the content of a partial response, "" if the semantic ranking is complete or was not
	// requested.
	SemanticPartialResponseType SemanticPartialResponseType
	// NextPageParameters is the body of the request for the next page, and NextLink its URL. Both are absent on the last
	// page. Pagers use the parameters, but send them to the URL of the first request.
	NextPageParameters json.RawMessage
	NextLink           string
	// AdditionalProperties are the JSON members that have no field, for example "@search.debug" of previews.
	AdditionalProperties map[string]json.RawMessage

	// StatusCode is the HTTP status of the reply: 200, or 206 for an incomplete one. It is not part of the JSON.
	StatusCode int
	// RequestID is the service's id of the request, for support cases. It is not part of the JSON.
	RequestID string
}

// SearchResult is a document that a query found.
type SearchResult[T any] struct {
	// Document is the document, with the fields that the query selects.
	Document T
	// Score is the relevance of the document, relative to the other results.
	Score float64
	// RerankerScore is the score of a semantic query, 0 to 4, nil if the document was not reranked.
	RerankerScore *float64
	// RerankerBoostedScore is RerankerScore after a scoring profile, nil if the semantic configuration does not request
	// it.
	RerankerBoostedScore *float64
	// Highlights are fragments of fields with the matches marked, by field. It is nil if they were not requested or
	// nothing in the fields matches.
	Highlights map[string][]string
	// Captions are the captions of a semantic query, nil if they were not requested.
	Captions []QueryCaption
	// DebugInfo explains the score, nil if it was not requested.
	DebugInfo *DocumentDebugInfo
	// AdditionalProperties are the members that start with "@search." or "@odata." and have no field. All other members
	// belong to the document.
	AdditionalProperties map[string]json.RawMessage
}

// Partial reports whether the service marks the page as incomplete. Its results are usable;
// SemanticPartialResponseReason may have the reason.
func (r *SearchDocumentsResult[T]) Partial() bool {
	return r.StatusCode == statusPartialContent || r.SemanticPartialResponseReason != "" || r.SemanticPartialResponseType != ""
}

// UnmarshalJSON implements json.Unmarshaler. It discards the former content of r, unless b is null. The error is a
// *ResultError if a document does not fit into T, and has ErrMalformedReply in its chain if b is not a page of
// results.
func (r *SearchDocumentsResult[T]) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	*r = SearchDocumentsResult[T]{}
	found := false
	err := decodeReply(b, func(name string, value []byte) error {
		switch name {
		case "value":
			found = true
			return decodeResults(value, &r.Results, (*SearchResult[T]).decode)
		case "@odata.count":
			return json.Unmarshal(value, &r.Count)
		case "@search.coverage":
			return json.Unmarshal(value, &r.Coverage)
		case "@search.facets":
			return json.Unmarshal(value, &r.Facets)
		case "@search.answers":
			return json.Unmarshal(value, &r.Answers)
		case "@search.semanticPartialResponseReason":
			return decodeName(value, &r.SemanticPartialResponseReason,
				SemanticPartialResponseMaxWaitExceeded, SemanticPartialResponseCapacityOverloaded, SemanticPartialResponseTransient)
		case "@search.semanticPartialResponseType":
			return decodeName(value, &r.SemanticPartialResponseType, SemanticPartialResponseBaseResults, SemanticPartialResponseRerankedResults)
		case "@search.nextPageParameters":
			if !isNull(value) {
				r.NextPageParameters = bytes.Clone(value)
			}
			return nil
		case "@odata.nextLink":
			return decodeNullable(value, &r.NextLink)
		}
		keep(&r.AdditionalProperties, name, value)
		return nil
	})
	if err == nil && !found {
		err = errNoResults
	}
	return err
}

// MarshalJSON returns the page in the JSON of the service.
func (r SearchDocumentsResult[T]) MarshalJSON() ([]byte, error) {
	w := newReplyWriter()
	w.member("@odata.count", r.Count, r.Count != nil)
	w.member("@search.coverage", r.Coverage, r.Coverage != nil)
	w.member("@search.facets", r.Facets, r.Facets != nil)
	w.member("@search.answers", r.Answers, r.Answers != nil)
	w.member("@search.semanticPartialResponseReason", r.SemanticPartialResponseReason, r.SemanticPartialResponseReason != "")
	w.member("@search.semanticPartialResponseType", r.SemanticPartialResponseType, r.SemanticPartialResponseType != "")
	w.member("@search.nextPageParameters", r.NextPageParameters, r.NextPageParameters != nil)
	w.others(r.AdditionalProperties)
	w.member("value", notNil(r.Results), true)
	w.member("@odata.nextLink", r.NextLink, r.NextLink != "")
	return w.end()
}

// UnmarshalJSON implements json.Unmarshaler. It discards the former content of r, unless b is null.
func (r *SearchResult[T]) UnmarshalJSON(b []byte) error {
	if isNull(b) {
		return nil
	}
	var scratch []byte
	return r.decode(b, &scratch)
}

// MarshalJSON returns the result in the JSON of the service: metadata, then the members of the document.
func (r SearchResult[T]) MarshalJSON() ([]byte, error) {
	w := newReplyWriter()
	w.member("@search.score", r.Score, true)
	w.member("@search.rerankerScore", r.RerankerScore, r.RerankerScore != nil)
	w.member("@search.rerankerBoostedScore", r.RerankerBoostedScore, r.RerankerBoostedScore != nil)
	w.member("@search.captions", r.Captions, r.Captions != nil)
	w.member("@search.highlights", r.Highlights, r.Highlights != nil)
	w.member("@search.documentDebugInfo", r.DebugInfo, r.DebugInfo != nil)
	w.others(r.AdditionalProperties)
	w.document(encodable(r.Document))
	return w.end()
}

// decode decodes a result. scratch is memory that results share.
func (r *SearchResult[T]) decode(b []byte, scratch *[]byte) error {
	*r = SearchResult[T]{}
	return decodeFound(b, scratch, &r.Document, func(quoted, value []byte) error {
		switch {
		case wire.Quotes(quoted, "@search.score"):
			return decodeScore(value, &r.Score)
		case wire.Quotes(quoted, "@search.rerankerScore"):
			return json.Unmarshal(value, &r.RerankerScore)
		case wire.Quotes(quoted, "@search.rerankerBoostedScore"):
			return json.Unmarshal(value, &r.RerankerBoostedScore)
		case wire.Quotes(quoted, "@search.highlights"):
			return json.Unmarshal(value, &r.Highlights)
		case wire.Quotes(quoted, "@search.captions"):
			return json.Unmarshal(value, &r.Captions)
		case wire.Quotes(quoted, "@search.documentDebugInfo"):
			return json.Unmarshal(value, &r.DebugInfo)
		}
		name, _ := wire.Unquote(quoted)
		keep(&r.AdditionalProperties, name, value)
		return nil
	})
}

// ResultError means that the document of a result does not fit into its Go type.
type ResultError struct {
	// Position is the position in the page, from 0.
	Position int
	// Err is the mismatch. It may quote the document.
	Err error
}

func (e *ResultError) Error() string {
	return fmt.Sprintf("result %d: %v", e.Position, e.Err)
}

// Unwrap returns Err.
func (e *ResultError) Unwrap() error { return e.Err }
