package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// survived counts what went wrong on the way, by what the client saw of it. It
// says the same about a real service.
type survived struct {
	mu        sync.Mutex     // guards the maps: requests overlap
	requests  map[string]int // that failed as a whole, by kind
	documents map[string]int // that were refused in a reply to others, by status
}

func newSurvived() *survived {
	return &survived{requests: map[string]int{}, documents: map[string]int{}}
}

// batch is a BatchCompleted handler.
func (s *survived) batch(_ context.Context, b *events.Batch) {
	if b.Err == nil {
		return
	}
	kind := fmt.Sprint(b.StatusCode)
	switch {
	case errors.Is(b.Err, models.ErrMalformedReply):
		kind = "malformed reply"
	case errors.Is(b.Err, context.DeadlineExceeded):
		kind = "no reply in time"
	case b.StatusCode == 0:
		kind = "connection broken"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[kind]++
}

// through returns an Indexer that counts the refused documents in the replies to
// client. Events tell what finally became of a document; this is about what
// happened to it before.
func (s *survived) through(client *search.Client) *listening { return &listening{client, s} }

type listening struct {
	*search.Client
	to *survived
}

// IndexDocumentsRaw is that of the client.
func (l *listening) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	result, err := l.Client.IndexDocumentsRaw(ctx, body)
	if err != nil || result.StatusCode == 200 {
		return result, err
	}
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	for i := range result.Results {
		if r := &result.Results[i]; !r.Succeeded {
			l.to.documents[fmt.Sprint(r.StatusCode)]++
		}
	}
	return result, err
}

// emulatorSaw adds what only the other end knows: whether a batch whose answer
// was lost had been carried out.
func (s *survived) emulatorSaw(records []searchtest.RequestRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range records {
		rec := &records[i]
		switch {
		case !rec.Fault || rec.Operation != searchtest.OpIndexDocuments:
		case rec.Err != nil && rec.Actions > 0: // it got as far as reading the batch
			s.move("connection broken", "connection broken after the batch was applied")
		case rec.Err != nil:
			s.move("connection broken", "connection broken before the batch was applied")
		case rec.Duration >= slowReply:
			s.requests["slow reply"]++
		}
	}
}

func (s *survived) move(from, to string) {
	if s.requests[from]--; s.requests[from] <= 0 {
		delete(s.requests, from)
	}
	s.requests[to]++
}
