package queuehistory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// client makes calls.
type client interface {
	call(r *recorder, number int, now time.Time, draw *rand.Rand)
}

// attempts is how often a call with an unknown outcome is repeated.
const attempts = 200

// adder is a client that appends.
type adder struct {
	id     queue.ID
	number uint64
	keys   []string
}

func (a *adder) call(r *recorder, number int, now time.Time, draw *rand.Rand) {
	a.number++
	c := queue.Call{Adder: a.id, Number: a.number}
	for i := range 1 + draw.IntN(2) {
		op := []models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMerge}[draw.IntN(3)]
		c.Records = append(c.Records, queue.Record{
			Key: a.keys[draw.IntN(len(a.keys))], Op: op, Body: fmt.Appendf(nil, "%d.%d.%d", number, a.number, i),
		})
	}
	r.made(number, &call{now: now, append: &c}, func(ctx context.Context) (answer, error) {
		receipt, err := r.h.Queue.Append(ctx, c)
		for i := 0; errors.Is(err, queue.ErrUnknown) && i < attempts; i++ {
			time.Sleep(10 * time.Millisecond)
			receipt, err = r.h.Queue.Append(ctx, c) // the receipt is that of the first attempt
		}
		return answer{text: showReceipt(receipt)}, err
	})
}

// holder is a client that reserves, settles and extends.
type holder struct {
	id     queue.ID
	name   string
	keys   []string
	leases []queue.Lease
}

func (h *holder) call(r *recorder, number int, now time.Time, draw *rand.Rand) {
	switch n := draw.IntN(100); {
	case n < 35 || len(h.leases) == 0:
		h.reserve(r, number, now, 1+draw.IntN(2))
	case n < 65:
		h.settle(r, number, now, draw)
	case n < 80:
		leases := slices.Clone(h.leases)
		d := time.Duration(1+draw.IntN(10)) * time.Second
		r.made(number, &call{now: now, extend: leases, d: d}, func(ctx context.Context) (answer, error) {
			lost, err := r.h.Queue.Extend(ctx, d, leases...)
			for i := 0; err != nil && i < attempts; i++ {
				time.Sleep(10 * time.Millisecond)
				lost, err = r.h.Queue.Extend(ctx, d, leases...)
			}
			return answer{text: showKeys("lost", lost)}, err
		})
	default:
		x, ok := r.h.Queue.(queue.Exchanger)
		if !ok || r.sharded {
			// An Exchange is atomic only within one shard, so two calls are made.
			h.settle(r, number, now, draw)
			h.reserve(r, number, now, 1+draw.IntN(2))
			return
		}
		want, ends := h.want(1+draw.IntN(2)), h.ends(draw)
		r.made(number, &call{now: now, want: &want, ends: ends}, func(ctx context.Context) (answer, error) {
			leases, stale, failed, err := x.Exchange(ctx, want, ends...)
			again := false
			for i := 0; (err != nil || len(failed) > 0) && i < attempts; i++ {
				time.Sleep(10 * time.Millisecond)
				again = true
				leases, stale, failed, err = x.Exchange(ctx, want, ends...)
			}
			h.leases = append(h.leases, leases...)
			return answer{text: showLeases(leases) + ", " + showKeys("stale", stale), anyStale: again}, err
		})
	}
}

func (h *holder) settle(r *recorder, number int, now time.Time, draw *rand.Rand) {
	ends := h.ends(draw)
	r.made(number, &call{now: now, ends: ends}, func(ctx context.Context) (answer, error) {
		stale, failed, err := r.h.Queue.Settle(ctx, ends...)
		again := false
		for i := 0; len(failed) > 0 && i < attempts; i++ {
			time.Sleep(10 * time.Millisecond)
			again = true
			stale, failed, err = r.h.Queue.Settle(ctx, ends...)
		}
		return answer{text: showKeys("stale", stale), anyStale: again}, err
	})
}

func (h *holder) want(keys int) queue.Want {
	return queue.Want{Token: queue.NewID(), Holder: h.id, Name: h.name, Keys: keys, Bytes: 1 << 20, For: 6 * time.Second}
}

func (h *holder) reserve(r *recorder, number int, now time.Time, keys int) {
	want := h.want(keys)
	r.made(number, &call{now: now, want: &want}, func(ctx context.Context) (answer, error) {
		leases, err := r.h.Queue.Reserve(ctx, want)
		for i := 0; err != nil && i < attempts; i++ {
			time.Sleep(10 * time.Millisecond)
			leases, err = r.h.Queue.Reserve(ctx, want) // the token is the same, so the leases are the same
		}
		h.leases = append(h.leases, leases...)
		return answer{text: showLeases(leases)}, err
	})
}

// ends returns ends for some of the leases, most of them commits.
func (h *holder) ends(draw *rand.Rand) (ends []queue.End) {
	n := 1 + draw.IntN(len(h.leases))
	for _, l := range h.leases[:n] {
		fate := []queue.Fate{queue.Commit, queue.Commit, queue.Commit, queue.Release, queue.Release, queue.Park}[draw.IntN(6)]
		ends = append(ends, queue.End{Lease: queue.Lease{Key: l.Key, Token: l.Token}, Fate: fate})
	}
	h.leases = slices.Clone(h.leases[n:])
	return ends
}
