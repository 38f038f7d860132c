package queuelab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
)

// ModelQueue is a queue.Queue with all optional interfaces, based on a Model. It is slow, because the model scans all
// keys in each call.
type ModelQueue struct {
	*modelStorage
	closed   bool // under mu
	watchers []int
}

// modelStorage is the part shared by several objects.
type modelStorage struct {
	now func() time.Time

	mu     sync.Mutex
	model  *Model
	wakes  map[int]func()
	nextID int
	timer  *time.Timer // while there are watchers
}

var (
	_ queue.Queue      = (*ModelQueue)(nil)
	_ queue.Admin      = (*ModelQueue)(nil)
	_ queue.Membership = (*ModelQueue)(nil)
	_ queue.Exchanger  = (*ModelQueue)(nil)
	_ queue.Faulty     = (*ModelQueue)(nil)
)

// NewModelQueue returns an empty queue with the clock now and the bounds of c.
func NewModelQueue(now func() time.Time, c queuetest.Config) *ModelQueue {
	m := NewModel()
	m.MaxKeys, m.MaxBytes = c.MaxKeys, c.MaxBytes
	return &ModelQueue{modelStorage: &modelStorage{now: now, model: m, wakes: map[int]func(){}}}
}

// Fault implements queue.Faulty.
func (q *ModelQueue) Fault() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.model.Fault()
}

// Second returns another object on the same storage.
func (q *ModelQueue) Second() *ModelQueue { return &ModelQueue{modelStorage: q.modelStorage} }

// call runs f on the model, unless the queue is closed or ctx has ended.
func (q *ModelQueue) call(ctx context.Context, f func(m *Model, now time.Time) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return fmt.Errorf("model: %w", queue.ErrClosed)
	}
	err := f(q.model, q.now())
	q.schedule()
	var wakes []func()
	for _, wake := range q.wakes {
		wakes = append(wakes, wake)
	}
	q.mu.Unlock()
	for _, wake := range wakes { // after each call, sometimes for nothing
		wake()
	}
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// schedule schedules a wake-up for the end of the next lease or delay. The caller holds mu.
func (q *modelStorage) schedule() {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	if len(q.wakes) == 0 {
		return
	}
	now := q.now()
	var next time.Time
	soon := func(at time.Time) {
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, e := range q.model.keys {
		if len(e.leased) > 0 {
			soon(e.until)
		}
		soon(e.due)
		soon(e.uncertain)
	}
	soon(q.model.alone)
	if !next.IsZero() {
		q.timer = time.AfterFunc(next.Sub(now), func() {
			_ = (&ModelQueue{modelStorage: q}).call(context.Background(), func(m *Model, now time.Time) error {
				m.endLeases(now)
				return nil
			})
		})
	}
}

// Append implements queue.Queue.
func (q *ModelQueue) Append(ctx context.Context, c queue.Call) (receipt queue.Receipt, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		receipt, err = m.Append(now, c)
		return err
	})
	return receipt, err
}

// Reserve implements queue.Queue.
func (q *ModelQueue) Reserve(ctx context.Context, want queue.Want) (leases []queue.Lease, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		leases, err = m.Reserve(now, want)
		return err
	})
	return leases, err
}

// Settle implements queue.Queue.
func (q *ModelQueue) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		stale, err = m.Settle(now, ends...)
		return err
	})
	return stale, q.unsettled(err, ends), err
}

// unsettled returns the leases for which the result is unknown: all of them after an error.
func (*ModelQueue) unsettled(err error, ends []queue.End) (failed []queue.Lease) {
	if err != nil {
		for _, e := range ends {
			failed = append(failed, e.Lease)
		}
	}
	return failed
}

// Exchange implements queue.Exchanger.
func (q *ModelQueue) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		leases, stale, err = m.Exchange(now, want, ends...)
		return err
	})
	return leases, stale, q.unsettled(err, ends), err
}

// Extend implements queue.Queue.
func (q *ModelQueue) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) (lost []queue.Lease, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		lost, err = m.Extend(now, d, leases...)
		return err
	})
	return lost, err
}

// Settled implements queue.Queue.
func (q *ModelQueue) Settled(ctx context.Context, at queue.Position) (settled bool, err error) {
	err = q.call(ctx, func(m *Model, _ time.Time) error {
		settled, err = m.Settled(at)
		return err
	})
	return settled, err
}

// Stats implements queue.Queue.
func (q *ModelQueue) Stats(ctx context.Context) (s queue.Stats, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		s = m.Stats(now)
		return nil
	})
	return s, err
}

// Watch implements queue.Queue.
func (q *ModelQueue) Watch(wake func()) (stop func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return func() {}
	}
	q.nextID++
	id := q.nextID
	q.watchers = append(q.watchers, id)
	// mu serializes wake and stop, so that wake is not called after stop has returned.
	var mu sync.Mutex
	stopped := false
	q.wakes[id] = func() {
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			wake()
		}
	}
	q.schedule()
	return func() {
		q.mu.Lock()
		delete(q.wakes, id)
		q.schedule()
		q.mu.Unlock()
		mu.Lock()
		stopped = true
		mu.Unlock()
	}
}

// Close implements queue.Queue.
func (q *ModelQueue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, id := range q.watchers {
		delete(q.wakes, id)
	}
	q.schedule()
	return nil
}

// Inspect implements queue.Admin.
func (q *ModelQueue) Inspect(ctx context.Context, what queue.Inspection) (entries []queue.Entry, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		entries = m.Inspect(now, what)
		return nil
	})
	return entries, err
}

// Park implements queue.Admin.
func (q *ModelQueue) Park(ctx context.Context, reason string, keys ...string) (n int, err error) {
	return q.count(ctx, func(m *Model, now time.Time) int { return m.Park(now, reason, keys...) })
}

// Unpark implements queue.Admin.
func (q *ModelQueue) Unpark(ctx context.Context, keys ...string) (n int, err error) {
	return q.count(ctx, func(m *Model, now time.Time) int { return m.Unpark(now, keys...) })
}

// Drop implements queue.Admin.
func (q *ModelQueue) Drop(ctx context.Context, keys ...string) (n int, err error) {
	return q.count(ctx, func(m *Model, now time.Time) int { return m.Drop(now, keys...) })
}

func (q *ModelQueue) count(ctx context.Context, f func(*Model, time.Time) int) (n int, err error) {
	err = q.call(ctx, func(m *Model, now time.Time) error {
		n = f(m, now)
		return nil
	})
	return n, err
}

// Pause implements queue.Admin.
func (q *ModelQueue) Pause(ctx context.Context, reason string) error {
	return q.call(ctx, func(m *Model, _ time.Time) error {
		m.Pause(reason)
		return nil
	})
}

// Resume implements queue.Admin.
func (q *ModelQueue) Resume(ctx context.Context) error {
	return q.call(ctx, func(m *Model, _ time.Time) error {
		m.Resume()
		return nil
	})
}

// Destroy implements queue.Admin.
func (q *ModelQueue) Destroy(ctx context.Context) error {
	err := q.call(ctx, func(m *Model, _ time.Time) error {
		*m = *NewModel()
		return nil
	})
	return errors.Join(err, q.Close())
}

// Contains implements queue.Membership.
func (q *ModelQueue) Contains(ctx context.Context, keys ...string) (found []bool, err error) {
	err = q.call(ctx, func(m *Model, _ time.Time) error {
		found = m.Contains(keys...)
		return nil
	})
	return found, err
}
