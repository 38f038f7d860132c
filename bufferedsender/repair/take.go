package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

const (
	keysAtOnce  = 100 // keys taken together
	takesAtOnce = 8   // takes at the same time
)

// repair acts on confirmed differences, some keys at a time, and returns when all outcomes are known. Keys that the
// source no longer has are deleted if deletes is set, and otherwise noted as surplus.
func (p *pass) repair(ctx context.Context, t *task, all []difference, deletes bool) error {
	var group sync.WaitGroup
	for part := range slices.Chunk(all, keysAtOnce) {
		if err := p.ready(ctx, len(part)); err != nil {
			t.fail(err)
			break
		}
		select {
		case p.takes <- struct{}{}:
		case <-ctx.Done():
			t.fail(ctx.Err())
			continue
		}
		group.Go(func() {
			defer func() { <-p.takes }()
			if err := p.take(ctx, t, part, deletes); err != nil {
				t.fail(err)
			}
		})
	}
	group.Wait()
	t.at = time.Now()
	return t.failed()
}

// ready waits while the sender is suspended or paused, and then throttles for n keys.
func (p *pass) ready(ctx context.Context, n int) error {
	if p.to == nil {
		return ctx.Err()
	}
	for {
		info := p.to.Info()
		switch {
		case info.Closed:
			return errors.New("the sender is closed")
		case n == 0:
			return ctx.Err()
		case info.Held == nil || p.Mark != nil: // key by key, because the load of the sender changes
			if err := sleep.For(ctx, waitFor(p.Throttle, info.Pending-int(p.own.Load()))); err != nil {
				return err
			}
			n--
			continue
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return fmt.Errorf("%w while sending was suspended or paused: %w", err, info.Held)
		}
	}
}

// take takes some keys, reads their truth, and adds it to the sender.
func (p *pass) take(ctx context.Context, t *task, part []difference, deletes bool) error {
	keys := keysIn(part)
	if p.Mark != nil {
		// It may wait for room in a queue for any time.
		if _, err := unlimited(ctx, p.guard, "Mark", func(ctx context.Context) (struct{}, error) { return struct{}{}, p.Mark(ctx, keys) }); err != nil {
			return fmt.Errorf("mark keys: %w", err)
		}
		t.add(&t.Marked, len(keys))
		return nil
	}
	p.own.Add(int64(len(keys)))
	defer p.own.Add(-int64(len(keys)))
	ctx, end := context.WithCancel(models.WithClass(ctx, models.ClassBestEffort))
	defer end()
	h := &handed{pass: p, task: t, ended: ctx.Done(), missing: make(map[string]bool)}
	for _, d := range part {
		h.missing[d.key] = d.kind == Missing
	}
	err := p.to.HoldKeys(ctx, keys, func(ctx context.Context, add func(...models.RawAction) error) error {
		reading, cancel := context.WithTimeout(ctx, heldAtMost)
		actions, err := p.truth(reading, t, part, deletes)
		cancel()
		if err != nil && reading.Err() == context.DeadlineExceeded && ctx.Err() == nil {
			err = fmt.Errorf("reading %d held keys took longer than %v: %w", len(keys), heldAtMost, err)
		}
		if err != nil || len(actions) == 0 {
			return err
		}
		return h.add(ctx, actions, add)
	})
	done := make(chan struct{})
	go func() {
		h.outcomes.Wait()
		close(done)
	}()
	if err == nil {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	end()
	if w, can := p.to.(models.Withdrawer); can {
		// Withdraw blocks until the requests under way have ended.
		go w.Withdraw(func(_ string, tag any) bool { return tag == h })
	}
	select { // requests under way may still report an outcome
	case <-done:
	case <-time.After(time.Second):
	}
	return err
}

// handed is the actions of a take. It is the tag of those without one.
type handed struct {
	*pass
	task     *task
	ended    <-chan struct{} // closed when nothing more may be sent
	missing  map[string]bool // keys that the index lacks
	outcomes sync.WaitGroup  // those to come
}

// add adds actions to the sender. One that is refused is counted as rejected.
func (h *handed) add(ctx context.Context, actions []models.RawAction, add func(...models.RawAction) error) error {
	for i := range actions {
		a := &actions[i]
		h.outcomes.Add(1)
		h.made(a).Add(1)
		a.OnOutcome = h.outcome(*a)
		a.Until = h.until(a.Until)
		if a.Tag == nil { // handlers of the sender may read the tags of a source
			a.Tag = h
		}
	}
	refused := add(actions...)
	if refused == nil {
		return nil
	}
	for i, a := range actions { // one is refused, or all because of the sender
		err := refused
		if rejects(refused) {
			err = add(a)
		}
		switch {
		case err == nil:
		case rejects(err):
			h.task.count(Rejected, &h.task.Rejected, a.Key)
			h.task.rejectedNow(a.Key)
			h.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: document cannot be sent", slog.String("key", a.Key), slog.Any("error", err))
			h.unmade(a)
		default:
			h.unmade(actions[i:]...) // no outcome follows
			return err
		}
	}
	return nil
}

// until returns the Until of an action. An action that is in no request when the take ends is never sent, even if it
// is not withdrawn.
func (h *handed) until(before func() time.Duration) func() time.Duration {
	return func() time.Duration {
		select {
		case <-h.ended:
			return 0
		default:
		}
		if before != nil {
			return before()
		}
		return 24 * time.Hour
	}
}

// made returns the counter of an action. It counts what was handed over and is not known to be unmade, because a
// request may outlast the pass.
func (h *handed) made(a *models.RawAction) *atomic.Int64 {
	switch {
	case a.Type == models.ActionTypeDelete:
		return &h.deleted
	case h.missing[a.Key]:
		return new(atomic.Int64) // additions have no bound
	default:
		return &h.overwritten
	}
}

// unmade takes back actions that the sender has not accepted.
func (h *handed) unmade(actions ...models.RawAction) {
	for i := range actions {
		h.made(&actions[i]).Add(-1)
		h.outcomes.Done()
	}
}

// rejects reports whether an error of add concerns the document itself, which would be refused again. Other errors, of
// a closed sender for example, do not.
func rejects(err error) bool {
	var about models.RejectedError
	return errors.As(err, &about) && about.Rejected()
}

// outcome returns a function that counts the outcome of an action.
func (h *handed) outcome(a models.RawAction) func(models.Outcome) {
	t, deletes := h.task, a.Type == models.ActionTypeDelete
	return func(o models.Outcome) {
		defer h.outcomes.Done()
		first := o.Completed() && t.first(o.Key, deletes)
		if !first && !o.Unknown {
			h.made(&a).Add(-1) // or the key was counted before
		}
		switch {
		case o.Completed() && !first:
		case o.Completed() && deletes:
			t.count("", &t.Deleted, "")
		case o.Completed():
			t.count("", &t.Repaired, "")
		case o.Rejected():
			t.count(Rejected, &t.Rejected, o.Key)
			t.rejectedNow(o.Key)
		default:
			t.count("", &t.Failed, "")
		}
		if a.OnOutcome != nil {
			o.Tag = a.Tag
			a.OnOutcome(o)
		}
	}
}
