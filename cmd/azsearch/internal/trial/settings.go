// Package trial implements azsearch bench: it measures which batch size and number of concurrent requests suit a
// service and its documents.
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

// Setting is a pair of limits to measure.
type Setting struct {
	Batch    int `json:"maxBatchActions"`
	InFlight int `json:"maxInFlight"`
}

// Run is the result of measuring a setting.
type Run struct {
	Setting
	Documents int64         `json:"documents"` // confirmed ones
	Rate      float64       `json:"documentsPerSecond"`
	Retries   int64         `json:"retries"` // documents sent again
	Reply     time.Duration `json:"medianReply"`
}

var batches = []int{100, 300, 1000, 3000, 10_000}

const (
	firstInFlight = 4
	mostInFlight  = 64
	// Runs is the maximum number of settings that Find tries.
	Runs = 9 // the batches, then 8, 16, 32 and 64 in flight, or 8, 2 and 1

	enough      = 0.95 // share of the highest rate at which a smaller setting is preferred
	mostAtOnce  = 128 << 20
	usualBuffer = 32_768 // default of Limits.MaxBufferedActions
)

// Find measures settings, and returns all runs and the smallest setting that is about as fast as the fastest. size
// is the mean size of a document in bytes.
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
		return runs, best, errors.New("no document was confirmed in time: increase -for")
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

// smallest returns, of the runs about as fast as best, the one with the fewest concurrent requests, and of these the
// one with the smallest batches.
func smallest(runs []Run, best Run) Run {
	least := best.Rate * enough
	for _, r := range runs {
		if r.Rate >= least && (r.InFlight < best.InFlight || r.InFlight == best.InFlight && r.Batch < best.Batch) {
			best = r
		}
	}
	return best
}

// limits returns the limits of a sender for a setting, with a buffer large enough for it.
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

// Options returns the Go code of the sender options for a setting.
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

// timed measures the duration of successful requests.
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

// counted counts the completed documents of a run.
type counted struct {
	mu      sync.Mutex // guards the fields below
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

// addAtOnce is the number of documents per adding call.
const addAtOnce = 100

// Measure sends documents with a setting for a duration, and returns the rate of completed documents.
func Measure(ctx context.Context, to bufferedsender.Indexer, d *Documents, s Setting, duration time.Duration) (Run, error) {
	t := &timed{Indexer: to}
	sender, err := bufferedsender.New(t, &bufferedsender.Options[struct{}]{
		Documents: bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }}, // each action carries its key
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
	_ = sender.Close(limited) // unsent documents do not matter
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
