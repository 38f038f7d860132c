package queuelab

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// some takes some of the leases away from a holder.
func (w *world) some(h *holder) (leases []queue.Lease) {
	w.rand.Shuffle(len(h.leases), func(i, j int) { h.leases[i], h.leases[j] = h.leases[j], h.leases[i] })
	n := len(h.leases)
	if w.chance(40) {
		n = w.rand.IntN(n + 1)
	}
	leases, h.leases = h.leases[:n:n], h.leases[n:]
	return leases
}

// finish sends all or some records of leases, and returns the ends. Expired leases are not sent.
func (w *world) finish(leases []queue.Lease) []queue.End {
	var ends []queue.End
	for i := range leases {
		l := &leases[i]
		end := queue.End{Lease: queue.Lease{Key: l.Key, Token: l.Token}, Fate: queue.Commit}
		switch n := w.rand.IntN(100); {
		case n < 60:
		case n < 90:
			end.Fate = queue.Release
			end.Done = w.rand.IntN(len(l.Records) + 1)
			end.Again = w.chance(40)
			if w.chance(40) {
				end.After = w.lasting()
			}
		default:
			end.Fate, end.Reason = queue.Park, "status 400"
			end.Done = w.rand.IntN(len(l.Records) + 1)
		}
		if w.chance(10) {
			end.Uncertain = w.lasting()
		}
		if w.ledger.holds(w.h.Now(), l) {
			n := end.Done
			if end.Fate == queue.Commit {
				n = len(l.Records)
			}
			w.ledger.send(l, n)
		}
		ends = append(ends, end)
	}
	return ends
}

func (w *world) settle() error {
	h := pick(w, w.holders)
	leases := w.some(h)
	if len(leases) == 0 {
		return nil // it need not end expired leases
	}
	ends := w.finish(leases)
	stale, failed, err := w.h.Queue.Settle(w.ctx, ends...)
	if err := noneFailed(err, failed); err != nil {
		return err
	}
	w.log("%s settles %s: %d stale", h.name, showEnds(ends), len(stale))
	return w.ended(leases, ends, stale)
}

// noneFailed is the error of a Settle.
func noneFailed(err error, failed []queue.Lease) error {
	switch {
	case err != nil:
		return fmt.Errorf("settle: %w", err)
	case len(failed) > 0:
		return fmt.Errorf("settle: %d failed without an error", len(failed))
	}
	return nil
}

// ended compares the stale ends.
func (w *world) ended(leases []queue.Lease, ends []queue.End, stale []queue.Lease) error {
	now := w.h.Now()
	var late []queue.Lease
	for i := range ends {
		if w.ledger.holds(now, &leases[i]) {
			w.ledger.settled(now, &ends[i], &leases[i])
		} else {
			late = append(late, ends[i].Lease)
			w.ledger.saw.zombie = true
		}
	}
	if err := sameKeys("stale", stale, late); err != nil {
		return err
	}
	if w.model == nil {
		return nil
	}
	want, err := w.model.Settle(now, ends...)
	if err != nil {
		return fmt.Errorf("settle: the model says %w", err)
	}
	return sameKeys("stale", stale, want)
}

func (w *world) exchange() error {
	x, ok := w.h.Queue.(queue.Exchanger)
	if !ok {
		return nil
	}
	h := pick(w, w.holders)
	leases := w.some(h)
	if len(leases) == 0 {
		return nil
	}
	ends := w.finish(leases)
	h.want = queue.Want{Token: queue.NewID(), Holder: h.id, Name: h.name, Keys: w.rand.IntN(4), Bytes: 1 << 20, For: w.lasting()}
	got, stale, failed, err := x.Exchange(w.ctx, h.want, ends...)
	if err := noneFailed(err, failed); err != nil {
		return err
	}
	w.log("%s exchanges %s: %d stale", h.name, showEnds(ends), len(stale))
	if err := w.ended(leases, ends, stale); err != nil {
		return err
	}
	return w.took(h, got, false)
}

func (w *world) extend() error {
	h := pick(w, w.holders)
	if len(h.leases) == 0 {
		return nil
	}
	d := w.lasting()
	leases := slices.Clone(h.leases)
	for i := range leases {
		leases[i].Requested = w.chance(50)
	}
	lost, err := w.h.Queue.Extend(w.ctx, d, leases...)
	if err != nil {
		return fmt.Errorf("extend: %w", err)
	}
	w.log("%s extends %s by %v: %d lost", h.name, showLeases(h.leases), d, len(lost))
	now := w.h.Now()
	var late, held []queue.Lease
	for i := range h.leases {
		if l := &h.leases[i]; w.ledger.holds(now, l) {
			w.ledger.leases[l.Key].until = now.Add(d)
			held = append(held, *l)
		} else {
			late = append(late, *l)
			w.ledger.saw.zombie = true
		}
	}
	if err := sameKeys("lost", lost, late); err != nil {
		return err
	}
	if w.model != nil {
		if _, err := w.model.Extend(now, d, leases...); err != nil {
			return fmt.Errorf("extend: the model says %w", err)
		}
	}
	h.leases = held
	return nil
}

// die makes a holder die, before or after documents are in the index.
func (w *world) die() error {
	i := w.rand.IntN(len(w.holders))
	h := w.holders[i]
	confirmed := 0
	for j := range h.leases {
		if l := &h.leases[j]; w.chance(60) && w.ledger.holds(w.h.Now(), l) {
			w.ledger.send(l, len(l.Records))
			w.ledger.saw.crash = true
			confirmed++
		}
	}
	w.log("%s dies with %s, %d of them in the index", h.name, showLeases(h.leases), confirmed)
	w.zombies = append(w.zombies, h.leases...)
	w.holders[i] = w.newHolder()
	return nil
}

// zombie makes a holder that was stopped for longer than its leases settle them.
func (w *world) zombie() error {
	now := w.h.Now()
	for i := range w.zombies {
		z := w.zombies[i]
		if w.ledger.holds(now, &z) {
			continue
		}
		w.zombies = slices.Delete(w.zombies, i, i+1)
		end := queue.End{Lease: queue.Lease{Key: z.Key, Token: z.Token}, Fate: pick(w, []queue.Fate{queue.Commit, queue.Commit, queue.Release, queue.Park}), Uncertain: time.Second}
		stale, failed, err := w.h.Queue.Settle(w.ctx, end)
		if err := noneFailed(err, failed); err != nil {
			return err
		}
		w.log("a zombie settles %s: %d stale", showEnds([]queue.End{end}), len(stale))
		return w.ended([]queue.Lease{z}, []queue.End{end}, stale)
	}
	return nil
}
