package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

// keyEnd is the outcome of a key.
type keyEnd uint8

const (
	keyUnsent keyEnd = iota
	keyChanged
	keyWaits // its delete is in the sender
	keyDeleted
	keyFailed
)

// deleteBatch is a set of keys that are held, looked up and deleted together.
type deleteBatch struct {
	keys []string      // sorted
	done chan struct{} // closed when work has returned
	err  error         // of work; read when done is closed

	mu       sync.Mutex // guards the following: outcomes come on goroutines of the sender
	ends     []keyEnd   // by key
	waiting  int        // keys that are keyWaits
	settled  chan struct{}
	unknown  int64 // those of the failed and unsent
	failures []DeleteFailure
}

func newDeleteBatch(keys []string) *deleteBatch {
	return &deleteBatch{keys: keys, done: make(chan struct{}), settled: make(chan struct{}), ends: make([]keyEnd, len(keys))}
}

// errHeldBack means that sending was suspended or paused while the keys were held.
var errHeldBack = errors.New("sending is suspended or paused")

// deleteGrace is how long requests under way are awaited after ctx has ended.
const deleteGrace = 5 * time.Second

// work deletes the keys that still match. An error of it stops the other batches. ctx is the caller's; run also ends
// when another batch has failed.
func (b *deleteBatch) work(ctx, run context.Context, index Index, to Sender, pause time.Duration, turns chan struct{}) error {
	turn := false
	defer func() {
		if turn {
			<-turns
		}
	}()
	for {
		probe, err := b.mayBegin(run, to, turns)
		if err != nil {
			return err
		}
		err = to.HoldKeys(run, b.keys, func(_ context.Context, add func(actions ...models.RawAction) error) error {
			// By now all earlier writes of this sender to the keys are confirmed; after the pause the index shows them.
			if err := sleep.For(run, pause); err != nil {
				return err
			}
			if turn, err = b.takeTurn(run, to, turns, probe); err != nil {
				return err
			}
			return b.handOver(ctx, run, index, add)
		})
		if errors.Is(err, errHeldBack) {
			continue
		}
		if err != nil {
			return err
		}
		return b.await(ctx, to)
	}
}

// probeAfter is the time without sending after which a further batch begins as a probe, if batches of this call wait in
// the sender.
const probeAfter = time.Minute

// mayBegin waits while sending is suspended or paused. After many rejections in a row a sender waits for a document
// that the service accepts, to distinguish bad documents from a bad index. If only this deletion writes, that document
// must come from another batch: the probe.
func (b *deleteBatch) mayBegin(ctx context.Context, to Sender, turns chan struct{}) (probe bool, err error) {
	began := time.Now()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		info := to.Info()
		switch {
		case info.Closed:
			return false, errors.New("the sender was closed")
		case info.Held == nil:
			return false, ctx.Err()
		case len(turns) > 0 && time.Since(began) >= probeAfter:
			return true, ctx.Err()
		}
		if err := sleep.For(ctx, wait); err != nil {
			return false, fmt.Errorf("%w while sending was suspended or paused: %w", err, info.Held)
		}
	}
}

// takeTurn waits for a turn while the keys are held. It gives up if sending stops, which may last, because other
// writers need the keys.
func (b *deleteBatch) takeTurn(ctx context.Context, to Sender, turns chan struct{}, probe bool) (bool, error) {
	held := to.Info().Held != nil
	if held && !probe {
		return false, errHeldBack
	}
	if held {
		select {
		case turns <- struct{}{}:
			return true, nil
		default:
			return false, errHeldBack
		}
	}
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	if to.Info().Held != nil {
		<-turns
		return false, errHeldBack
	}
	return true, nil
}

