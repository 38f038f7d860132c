package queuelab

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

func (w *world) reserve() error {
	h := pick(w, w.holders)
	h.want = queue.Want{
		Token: queue.NewID(), Holder: h.id, Name: h.name, Keys: 1 + w.rand.IntN(4), Bytes: 1 << 20, For: w.lasting(),
	}
	if w.chance(25) {
		h.want.Keys = len(w.keys)
	}
	if w.chance(15) {
		h.want.Bytes = 10 + w.rand.IntN(60)
	}
	if w.chance(20) {
		h.want.Uncertain = w.lasting() / 2
	}
	return w.take(h, false)
}

func (w *world) lasting() time.Duration {
	return pick(w, []time.Duration{5 * time.Second, 20 * time.Second, time.Minute})
}

// reserveAgain makes a holder repeat a call whose answer was lost.
func (w *world) reserveAgain() error {
	h := pick(w, w.holders)
	now := w.h.Now()
	for i := range h.leases {
		if h.leases[i].Token == h.want.Token && w.ledger.holds(now, &h.leases[i]) {
			return w.take(h, true)
		}
	}
	return nil // a reservation without leases may be unknown
}

func (w *world) reserveNamed() error {
	h := pick(w, w.holders)
	h.want = queue.Want{Token: queue.NewID(), Holder: h.id, Name: h.name, Bytes: 1 << 20, For: w.lasting()}
	for range 1 + w.rand.IntN(2) {
		if k := w.key(); !slices.Contains(h.want.Only, k) {
			h.want.Only = append(h.want.Only, k)
		}
	}
	h.want.Keys = len(h.want.Only)
	return w.take(h, false)
}

// take makes a holder call Reserve.
func (w *world) take(h *holder, repeated bool) error {
	leases, err := w.h.Queue.Reserve(w.ctx, h.want)
	if err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	return w.took(h, leases, repeated)
}

// took compares and records the leases of a holder.
func (w *world) took(h *holder, leases []queue.Lease, repeated bool) error {
	w.log("%s reserves %d keys %q, %d bytes, for %v: %s", h.name, h.want.Keys, h.want.Only, h.want.Bytes, h.want.For, showLeases(leases))
	now := w.h.Now()
	if err := w.ledger.reserved(now, &h.want, leases, repeated); err != nil {
		return err
	}
	if w.model != nil {
		want, err := w.model.Reserve(now, h.want)
		if err != nil {
			return fmt.Errorf("reserve: the model says %w", err)
		}
		if err := sameLeases(leases, want, repeated); err != nil {
			return err
		}
	}
	if !repeated {
		h.leases = append(h.leases, leases...)
	}
	return nil
}
