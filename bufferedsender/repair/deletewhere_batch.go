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

// keyEnd is what became of a key.
type keyEnd uint8

const (
	keyUnsent keyEnd = iota
	keyChanged
	keyWaits // its delete is in the sender
	keyDeleted
	keyFailed
)

// deleteBatch are keys that are held, looked up and deleted together.
type deleteBatch struct {
	keys []string      // sorted
	done chan struct{} // closed when work has returned
	err  error         // of work; read when done is closed

	mu       sync.Mutex // guards what follows: outcomes come on the sender's goroutines
	ends     []keyEnd   // of each key
	waiting  int        // keys that are keyWaits
	settled  chan struct{}
	unknown  int64 // of those that failed or were not sent
	failures []DeleteFailure
}

func newDeleteBatch(keys []string) *deleteBatch {
	return &deleteBatch{keys: keys, done: make(chan struct{}), settled: make(chan struct{}), ends: make([]keyEnd, len(keys))}
}

// errHeldBack says that the sender was held back while the keys were held.
var errHeldBack = errors.New("the sender is held back")

// deleteGrace is how long requests under way are waited for when ctx has ended.
const deleteGrace = 5 * time.Second

// work deletes what still matches. Its error stops the others; run ends when one has, and ctx with the caller's
// patience.
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
			// What this sender has written of the keys is confirmed by now, and after the pause the index shows it.
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

// probeAfter is how long the sender must have been held back for a batch to begin all the same, if others are in it.
const probeAfter = time.Minute

// mayBegin waits while the sender's breaker is open, or it is paused. A sender that meets many refusals in a row
// waits for a document that the service takes, to know whether it is the documents or the index. Nobody but this
// deletion may have one: so if what it waits with is of this deletion, another batch is a probe after a while.
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
			return false, fmt.Errorf("%w, while the sender was held back: %w", err, info.Held)
		}
	}
}

// takeTurn waits for a turn, while the keys are held. It gives up when the sender is held back, because others need the
// keys, and it may take long.
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
	rows, err := index.Lookup(run, b.keys)
	if err != nil {
		return fmt.Errorf("the lookup just before a delete: %w", err)
	}
	matches := make([]bool, len(b.keys))
	for i := range rows {
		if at, asked := slices.BinarySearch(b.keys, rows[i].Key); asked {
			matches[at] = true
		}
	}
	// A delete that is in no request when ctx ends is never sent, also if nobody takes it back.
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
	if err != nil { // none of them was accepted
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

// note is called with the outcome of each delete.
func (b *deleteBatch) note(o models.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, ours := slices.BinarySearch(b.keys, o.Key)
	if !ours || b.ends[i] != keyWaits {
		return
	}
	switch {
	case o.Reason == models.ReasonSuperseded:
		b.ends[i] = keyChanged // something newer is there
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

// await has the deletes sent, and returns when all of them have ended, or ctx.
func (b *deleteBatch) await(ctx context.Context, to Sender) error {
	b.mu.Lock()
	waiting := b.waiting
	b.mu.Unlock()
	if waiting == 0 {
		return nil
	}
	// Another hold of the keys is what has them sent if nothing else does, and waits until they are settled.
	err := to.HoldKeys(ctx, b.keys, func(context.Context, func(actions ...models.RawAction) error) error { return nil })
	if err == nil {
		return nil
	}
	select {
	case <-b.settled: // the sender is closing, and has said what became of them
		return err
	case <-ctx.Done():
	}
	if w, can := to.(models.Withdrawer); can {
		// It waits for the requests under way, as long as these take, and ends with them.
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
