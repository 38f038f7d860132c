// Package trial is for azsearch bench: it finds out how many documents a request should have, and how many requests
// should be under way, for one service and one kind of documents.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// Setting is a pair of limits to be measured.
type Setting struct {
	Batch    int `json:"maxBatchActions"`
	InFlight int `json:"maxInFlight"`
}

// Run is the outcome of a setting.
type Run struct {
	Setting
	Documents int64         `json:"documents"` // that were confirmed
	Rate      float64       `json:"documentsPerSecond"`
	Retries   int64         `json:"retries"` // documents that were sent again
	Reply     time.Duration `json:"medianReply"`
}

var batches = []int{100, 300, 1000, 3000, 10_000}

const (
	firstInFlight = 4
	mostInFlight  = 64
	// Runs is how many settings Find tries at most.
	Runs = 9 // the batches, then 8, 16, 32 and 64 in flight, or 8, 2 and 1

	enough      = 0.95 // of the highest rate; a smaller setting that reaches it is better
	mostAtOnce  = 128 << 20
	usualBuffer = 32_768 // Limits.MaxBufferedActions where it is not said
)

// Find tries settings, and returns the runs and the smallest setting that is about as fast as any. Documents have size
// bytes.
func Find(size int, measure func(Setting) (Run, error)) (runs []Run, best Run, err error) {
	try := func(s Setting) bool {
		if s.Batch*s.InFlight*size > mostAtOnce {
			return false
		}
		var r Run
		if r, err = measure(s); err != nil {
			return false
		}
		runs = append(runs, r)
		if r.Rate > best.Rate {
			best = r
		}
		return true
	}
	for _, n := range batches {
		if !try(Setting{n, firstInFlight}) && err != nil {
			return runs, best, err
		}
	}
	if best.Rate == 0 {
		return runs, best, errors.New("no document was confirmed in time: give it more with -for")
	}
	batch := smallest(runs, best).Batch
	for n := 2 * firstInFlight; n <= mostInFlight; n *= 2 {
		before := best.Rate
		if !try(Setting{batch, n}) || best.Rate*enough < before {
			break
		}
	}
	if err == nil && best.InFlight <= firstInFlight {
		for n := firstInFlight / 2; n > 0 && try(Setting{batch, n}) && runs[len(runs)-1].Rate >= best.Rate*enough; n /= 2 {
		}
	}
	if err != nil {
		return runs, best, err
	}
	return runs, smallest(runs, best), nil
}

// smallest returns the run with the fewest requests at once that is about as fast as the best, and of these the one
// with the smallest batches.
func smallest(runs []Run, best Run) Run {
	least := best.Rate * enough
	for _, r := range runs {
		if r.Rate >= least && (r.InFlight < best.InFlight || r.InFlight == best.InFlight && r.Batch < best.Batch) {
			best = r
		}
	}
	return best
}

// limits are those of a sender for a setting, which its buffer must hold.
func limits(s Setting, size int) bufferedsender.Limits {
	l := bufferedsender.Limits{MaxBatchActions: s.Batch, MaxInFlight: s.InFlight}
	if n := 2 * s.Batch * s.InFlight; n > max(usualBuffer, 4*s.Batch) {
		l.MaxBufferedActions = n
	}
	if n := int64(2 * s.Batch * s.InFlight * size); n > 64<<20 {
		l.MaxBufferedBytes = n
	}
	return l
}

// Options are those of a setting as Go, to be pasted.
func Options(s Setting, size int) string {
	l := limits(s, size)
	fields := []string{fmt.Sprintf("MaxBatchActions: %d", l.MaxBatchActions), fmt.Sprintf("MaxInFlight: %d", l.MaxInFlight)}
	if l.MaxBufferedActions > 0 {
		fields = append(fields, fmt.Sprintf("MaxBufferedActions: %d", l.MaxBufferedActions))
	}
	if l.MaxBufferedBytes > 0 {
		fields = append(fields, fmt.Sprintf("MaxBufferedBytes: %d", l.MaxBufferedBytes))
	}
	return "&bufferedsender.Options[Document]{\n\tLimits: bufferedsender.Limits{" + strings.Join(fields, ", ") + "},\n}"
}

// timed measures requests.
type timed struct {
	bufferedsender.Indexer
	mu   sync.Mutex
	took []time.Duration
}

func (t *timed) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	began := time.Now()
	result, err := t.Indexer.IndexDocumentsRaw(ctx, body)
	if err == nil {
		t.mu.Lock()
		t.took = append(t.took, time.Since(began))
		t.mu.Unlock()
	}
	return result, err
}

func (t *timed) median() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[len(t.took)/2].Round(time.Millisecond)
}

// counted are the documents of a run.
type counted struct {
	mu      sync.Mutex // guards the following
	n       int64
	last    time.Time
	refused error
	ended   bool
}

func (c *counted) settled(o models.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
	case o.Completed():
		c.n, c.last = c.n+1, time.Now()
	case c.refused == nil:
		c.refused = o.Err
	}
}

// addAtOnce is how many documents one adding call has.
const addAtOnce = 100

// Measure sends documents by a setting for a time.
func Measure(ctx context.Context, to bufferedsender.Indexer, d *Documents, s Setting, duration time.Duration) (Run, error) {
	t := &timed{Indexer: to}
	sender, err := bufferedsender.New(t, &bufferedsender.Options[struct{}]{
		Documents: bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }}, // which comes with each document
		Limits:    limits(s, d.Size), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return Run{}, err
	}
	limited, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var c counted
	began := time.Now()
	actions := make([]models.RawAction, addAtOnce)
	for err == nil {
		for i := range actions {
			actions[i] = d.next()
			actions[i].OnOutcome = c.settled
		}
		err = sender.Raw().Add(limited, actions...)
	}
	held := sender.Raw().Info().Held
	c.mu.Lock()
	c.ended = true
	r := Run{Setting: s, Documents: c.n, Retries: sender.Stats().Retries, Reply: t.median()}
	if c.n > 0 {
		r.Rate = float64(c.n) / c.last.Sub(began).Seconds()
	}
	refused := c.refused
	c.mu.Unlock()
	_ = sender.Close(limited) // what is not sent by now is not wanted
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case refused != nil:
		return r, fmt.Errorf("documents are refused: %w", refused)
	case limited.Err() == nil:
		return r, err
	case r.Documents == 0 && held != nil:
		return r, held
	}
	return r, nil
}
