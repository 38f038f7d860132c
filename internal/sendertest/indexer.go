package sendertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Indexer is a bufferedsender.Indexer for what the emulator cannot do: ignore a context, hang, return what no service
// returns. The zero value accepts everything at once.
type Indexer struct {
	// Delay is the duration of a request, unless its context ends first.
	Delay time.Duration
	// Index answers requests after the delay. Defaults to accepting every document.
	Index func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)

	requests atomic.Int64
}

// IndexDocumentsRaw implements bufferedsender.Indexer.
func (x *Indexer) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	x.requests.Add(1)
	if x.Delay > 0 {
		select {
		case <-time.After(x.Delay):
		case <-ctx.Done():
			return models.IndexDocumentsResult{}, ctx.Err()
		}
	}
	if x.Index == nil {
		return AcceptAll(ctx, body)
	}
	return x.Index(ctx, body)
}

// Requests returns the number of requests.
func (x *Indexer) Requests() int64 { return x.requests.Load() }

// Catalog is an Indexer that also returns the name of the key field.
type Catalog struct {
	Indexer
	KeyField func(ctx context.Context) (string, error)
}

// KeyFieldName implements the optional method of an Indexer.
func (c *Catalog) KeyFieldName(ctx context.Context) (string, error) { return c.KeyField(ctx) }

// Limits of the service for one request.
const (
	maxActions = 1000
	maxBytes   = 16 << 20
)

// AcceptAll is an Index that accepts every document; their key field is "id". Like the service and its client it
// refuses a request whose context has ended, that is too large, has no actions or too many, or an action without a key.
func AcceptAll(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	if err := ctx.Err(); err != nil {
		return models.IndexDocumentsResult{}, err
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	if len(raw) > maxBytes {
		return models.IndexDocumentsResult{}, StatusError(413)
	}
	var request struct {
		Value []struct{ ID string }
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return models.IndexDocumentsResult{}, err
	}
	if n := len(request.Value); n == 0 || n > maxActions {
		return models.IndexDocumentsResult{}, StatusError(400)
	}
	result := models.IndexDocumentsResult{StatusCode: 200}
	for _, v := range request.Value {
		if v.ID == "" {
			return models.IndexDocumentsResult{}, StatusError(400)
		}
		result.Results = append(result.Results, models.IndexingResult{Key: v.ID, Succeeded: true, StatusCode: 201})
	}
	return result, nil
}

// StatusError is an error of an Index with the HTTP status of an answer.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// HTTPStatus returns the status.
func (e StatusError) HTTPStatus() int { return int(e) }
