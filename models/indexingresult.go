package models

import (
	"errors"
	"time"
)

// IndexingResult is what became of one action, in the service's words.
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
	// Results holds one entry per action. The service answers in the order of
	// the request but does not promise it: pair by key.
	Results []IndexingResult `json:"value"`
	// StatusCode is the status of the reply: 200 if every action succeeded, 207
	// if at least one failed.
	StatusCode int `json:"-"`
	// RequestID is the service's id of the request, for support cases.
	RequestID string `json:"-"`
	// RetryAfter is how long the service asked to wait before the next request,
	// 0 if it did not ask. It matters when documents were refused with 503.
	RetryAfter time.Duration `json:"-"`
}

// ErrMalformedReply is in the chain of an error that says that the service
// answered with success but that the body could not be understood: empty, cut
// off, not JSON. It is also in that of a reply to another request than the one that
// was sent, because a Transport has followed a redirect. The request may have been
// applied.
var ErrMalformedReply = errors.New("malformed reply")
