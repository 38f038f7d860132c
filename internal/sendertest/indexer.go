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

// Indexer is a bufferedsender.Indexer for what the emulator cannot do: ignore a
// context, hang, return what no service returns. The zero value accepts everything at
// once.
type Indexer struct {
	// Delay is how long a request takes, unless its context ends before.
	Delay time.Duration
	// Index answers the requests, after the delay. Defaults to accepting every
	// document.
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

// Requests returns how many requests there were.
func (x *Indexer) Requests() int64 { return x.requests.Load() }

// Catalog is an Indexer that can also be asked for the name of the key field.
type Catalog struct {
	Indexer
	KeyField func(ctx context.Context) (string, error)
}

// KeyFieldName is the second method that an Indexer may have.
func (c *Catalog) KeyFieldName(ctx context.Context) (string, error) { return c.KeyField(ctx) }

// What the service takes in one request.
const (
	maxActions = 1000
	maxBytes   = 16 << 20
)

// AcceptAll is an Index that accepts every document. Their key field is "id". It refuses what the service and its
// client refuse: a request whose context has ended, one that is too large, or has no action, too many, or one without
// a key.
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

// StatusError is an error of an Index: the service has answered with a status.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// HTTPStatus returns the status.
func (e StatusError) HTTPStatus() int { return int(e) }
