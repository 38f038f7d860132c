// Package sink is for commands that upload documents of another place: it keeps account of each, and gives up where the
// service is gone for too long.
package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/models"
)

// Sink uploads documents. It is safe for concurrent use.
type Sink struct {
	// Merge keeps the fields of a document in the index that the new one lacks. Set it before the first Add.
	Merge     bool
	Completed atomic.Int64
	LastKey   atomic.Pointer[string] // of a document that was completed

	sender  *bufferedsender.BufferedSender[struct{}]
	give    context.Context // ends when the service is gone for too long
	giveUp  context.CancelCauseFunc
	watcher sync.WaitGroup

	mu       sync.Mutex // guards the following
	failed   int64
	examples []string
	last     error // of a document that was not sent
}

const mostExamples = 3

// Open returns a sink for the index of a client. ctx ends it.
func Open(ctx context.Context, client bufferedsender.Indexer, inFlight int, patience time.Duration) (*Sink, error) {
	sender, err := bufferedsender.New(client, &bufferedsender.Options[struct{}]{
		Documents: bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }}, // which comes with each document
		Limits:    bufferedsender.Limits{MaxInFlight: inFlight, MaxBufferedBytes: int64(8+inFlight) * 4 << 20, MaxBatchBytes: 4 << 20},
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	s := &Sink{sender: sender}
	s.give, s.giveUp = context.WithCancelCause(ctx)
	s.watcher.Go(func() { s.watch(patience) })
	return s, nil
}

// watch gives up when the service is gone for too long.
func (s *Sink) watch(patience time.Duration) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	wait := Patience{For: patience}
	for {
		select {
		case <-s.give.Done():
			return
		case now := <-tick.C:
			if err := wait.Over(now, s.sender); err != nil {
				s.giveUp(err)
			}
		}
	}
}

// Patience is how long a service may be gone, or ask to wait, while nothing is settled.
type Patience struct {
	For time.Duration

	since   time.Time
	settled int64
}

// Over returns an error when that is over. It is asked about once a second.
func (p *Patience) Over(now time.Time, sender *bufferedsender.BufferedSender[struct{}]) error {
	stats, held, before := sender.Stats(), sender.Health().Err, p.settled
	p.settled = stats.Completed + stats.Failed
	switch {
	case p.settled > before, stats.PendingActions == 0:
		p.since = time.Time{}
	case held == nil: // perhaps for the moment between two waits that the service asks for
	case p.since.IsZero():
		p.since = now
	case now.Sub(p.since) >= p.For:
		return exit.With(exit.Service, fmt.Errorf("gave up after %v: %w", p.For, held))
	}
	return nil
}

// Of says which document an error of sending or converting it is about, unless it is about the service.
func Of(key string, err error) error {
	if err == nil || exit.Code(err) != exit.Usage || errors.Is(err, context.Canceled) {
		return err
	}
	return exit.With(exit.Incomplete, fmt.Errorf("document %q: %w", key, err))
}

// Add uploads a document, which it copies. It waits for room. done runs when it is completed, and not otherwise; it may
// be nil.
func (s *Sink) Add(key string, document json.RawMessage, done func()) error {
	action := models.ActionTypeUpload
	if s.Merge {
		action = models.ActionTypeMergeOrUpload
	}
	err := s.sender.Raw().Add(s.give, models.RawAction{Key: key, Type: action, Document: document, OnOutcome: func(o models.Outcome) {
		if !o.Completed() {
			s.fail(o.Key, o.Err)
			return
		}
		s.Completed.Add(1)
		s.LastKey.Store(&o.Key)
		if done != nil {
			done()
		}
	}})
	if refused := (*bufferedsender.AddError)(nil); errors.As(err, &refused) && refused.Rejected() {
		s.fail(key, refused.Err)
		return nil
	}
	if err != nil && s.give.Err() != nil {
		return exit.With(exit.Service, context.Cause(s.give))
	}
	return err
}

// Part is documents that are settled together.
type Part struct {
	sink *Sink
	open atomic.Int64 // documents, and one until End
	done func()
}

// Part returns a part of the documents. done runs when all of them are completed, and not otherwise.
func (s *Sink) Part(done func()) *Part {
	p := &Part{sink: s, done: done}
	p.open.Store(1)
	return p
}

// Add is Sink.Add.
func (p *Part) Add(key string, document json.RawMessage, done func()) error {
	p.open.Add(1)
	return p.sink.Add(key, document, func() {
		if done != nil {
			done()
		}
		p.End()
	})
}

// End says that no more documents come.
func (p *Part) End() {
	if p.open.Add(-1) == 0 {
		p.done()
	}
}

func (s *Sink) fail(key string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed++
	if s.last = err; len(s.examples) < mostExamples {
		s.examples = append(s.examples, fmt.Sprintf("%q: %v", key, err))
	}
}

// Close waits until everything is sent, unless ctx has ended or the service is gone. The error says which documents are
// not in the index.
func (s *Sink) Close() error {
	flushed := s.sender.Flush(s.give, nil)
	closed := s.sender.Close(s.give)
	if said := (*bufferedsender.CloseError)(nil); errors.As(closed, &said) {
		closed = nil // each document has said how it ended
	}
	cause := context.Cause(s.give)
	s.giveUp(nil)
	s.watcher.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case cause != nil:
		return exit.With(exit.Service, cause)
	case s.failed > 0:
		return exit.With(exit.Incomplete, fmt.Errorf("%s documents are not in the index, such as %s", humanize.Comma(s.failed), s.examples))
	}
	return errors.Join(flushed, closed)
}