// handOver looks the keys up, and adds deletes for those that are found.
func (b *deleteBatch) handOver(ctx, run context.Context, index Index, add func(actions ...models.RawAction) error) error {
	reading, cancel := context.WithTimeout(run, heldAtMost)
	rows, err := index.Lookup(reading, b.keys)
	if err == nil { // as in lookupInto
		err = reading.Err()
	}
	cancel()
	if err != nil && reading.Err() == context.DeadlineExceeded && run.Err() == nil {
		err = fmt.Errorf("reading %d held keys took longer than %v: %w", len(b.keys), heldAtMost, err)
	}
	if err != nil {
		return fmt.Errorf("look up keys before a delete: %w", err)
	}
	matches := make([]bool, len(b.keys))
	for i := range rows {
		if at, asked := slices.BinarySearch(b.keys, rows[i].Key); asked {
			matches[at] = true
		}
	}
	// If ctx ends, a delete that is in no request is never sent, even if it is not withdrawn.
	until := func() time.Duration {
		if ctx.Err() != nil {
			return 0
		}
		return 24 * time.Hour
	}
	note := b.note
	var actions []models.RawAction
	b.mu.Lock()
	for i, key := range b.keys {
		b.ends[i] = keyChanged
		if matches[i] {
			b.ends[i] = keyWaits
			actions = append(actions, models.RawAction{Key: key, Type: models.ActionTypeDelete, Tag: b, OnOutcome: note, Until: until})
		}
	}
	b.waiting = len(actions)
	b.mu.Unlock()
	if len(actions) == 0 {
		return nil
	}
	if err = run.Err(); err == nil {
		err = add(actions...)
	}
	if err != nil { // none was accepted
		b.mu.Lock()
		defer b.mu.Unlock()
		for i := range b.ends {
			if b.ends[i] == keyWaits {
				b.ends[i] = keyUnsent
			}
		}
		b.waiting = 0
	}
	return err
}

// note records the outcome of one delete.
func (b *deleteBatch) note(o models.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, ours := slices.BinarySearch(b.keys, o.Key)
	if !ours || b.ends[i] != keyWaits {
		return
	}
	switch {
	case o.Reason == models.ReasonSuperseded:
		b.ends[i] = keyChanged // a newer action replaced the delete
	case o.Completed():
		b.ends[i] = keyDeleted
	case o.Reason == models.ReasonClosed || o.Reason == models.ReasonWithdrawn || o.Reason == models.ReasonPurged:
		b.ends[i] = keyUnsent
	default:
		b.ends[i] = keyFailed
		b.failures = append(b.failures, DeleteFailure{
			Key: o.Key, Reason: o.Reason.String(), Status: o.Status, Unknown: o.Unknown, Message: o.Err.Error(), Err: o.Err,
		})
	}
	if o.Unknown && b.ends[i] != keyDeleted && b.ends[i] != keyChanged {
		b.unknown++
	}
	if b.waiting--; b.waiting == 0 {
		close(b.settled)
	}
}

// await returns when all deletes are settled, or when ctx has ended.
func (b *deleteBatch) await(ctx context.Context, to Sender) error {
	b.mu.Lock()
	waiting := b.waiting
	b.mu.Unlock()
	if waiting == 0 {
		return nil
	}
	// A second hold of the keys makes the sender send the deletes, and waits until they are settled.
	err := to.HoldKeys(ctx, b.keys, func(context.Context, func(actions ...models.RawAction) error) error { return nil })
	if err == nil {
		return nil
	}
	select {
	case <-b.settled: // the sender is closing and has reported all outcomes
		return err
	case <-ctx.Done():
	}
	if w, can := to.(models.Withdrawer); can {
		// Withdraw blocks until the requests under way have ended.
		go w.Withdraw(func(_ string, tag any) bool { return tag == b })
	}
	t := time.NewTimer(deleteGrace)
	defer t.Stop()
	select {
	case <-b.settled:
	case <-t.C:
	}
	return err
}

func (b *deleteBatch) sortFailures() {
	slices.SortFunc(b.failures, func(x, y DeleteFailure) int { return cmp.Compare(x.Key, y.Key) })
}
