// Package sink uploads documents of another index or backup, accounts for each, and gives up if the service is
// unavailable for too long.
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

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/models"
)

// Sink uploads documents. It is safe for concurrent use.
type Sink struct {
	Completed atomic.Int64
	LastKey   atomic.Pointer[string] // of the last completed document

	sender  *bufferedsender.BufferedSender[struct{}]
	give    context.Context // ends with ctx, or when the service is unavailable for too long
	giveUp  context.CancelCauseFunc
	watcher sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	failed   int64
	examples []string
	last     error // error of the last document that failed
}

const mostExamples = 3

// Open returns a sink for the index of client, with up to inFlight concurrent requests: fewer while the service is busy
// or slower than before. When ctx ends, the sink gives up.
func Open(ctx context.Context, client bufferedsender.Indexer, inFlight int, patience time.Duration) (*Sink, error) {
	sender, err := bufferedsender.New(client, &bufferedsender.Options[struct{}]{
		Documents: bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }}, // each action carries its key
		Limits:    bufferedsender.Limits{MaxInFlight: inFlight, MaxBufferedBytes: int64(8+inFlight) * 2 << 20, MaxBatchBytes: UsualBatch},
		Tuning:    tuning.Adaptive(nil),
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

// watch calls giveUp if the service is unavailable longer than patience.
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

// Patience detects that nothing was settled for a duration while the service is unavailable or asks to wait.
type Patience struct {
	For time.Duration

	since   time.Time
	settled int64
}

// Over returns an error if the duration has passed. It must be called about once a second.
func (p *Patience) Over(now time.Time, sender *bufferedsender.BufferedSender[struct{}]) error {
	stats, held, before := sender.Stats(), sender.Health().Err, p.settled
	p.settled = stats.Completed + stats.Failed
	switch {
	case p.settled > before, stats.PendingActions == 0:
		p.since = time.Time{}
	case held == nil: // may be a short gap between two waits that the service asks for
	case p.since.IsZero():
		p.since = now
	case now.Sub(p.since) >= p.For:
		return exit.With(exit.Service, fmt.Errorf("gave up after %v: %w", p.For, held))
	}
	return nil
}

// Of adds the key of the document to an error of sending or converting it. Errors of the service stay as they are.
func Of(key string, err error) error {
	if err == nil || exit.Code(err) != exit.Usage || errors.Is(err, context.Canceled) {
		return err
	}
	return exit.With(exit.Incomplete, fmt.Errorf("document %q: %w", key, err))
}

// UsualBatch is the size of requests in bytes. With larger ones fewer are in flight, for the same memory.
const UsualBatch = 4 << 20

// serviceBatch is the largest size of a request that the service takes, in bytes.
const serviceBatch = 16_000_000

// Enlarged raises the size of the requests of a sender to that of the service, if err says that a document is too large
// for the usual one and fits then. It reports whether it did: add the document again.
func Enlarged(sender *bufferedsender.BufferedSender[struct{}], err error) bool {
	var large *bufferedsender.DocumentTooLargeError
	if !errors.As(err, &large) || large.Limit >= serviceBatch || large.Size > serviceBatch {
		return false
	}
	_, err = sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchBytes: serviceBatch}})
	return err == nil
}

// Add uploads a copy of a document. It blocks while the buffer is full. done is called only if the document
// completes; it may be nil.
func (s *Sink) Add(key string, document json.RawMessage, done func()) error {
	raw := models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document, OnOutcome: func(o models.Outcome) {
		if !o.Completed() {
			s.fail(o.Key, o.Err)
			return
		}
		s.Completed.Add(1)
		s.LastKey.Store(&o.Key)
		if done != nil {
			done()
		}
	}}
	err := s.sender.Raw().Add(s.give, raw)
	if Enlarged(s.sender, err) {
		err = s.sender.Raw().Add(s.give, raw)
	}
	if refused := (*bufferedsender.AddError)(nil); errors.As(err, &refused) && refused.Rejected() {
		s.fail(key, refused.Err)
		return nil
	}
	if err != nil && s.give.Err() != nil {
		return exit.With(exit.Service, context.Cause(s.give))
	}
	return err
}

// Part is a group of documents whose completion is reported once.
type Part struct {
	sink *Sink
	open atomic.Int64 // documents in progress, plus one until End
	done func()
}

// Part returns a new Part. done is called only if all its documents complete.
func (s *Sink) Part(done func()) *Part {
	p := &Part{sink: s, done: done}
	p.open.Store(1)
	return p
}

// Add is Sink.Add for a document of the part.
func (p *Part) Add(key string, document json.RawMessage, done func()) error {
	p.open.Add(1)
	return p.sink.Add(key, document, func() {
		if done != nil {
			done()
		}
		p.End()
	})
}

// End marks the part as having all its documents. Call it once.
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

// Close waits until all documents are sent, ctx has ended, or the service is unavailable for too long. The error
// names the first documents that are not in the index.
func (s *Sink) Close() error {
	flushed := s.sender.Flush(s.give, nil)
	closed := s.sender.Close(s.give)
	if said := (*bufferedsender.CloseError)(nil); errors.As(closed, &said) {
		closed = nil // the outcome of each document was reported
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
		return exit.With(exit.Incomplete, fmt.Errorf("not in the index: %s, such as %s", amount.Of(s.failed, "document"), s.examples))
	}
	return errors.Join(flushed, closed)
}
