package filequeue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
)

// Contains implements queue.Membership. It reads nothing from the disk.
func (q *Queue) Contains(ctx context.Context, keys ...string) ([]bool, error) {
	c, err := q.begin(ctx, nil)
	if err != nil {
		return nil, err
	}
	in := make([]bool, len(keys))
	for i, key := range keys {
		in[i] = q.book.Contains(key)
	}
	return in, c.end()
}

// inspectedAtOnce is how many keys Inspect visits without releasing the lock. Between two pieces it sleeps for
// inspectPause. Without the sleep it would get the lock back at once, and on a busy machine hold it while its thread
// waits for a processor.
const (
	inspectedAtOnce = 20_000
	inspectPause    = 100 * time.Microsecond
)

// Inspect implements queue.Admin.
func (q *Queue) Inspect(ctx context.Context, what queue.Inspection) (all []queue.Entry, err error) {
	if what.Limit <= 0 {
		what.Limit = 100
	}
	c, err := q.begin(ctx, nil)
	if err != nil {
		return nil, err
	}
	if keys, _, _ := q.book.Size(); keys <= inspectedAtOnce && len(what.Keys) <= inspectedAtOnce {
		return c.inspected(q.book.Inspect(c.now, what.States, what.Keys, what.Limit), what.Bodies)
	}
	q.book.Advance(c.now)
	s := book.Search{States: what.States, Keys: what.Keys, Limit: what.Limit}
	for more := true; more; {
		more = q.book.See(&s)
		if err = c.end(); err == nil {
			s.Sort() // not under the lock
			time.Sleep(inspectPause)
			c, err = q.begin(ctx, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	for {
		found, more := q.book.Entries(c.now, &s)
		entries, err := c.inspected(found, what.Bodies)
		if all = append(all, entries...); err == nil && !more {
			return all, nil
		}
		if err == nil {
			time.Sleep(inspectPause)
			c, err = q.begin(ctx, nil)
		}
		if err != nil {
			return nil, err
		}
	}
}

// inspected ends the call and reads the records of the entries found.
func (c *call) inspected(found []book.Entry[ref], bodies bool) ([]queue.Entry, error) {
	entries := make([]queue.Entry, len(found))
	for i := range found {
		f, e := &found[i], &entries[i]
		*e = f.Entry
		e.Waiting, e.Leased, e.Parked = c.read.addAll(f.Waits), c.read.addAll(f.Held), c.read.addAll(f.Aside)
		if f.Gone != nil {
			e.Replaced = &c.read.addAll([]book.Rec[ref]{*f.Gone})[0]
		}
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		for _, recs := range [][]queue.Record{e.Waiting, e.Leased, e.Parked} {
			if len(recs) > 0 {
				e.Key = recs[0].Key
			}
			withoutBodies(recs, bodies)
		}
		if e.Replaced != nil && !bodies {
			e.Replaced.Body = nil
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	return entries, nil
}

func withoutBodies(recs []queue.Record, want bool) {
	if want {
		return
	}
	for i := range recs {
		recs[i].Body = nil
	}
}

// Park implements queue.Admin.
func (q *Queue) Park(ctx context.Context, reason string, keys ...string) (int, error) {
	more := func(now time.Time, key string) int { return q.stateSize(now, key) + min(len(reason), maxText) }
	return q.administer(ctx, spends, keys, more, func(now time.Time) int { return q.book.Park(now, reason, keys) })
}

// Unpark implements queue.Admin.
func (q *Queue) Unpark(ctx context.Context, keys ...string) (int, error) {
	return q.administer(ctx, makes, keys, q.stateSize, func(now time.Time) int { return q.book.Unpark(now, keys) })
}

// Drop implements queue.Admin.
func (q *Queue) Drop(ctx context.Context, keys ...string) (int, error) {
	return q.administer(ctx, makes, keys, q.stateSizeDropped, func(now time.Time) int {
		n := q.book.Drop(now, keys)
		if n > 0 {
			q.log.moves = len(q.log.segments) // compaction can regain their room now
		}
		return n
	})
}

// administer changes keys and writes their states. size returns the maximum size of a key's state after the change.
func (q *Queue) administer(ctx context.Context, u use, keys []string, size func(time.Time, string) int, do func(now time.Time) int) (int, error) {
	c, err := q.change(ctx, u, 0, nil)
	for room := 0; err == nil; { // until there is room for the states that the keys get
		need := statesHeader
		for _, key := range keys {
			need += size(c.now, key)
		}
		if need <= room {
			break
		}
		room = need
		if err = c.end(); err == nil {
			c, err = q.change(ctx, u, room, nil)
		}
	}
	if err != nil {
		return 0, err
	}
	n := do(c.now)
	c.wake = n > 0
	if n > 0 {
		err = c.states(keys)
	}
	return n, q.settleDown(ctx, c, err)
}

// states writes the states of keys.
func (c *call) states(keys []string) error {
	s := c.q.newStates()
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		if err := s.add(c.now, key); err != nil {
			c.q.fail(err)
			return c.q.log.failed
		}
	}
	return s.write(c)
}

// settleDown ends a call and syncs its writes.
func (q *Queue) settleDown(ctx context.Context, c *call, err error) error {
	until := q.log.end()
	if err = errors.Join(err, c.end()); err != nil {
		return err
	}
	if err := q.sync(ctx, until); err != nil {
		return fmt.Errorf("filequeue: %w", err)
	}
	return nil
}

// Pause implements queue.Admin.
func (q *Queue) Pause(ctx context.Context, reason string) error {
	return q.globally(ctx, reason, func() { q.book.Pause(reason) })
}

// Resume implements queue.Admin.
func (q *Queue) Resume(ctx context.Context) error { return q.globally(ctx, "", q.book.Resume) }

// globally makes a change that concerns no single key; reason is the reason of the pause after it.
func (q *Queue) globally(ctx context.Context, reason string, do func()) error {
	c, err := q.change(ctx, makes, 64+min(len(reason), maxText), nil)
	if err != nil {
		return err
	}
	do()
	c.wake = true
	return q.settleDown(ctx, c, c.write(kindGlobals, q.globals()))
}

// Destroy implements queue.Admin. The directory and its lock file stay.
func (q *Queue) Destroy(ctx context.Context) error {
	c, err := q.change(ctx, removes, 0, nil)
	if err != nil {
		return err
	}
	h, err := q.log.dir.Create(destroyedName)
	if err == nil {
		if err = errors.Join(h.Sync(), h.Close(), q.log.dir.SyncNames()); err != nil {
			q.fail(err) // the next Open may find the mark, so nothing more may be acknowledged
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("filequeue: %w", err), c.end())
	}
	release := q.release
	q.release = func() error { return errors.Join(finishDestroy(q.log.dir), release()) }
	if err := c.end(); err != nil {
		return err
	}
	return q.Close()
}

// finishDestroy removes a queue that is marked for removal.
func finishDestroy(dir disk.Folder) error {
	if f, err := dir.Open(destroyedName); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	} else if err := f.Close(); err != nil {
		return err
	}
	entries, err := dir.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := segmentNumber(e.Name()); ok || e.Name() == reserveName || e.Name() == markName {
			if err := dir.Remove(e.Name()); err != nil {
				return err
			}
		}
	}
	if err := dir.SyncNames(); err != nil { // otherwise the log could reappear without the mark
		return err
	}
	return errors.Join(dir.Remove(destroyedName), dir.SyncNames())
}
