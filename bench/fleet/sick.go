package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
)

// For each fault this measures the other indexes before and during it.
func sick(ctx context.Context, p *plan, t *figures.Table) error {
	for _, of := range sicknesses {
		if err := sicken(ctx, p, t, of.name, of.is); err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
	}
	return nil
}

func sicken(ctx context.Context, p *plan, t *figures.Table, name string, is sickness) error {
	s := newService()
	// The flood fills the budget, so the others have only their floors.
	f, err := fleet.New(s, &fleet.Options{Logger: quiet, Pool: &pool.Options{Expedited: slots, BufferedActions: 60_000}})
	if err != nil {
		return err
	}
	var senders []sender
	var producers []*producer
	var others []*index
	for i, of := range namesOf(crowdSenders) {
		one, err := fleet.Sender(f, of, senderOptions())
		if err != nil {
			return err
		}
		senders = append(senders, one)
		producers = append(producers, producerOf(one, s.index(of), i, 250))
		if i > 0 {
			others = append(others, s.index(of))
		}
	}
	flood := start(ctx, producers[:1], 0, false)
	// 39 requests in half a second, of 80 that the slots allow.
	l := start(ctx, producers[1:], 500*time.Millisecond, true)
	err = slow.Wait(ctx, time.Second)
	before, p99Before := rate(ctx, p, others)
	s.index(namesOf(1)[0]).is.Store(int32(is))
	err = errors.Join(err, slow.Wait(ctx, time.Second))
	after, p99After := rate(ctx, p, others)
	err = errors.Join(err, l.end(), flood.end())
	for _, one := range senders[1:] {
		err = errors.Join(err, one.Flush(ctx, nil))
	}
	refused := 0.0
	for _, one := range senders[1:] {
		st := one.Stats()
		refused += float64(st.Failed + st.Purged + st.Retries + st.Unsent)
	}
	t.Add(name+": documents a second of the others, relative to before", figures.AtLeast(0.95), after/before)
	t.Add(name+": p99 of the others, relative to before", figures.AtMost(1.2), p99After/p99Before)
	t.Add(name+": documents of the others that failed, were purged or sent again", figures.AtMost(0), refused)
	var applied int64
	for _, x := range others {
		applied += x.applied.Load()
	}
	if n := added(producers[1:]...); err == nil && n != applied {
		err = fmt.Errorf("%d documents of the others were added and %d applied", n, applied)
	}
	// Documents of the failing index are discarded.
	ended, cancel := context.WithCancel(ctx)
	cancel()
	closed := f.Close(ended)
	if left := (*bufferedsender.CloseError)(nil); errors.As(closed, &left) || is == healthy {
		closed = nil
	}
	return errors.Join(err, closed)
}

// rate returns the documents applied per second, and the p99 of the stamped ones in milliseconds.
func rate(ctx context.Context, p *plan, indexes []*index) (perSecond, ms float64) {
	var n int64
	for _, x := range indexes {
		n -= x.applied.Load()
		_ = x.times()
	}
	began := time.Now()
	_ = slow.Wait(ctx, p.window) // the next wait returns the error
	took := time.Since(began).Seconds()
	var times []time.Duration
	for _, x := range indexes {
		n += x.applied.Load()
		times = append(times, x.times()...)
	}
	return float64(n) / took, p99(times)
}
