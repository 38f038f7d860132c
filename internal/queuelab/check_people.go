package queuelab

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// meddle makes an operator park, unpark or drop one or two keys.
func (w *world) meddle() error {
	admin, ok := w.h.Queue.(queue.Admin)
	if !ok || w.unnoticed() {
		return nil
	}
	keys := []string{w.key()}
	if k := w.key(); k != keys[0] {
		keys = append(keys, k)
	}
	now := w.h.Now()
	var n, want int
	var err error
	what := ""
	switch w.rand.IntN(4) {
	case 0, 1:
		what = "park"
		n, err = admin.Park(w.ctx, "by hand", keys...)
		if w.model != nil {
			want = w.model.Park(now, "by hand", keys...)
		}
	case 2:
		what = "unpark"
		n, err = admin.Unpark(w.ctx, keys...)
		if w.model != nil {
			want = w.model.Unpark(now, keys...)
		}
	default:
		what = "drop"
		n, err = admin.Drop(w.ctx, keys...)
		if w.model != nil {
			want = w.model.Drop(now, keys...)
		}
		for _, k := range keys {
			w.ledger.dropped[k] = true // even if no record was parked: then less is checked
		}
	}
	w.log("people %s %q: %d", what, keys, n)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if w.model != nil && n != want {
		return fmt.Errorf("%s: %d keys, want %d", what, n, want)
	}
	return nil
}

// pause makes an operator pause the queue for a while.
func (w *world) pause() error {
	admin, ok := w.h.Queue.(queue.Admin)
	if !ok {
		return nil
	}
	w.log("people pause")
	if err := admin.Pause(w.ctx, "rebuild"); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	if w.model != nil {
		w.model.Pause("rebuild")
	}
	h := pick(w, w.holders)
	h.want = queue.Want{Token: queue.NewID(), Holder: h.id, Name: h.name, Keys: 9, Bytes: 1 << 20, For: w.lasting()}
	leases, err := w.h.Queue.Reserve(w.ctx, h.want)
	if err != nil {
		return fmt.Errorf("reserve of a paused queue: %w", err)
	}
	if len(leases) > 0 {
		return fmt.Errorf("reserve of a paused queue: %s", showLeases(leases))
	}
	if err := w.took(h, leases, false); err != nil {
		return err
	}
	if err := w.look(); err != nil {
		return err
	}
	w.log("people resume")
	if err := admin.Resume(w.ctx); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if w.model != nil {
		w.model.Resume()
	}
	return nil
}

// askSettled asks Settled for an earlier Position.
func (w *world) askSettled() error {
	if len(w.positions) == 0 || w.unnoticed() {
		return nil
	}
	at := pick(w, w.positions)
	got, err := w.h.Queue.Settled(w.ctx, at.real)
	if err != nil {
		return fmt.Errorf("settled: %w", err)
	}
	w.log("settled %s: %v", at.real, got)
	if w.model == nil {
		return nil
	}
	want, err := w.model.Settled(at.model)
	if err != nil {
		return fmt.Errorf("settled: the model says %w", err)
	}
	if got != want && (got || !w.reopened) { // a queue that was reopened may know less, but never more
		return fmt.Errorf("settled is %v, want %v", got, want)
	}
	return nil
}

// look compares the results of Stats, Contains and Inspect.
func (w *world) look() error {
	if w.model == nil || w.unnoticed() {
		return nil
	}
	now := w.h.Now()
	stats, err := w.h.Queue.Stats(w.ctx)
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	if err := sameStats(stats, w.model.Stats(now)); err != nil {
		return err
	}
	if m, ok := w.h.Queue.(queue.Membership); ok {
		found, err := m.Contains(w.ctx, w.keys...)
		if err != nil {
			return fmt.Errorf("contains: %w", err)
		}
		if want := w.model.Contains(w.keys...); !slices.Equal(found, want) {
			return fmt.Errorf("contains %v, want %v", found, want)
		}
	}
	if a, ok := w.h.Queue.(queue.Admin); ok {
		what := queue.Inspection{Bodies: true, Limit: 1000}
		entries, err := a.Inspect(w.ctx, what)
		if err != nil {
			return fmt.Errorf("inspect: %w", err)
		}
		return sameEntries(entries, w.model.Inspect(now, what))
	}
	return nil
}

