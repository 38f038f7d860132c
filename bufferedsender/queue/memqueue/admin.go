package memqueue

import (
	"context"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
)

// Inspect implements queue.Admin.
func (q *Queue) Inspect(ctx context.Context, what queue.Inspection) ([]queue.Entry, error) {
	now, err := q.begin(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer q.end(false)
	if what.Limit <= 0 {
		what.Limit = 100
	}
	var entries []queue.Entry
	for _, found := range q.book.Inspect(now, what.States, what.Keys, what.Limit) {
		e := found.Entry
		e.Waiting, e.Leased, e.Parked = shown(&what, found.Waits), shown(&what, found.Held), shown(&what, found.Aside)
		for _, recs := range [][]queue.Record{e.Waiting, e.Leased, e.Parked} {
			if len(recs) > 0 {
				e.Key = recs[0].Key
			}
		}
		if found.Gone != nil {
			e.Replaced = &shown(&what, []book.Rec[*record]{*found.Gone})[0]
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// shown copies records for the caller of Inspect, nil if there are none.
func shown(what *queue.Inspection, recs []book.Rec[*record]) []queue.Record {
	if len(recs) == 0 {
		return nil
	}
	records := out(recs)
	for i := range records {
		if !what.Bodies {
			records[i].Body = nil
		}
	}
	return records
}

// Park implements queue.Admin.
func (q *Queue) Park(ctx context.Context, reason string, keys ...string) (int, error) {
	return q.change(ctx, func(now time.Time) int { return q.book.Park(now, reason, keys) })
}

// Unpark implements queue.Admin.
func (q *Queue) Unpark(ctx context.Context, keys ...string) (int, error) {
	return q.change(ctx, func(now time.Time) int { return q.book.Unpark(now, keys) })
}

// Drop implements queue.Admin.
func (q *Queue) Drop(ctx context.Context, keys ...string) (int, error) {
	return q.change(ctx, func(now time.Time) int { return q.book.Drop(now, keys) })
}

// Pause implements queue.Admin.
func (q *Queue) Pause(ctx context.Context, reason string) error {
	_, err := q.change(ctx, func(time.Time) int { q.book.Pause(reason); return 0 })
	return err
}

// Resume implements queue.Admin.
func (q *Queue) Resume(ctx context.Context) error {
	_, err := q.change(ctx, func(time.Time) int { q.book.Resume(); return 0 })
	return err
}

func (q *Queue) change(ctx context.Context, do func(now time.Time) int) (int, error) {
	now, err := q.begin(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer q.end(true)
	return do(now), nil
}

// Destroy implements queue.Admin.
func (q *Queue) Destroy(ctx context.Context) error {
	if _, err := q.begin(ctx, nil); err != nil {
		return err
	}
	q.book = book.New[*record](time.Now())
	q.mu.Unlock()
	return q.Close()
}

// Contains implements queue.Membership.
func (q *Queue) Contains(ctx context.Context, keys ...string) ([]bool, error) {
	if _, err := q.begin(ctx, nil); err != nil {
		return nil, err
	}
	defer q.end(false)
	in := make([]bool, len(keys))
	for i, key := range keys {
		in[i] = q.book.Contains(key)
	}
	return in, nil
}
