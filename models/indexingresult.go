package models

import (
	"errors"
	"time"
)

// IndexingResult is the service's result for one action.
type IndexingResult struct {
	// Key is the key of the document.
	Key string `json:"key"`
	// Succeeded is true if the action was applied.
	Succeeded bool `json:"status"`
	// ErrorMessage is the service's explanation, empty on success.
	ErrorMessage string `json:"errorMessage"`
	// StatusCode is 200 (changed or deleted), 201 (created), 400 (bad
	// document), 404 (merge of a missing document), 409 (version conflict),
	// 422 (index temporarily unavailable), 429 (document quota of the index
	// exceeded) or 503 (service too busy).
	StatusCode int `json:"statusCode"`
}

// IndexDocumentsResult is the reply to one request to index documents.
type IndexDocumentsResult struct {
	// Results holds one entry per action. The service replies in the order of the request but does not promise it: pair
	// entries by key.
	Results []IndexingResult `json:"value"`
	// StatusCode is the HTTP status: 200 if every action succeeded, 207 if at least one failed.
	StatusCode int `json:"-"`
	// RequestID is the service's id of the request, for support cases.
	RequestID string `json:"-"`
	// RetryAfter is how long the service asks to wait before the next request, 0 if it does not ask. It matters if
	// documents failed with 503.
	RetryAfter time.Duration `json:"-"`
}

// ErrMalformedReply is in the error chain if the service replied with success but the body cannot be decoded: empty,
// cut off, not JSON. It is also in the chain if the reply belongs to another request, because a Transport followed a
// redirect. The request may have been applied.
var ErrMalformedReply = errors.New("malformed reply")
