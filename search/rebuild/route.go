package rebuild

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-azsearch/azsearch/models"
)

// Indexer is the part of a client that a sender needs: *search.Client is one. It passes on Ping and KeyFieldName, two
// optional methods of a bufferedsender.Indexer.
type Indexer interface {
	IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)
}

// Routed sends each request to the index that the tap's record names. It is the indexer of the sender that has the tap.
// IndexName and Endpoint return the current index and its service; a sender reads them once, for telemetry.
type Routed struct{ tap *Tap }

// Indexer returns the indexer for the sender. Until it is called the tap refuses all requests, because it could not
// route them.
func (t *Tap) Indexer() *Routed {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wired = true
	return &Routed{t}
}

// Unwired returns an error if Indexer was not called: a sender with the tap and another indexer could send nothing, and
// is refused.
func (t *Tap) Unwired() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wired {
		return nil
	}
	return errors.New("the sender has a Tap but does not send by it: make it with Tap.Indexer() instead of a client")
}

// client returns the client of the index that is written to now.
func (t *Tap) client() (Indexer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	index := t.record.Route
	if c := t.clients[index]; c != nil {
		return c, nil
	}
	c, err := t.opts.Connect(index)
	if err == nil && c == nil {
		err = errors.New("there is none: TapOptions.Connect returned nil")
	}
	if err != nil {
		return nil, fmt.Errorf("rebuild: the client of the index %q: %w", index, err)
	}
	if err := t.record.of(c); err != nil {
		return nil, err
	}
	t.clients[index] = c
	return c, nil
}

// IndexDocumentsRaw sends a request to the current index.
func (r *Routed) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	c, err := r.tap.client()
	if err != nil {
		return models.IndexDocumentsResult{}, err
	}
	return c.IndexDocumentsRaw(ctx, body)
}

// NeedsTap returns true: a sender without Options.Tap is refused, because its writes would not be marked and a rebuild
// would miss them.
func (r *Routed) NeedsTap() bool { return true }

// KeyFieldName returns the name of the key field of the index.
func (r *Routed) KeyFieldName(ctx context.Context) (string, error) {
	c, err := r.tap.client()
	if err != nil {
		return "", err
	}
	if named, ok := c.(models.KeyFieldNamer); ok {
		return named.KeyFieldName(ctx)
	}
	return "", errors.New("rebuild: the client does not know its key field: name it with the sender's Documents.KeyField, or a struct tag")
}

// Ping checks that the service answers for the index. If the client has no Ping it returns an error.
func (r *Routed) Ping(ctx context.Context) error {
	c, err := r.tap.client()
	if err != nil {
		return err
	}
	if p, ok := c.(models.Pinger); ok {
		return p.Ping(ctx)
	}
	return errors.New("rebuild: the client has no Ping")
}

// IndexName returns the index that is written to now.
func (r *Routed) IndexName() string { return r.tap.Index() }

// Endpoint returns the address of the service, "" if the client does not know it.
func (r *Routed) Endpoint() string {
	c, err := r.tap.client()
	if err != nil {
		return ""
	}
	return endpointOf(c)
}
