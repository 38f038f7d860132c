package filequeue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// volume is a queue alone on a volume, with writers that add as long as there is room, and senders whose requests
// succeed, fail, or are refused for good.
type volume struct {
	t    *testing.T
	q    *Queue
	a    *adder
	r    *rand.Rand
	rest func() // waits for background work
}

// fill adds until the volume is full, while few keys are sent.
func (v *volume) fill() {
	for i, refused := 0, 0; refused < 20 && i < 5000; i++ {
		r := upload(fmt.Sprint(v.r.IntN(400)), i)
		r.Body = append(r.Body, strings.Repeat("x", v.r.IntN(1500))...)
		if err := v.a.append(v.t.Context(), r); err != nil {
			require.ErrorIs(v.t, err, queue.ErrFull)
			v.a.number-- // it was not kept
			refused++
		}
		if v.r.IntN(4) == 0 {
			v.send(1 + v.r.IntN(10))
		}
		v.rest()
	}
}

// send sends some keys and returns the number reserved.
func (v *volume) send(n int) int {
	leases, err := v.q.Reserve(v.t.Context(), want(n))
	if err != nil {
		require.ErrorIs(v.t, err, queue.ErrFull)
		return 0
	}
	var ends []queue.End
	for _, l := range leases {
		e := queue.End{Lease: l, Fate: queue.Commit}
		switch v.r.IntN(20) {
		case 0:
			e.Fate, e.Reason = queue.Park, "refused"
		case 1, 2, 3, 4, 5, 6, 7, 8:
			e.Fate = queue.Release
		}
		ends = append(ends, e)
	}
	if _, _, err := v.q.Settle(v.t.Context(), ends...); err != nil {
		require.ErrorIs(v.t, err, queue.ErrFull)
	}
	return len(leases)
}

// round fills the volume, has an outage in which every request fails, and then sends everything.
func (v *volume) round() {
	v.fill()
	for range 300 { // an outage: reserved keys are released
		leases, err := v.q.Reserve(v.t.Context(), want(1+v.r.IntN(50)))
		if err != nil {
			require.ErrorIs(v.t, err, queue.ErrFull)
		}
		ends := commits(leases)
		for i := range ends {
			ends[i].Fate = queue.Release
		}
		if len(ends) > 0 {
			if _, _, err := v.q.Settle(v.t.Context(), ends...); err != nil {
				require.ErrorIs(v.t, err, queue.ErrFull)
			}
		}
		v.rest()
	}
	for range 5000 {
		leases, err := v.q.Reserve(v.t.Context(), want(20))
		if err != nil {
			require.ErrorIs(v.t, err, queue.ErrFull)
		}
		if len(leases) > 0 {
			_, _, err = v.q.Settle(v.t.Context(), commits(leases)...)
			require.NoError(v.t, err, "reserved keys can be settled")
		}
		v.rest()
		if s, err := v.q.Stats(v.t.Context()); err == nil && s.Waiting+s.Leased == 0 {
			break
		}
	}
	s, err := v.q.Stats(v.t.Context())
	require.NoError(v.t, err)
	require.Zero(v.t, s.Waiting+s.Leased, "everything is sent: %+v, fault %v", s, v.q.Fault())
	entries, err := v.q.Inspect(v.t.Context(), queue.Inspection{States: queue.Parked, Limit: 1 << 20})
	require.NoError(v.t, err)
	for _, e := range entries {
		_, err := v.q.Drop(v.t.Context(), e.Key)
		require.NoError(v.t, err, "parked keys can be dropped")
		v.rest()
	}
	v.rest()
	require.NoError(v.t, v.a.append(v.t.Context(), upload("again", 1)), "the volume has room again")
}

func TestAVolumeThatTheQueueFillsIsEmptiedAgain(t *testing.T) {
	for seed := range uint64(testkit.Cases(3, 12, 12)) {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.New()
			capacity := int64(6+seed%7) * minSegment
			var short atomic.Int64
			d.Fail = func(op, _ string) error {
				if op != "allocate" {
					return nil
				}
				used := int64(minSegment)
				for _, content := range d.Files() {
					used += int64(len(content))
				}
				if used > capacity {
					short.Add(1)
					return []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}[seed%3]
				}
				return nil
			}
			q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
			v := &volume{t, q, newAdder(q), seeded(seed), synctest.Wait}
			for range 2 {
				v.round()
			}
			require.NotZero(t, short.Load(), "the volume was never full")
			require.NoError(t, errors.Join(q.Fault(), q.Close()))
		})
	}
}
