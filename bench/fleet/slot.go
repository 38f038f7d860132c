package fleet

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/models"
)

// slot measures the pool alone, and a sender with one document per request, with and without a pool.
func slot(ctx context.Context, _ *plan, t *figures.Table) error {
	var err error
	add := func(what string, bench func(b *testing.B) error) {
		r := testing.Benchmark(func(b *testing.B) {
			if e := bench(b); e != nil {
				err = errors.Join(err, e)
			}
		})
		t.Add(what+": ns", figures.AtMost(1000), float64(r.T.Nanoseconds())/float64(r.N))
		t.Add(what+": allocations", figures.AtMost(0.001), float64(r.MemAllocs)/float64(r.N))
	}
	add("a free slot", freeSlot)
	add("a slot that one of forty members hands to the next", handedSlot)
	with, e1 := requests(ctx, true)
	without, e2 := requests(ctx, false)
	t.Add("a request of a sender with a pool: ns more", figures.Informs, float64(with.NsPerOp()-without.NsPerOp()))
	t.Add("a request of a sender with a pool: allocations more", figures.AtMost(1.05), (float64(with.MemAllocs)/float64(with.N))-float64(without.MemAllocs)/float64(without.N))
	t.Add("a request of a sender without a pool: ns", figures.Informs, float64(without.NsPerOp()))
	t.Add("a request of a sender without a pool: allocations", figures.Informs, float64(without.MemAllocs)/float64(without.N))
	return errors.Join(err, e1, e2)
}

func freeSlot(b *testing.B) error {
	seats, err := seatsOf(1)
	if err != nil {
		return err
	}
	b.ReportAllocs()
	for b.Loop() {
		s, _, _ := seats[0].Ask(models.ClassAssured1, 1000)
		s.Release(true)
	}
	return nil
}

func handedSlot(b *testing.B) error {
	seats, err := seatsOf(crowdSenders)
	if err != nil {
		return err
	}
	var has pool.Slot
	for i, s := range seats {
		if got, ok, _ := s.Ask(models.ClassAssured1, 1000); ok != (i == 0) {
			return fmt.Errorf("member %d has a slot: %v", i, ok)
		} else if ok {
			has = got
		}
	}
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		has.Release(true)
		_, _, _ = seats[at].Ask(models.ClassAssured1, 1000) // now the last in line
		at = (at + 1) % len(seats)
		var ok bool
		if has, ok, _ = seats[at].Ask(models.ClassAssured1, 1000); !ok {
			return errors.New("a slot went to a member whose turn it is not")
		}
	}
	return nil
}

// seatsOf returns a seat for each of n members of a pool with one slot.
func seatsOf(n int) ([]*pool.Seat, error) {
	p, err := pool.New(&pool.Options{Shared: 1})
	if err != nil {
		return nil, err
	}
	seats := make([]*pool.Seat, n)
	for i := range seats {
		m, err := p.Join(fmt.Sprint(i))
		if err != nil {
			return nil, err
		}
		seats[i] = m.Seat(func() {})
	}
	return seats, nil
}

// requests measures requests with one document each.
func requests(ctx context.Context, shared bool) (r testing.BenchmarkResult, err error) {
	r = testing.Benchmark(func(b *testing.B) {
		s := newService()
		s.hurry.Store(true)
		o := senderOptions()
		o.Limits.MaxBatchActions = 1
		if shared {
			p, e := pool.New(&pool.Options{BufferedBytes: 1 << 28})
			if err = errors.Join(err, e); err != nil {
				return
			}
			if o.Share, e = p.Join("hotels"); e != nil {
				err = errors.Join(err, e)
				return
			}
		}
		one, e := bufferedsender.New(s.index("hotels"), o)
		if e != nil {
			err = errors.Join(err, e)
			return
		}
		p := producerOf(one, s.index("hotels"), 0, 100)
		if e := p.add(ctx, false); e != nil { // fills the sync.Pools
			err = errors.Join(err, e)
		}
		err = errors.Join(err, one.Flush(ctx, nil))
		b.ReportAllocs()
		b.ResetTimer()
		for n := 0; n < b.N && err == nil; n += len(p.docs) {
			err = p.add(ctx, false)
		}
		err = errors.Join(err, one.Flush(ctx, nil))
		b.StopTimer()
		err = errors.Join(err, one.Close(ctx))
	})
	return r, err
}