// reopen opens the storage again, as after a crash of the process.
func (w *world) reopen() error {
	if !w.b.Durable {
		return nil
	}
	w.log("the queue is opened again")
	w.h.Queue = w.h.Reopen(w.t)
	w.reopened = true
	if w.model != nil && w.b.CountsEnd {
		w.model.endLeases(w.h.Now()) // leases that had run out before are not counted
		w.model.stats = queue.Stats{}
	}
	if !w.b.LeasesEnd {
		return nil
	}
	now := w.h.Now()
	for _, t := range w.ledger.leases {
		if t.live(now) {
			t.until = now
		}
	}
	if w.model != nil {
		w.model.Restart(now)
	}
	return nil
}

// Restart is the effect of opening a queue of a back end with LeasesEnd and CountsEnd: all leases run out at that
// moment, no holder is held back for suspects that go alone, and the counters of Stats start at zero.
func (m *Model) Restart(now time.Time) {
	m.endLeases(now) // leases that had run out before are not counted
	for _, e := range m.keys {
		if len(e.leased) > 0 {
			e.until = now
		}
	}
	m.alone = time.Time{}
	m.stats = queue.Stats{}
	m.endLeases(now)
}

// drain removes all holders, and makes one that never dies send the rest. Then the index must have every change.
func (w *world) drain() error {
	w.log("drain")
	w.holders = []*holder{w.newHolder()}
	w.h.Sleep(2 * time.Hour)
	h := w.holders[0]
	for range 20 * len(w.keys) {
		if err := w.unpark(); err != nil {
			return err
		}
		h.want = queue.Want{Token: queue.NewID(), Holder: h.id, Name: h.name, Keys: 100, Bytes: 1 << 20, For: time.Minute}
		if err := w.take(h, false); err != nil {
			return err
		}
		leases := h.leases
		h.leases = nil
		var ends []queue.End
		for i := range leases {
			w.ledger.send(&leases[i], len(leases[i].Records))
			ends = append(ends, queue.End{Lease: queue.Lease{Key: leases[i].Key, Token: leases[i].Token}, Fate: queue.Commit})
		}
		stale, failed, err := w.h.Queue.Settle(w.ctx, ends...)
		if err := noneFailed(err, failed); err != nil {
			return err
		}
		if err := w.ended(leases, ends, stale); err != nil {
			return err
		}
		if len(leases) == 0 {
			break
		}
	}
	if err := w.ledger.differs(); err != nil {
		return err
	}
	stats, err := w.h.Queue.Stats(w.ctx)
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	if stats.Waiting+stats.Leased+stats.Parked > 0 {
		return fmt.Errorf("after the drain %d keys wait, %d are leased, %d are parked", stats.Waiting, stats.Leased, stats.Parked)
	}
	for _, at := range w.positions {
		settled, err := w.h.Queue.Settled(w.ctx, at.real)
		if err != nil {
			return fmt.Errorf("settled: %w", err)
		}
		if !settled {
			return fmt.Errorf("settled %s is false after the drain", at.real)
		}
	}
	return w.look()
}

// unpark makes an operator unpark everything.
func (w *world) unpark() error {
	admin, ok := w.h.Queue.(queue.Admin)
	if !ok {
		return nil
	}
	keys := slices.Sorted(maps.Keys(w.ledger.truth))
	n, err := admin.Unpark(w.ctx, keys...)
	if err != nil {
		return fmt.Errorf("unpark: %w", err)
	}
	if w.model != nil {
		if want := w.model.Unpark(w.h.Now(), keys...); n != want {
			return fmt.Errorf("unpark: %d keys, want %d", n, want)
		}
	}
	return nil
}
