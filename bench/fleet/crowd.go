package fleet

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
)

const (
	crowdSenders  = 40
	budgetActions = 1 << 18 // default of a fleet
	budgetBytes   = 256 << 20
)

// crowded has the figures while buffers are full.
type crowded struct {
	perSecond float64
	cpu       float64 // seconds per million documents
	processor float64 // share of all processors
	slowest   float64 // relative to the fair share
	alive     float64 // bytes above the start
}

func crowd(ctx context.Context, p *plan, t *figures.Table) error {
	var alone, forty crowded
	if err := errors.Join(
		labelled(ctx, "lone", func(ctx context.Context) (err error) { alone, err = loneSender(ctx, p); return err }),
		labelled(ctx, "fleet", func(ctx context.Context) (err error) { forty, err = fleetOfForty(ctx, p); return err }),
	); err != nil {
		return err
	}
	t.Add("documents a second, relative to the lone sender", figures.AtLeast(0.9), forty.perSecond/alone.perSecond)
	t.Add("documents a second of the lone sender", figures.Informs, alone.perSecond)
	t.Add("of the processors, the lone sender", figures.AtMost(0.5), alone.processor)
	t.Add("of the processors, the fleet", figures.AtMost(0.5), forty.processor)
	t.Add("slowest sender, to its fair share", figures.AtLeast(0.5), forty.slowest)
	t.Add("CPU a document, relative to the lone sender", figures.AtMost(1.1), forty.cpu/alone.cpu)
	t.Add("CPU s a million documents of the lone sender", figures.Informs, alone.cpu)
	t.Add("MB alive above the budget of 268", figures.AtMost(64), (forty.alive-budgetBytes)/1e6)
	t.Add("MB alive, the fleet", figures.Informs, forty.alive/1e6)
	t.Add("MB alive, the lone sender with that budget", figures.Informs, alone.alive/1e6)
	return nil
}

func loneSender(ctx context.Context, p *plan) (c crowded, err error) {
	before := measure.Heap()
	s := newService()
	x := s.index("lone")
	o := senderOptions()
	o.Limits.MaxInFlight = slots
	o.Limits.MaxBufferedActions, o.Limits.MaxBufferedBytes = budgetActions, budgetBytes
	one, err := bufferedsender.New(x, o)
	if err != nil {
		return c, err
	}
	var producers []*producer
	for i := range crowdSenders {
		producers = append(producers, producerOf(one, x, i, 100))
	}
	blocked := func() int { return one.Stats().BlockedProducers }
	c, err = full(ctx, p, producers, []*index{x}, blocked, before)
	return c, errors.Join(err, finish(ctx, s, one, []*index{x}, added(producers...)))
}

func fleetOfForty(ctx context.Context, p *plan) (c crowded, err error) {
	before := measure.Heap()
	s := newService()
	f, err := newFleet(s, slots, 1)
	if err != nil {
		return c, err
	}
	var producers []*producer
	var indexes []*index
	for i, name := range namesOf(crowdSenders) {
		one, err := fleet.Sender(f, name, senderOptions())
		if err != nil {
			return c, err
		}
		indexes = append(indexes, s.index(name))
		producers = append(producers, producerOf(one, indexes[i], i, 100))
	}
	blocked := func() int { return f.Stats().All.BlockedProducers }
	c, err = full(ctx, p, producers, indexes, blocked, before)
	return c, errors.Join(err, finish(ctx, s, f, indexes, added(producers...)))
}

// full starts producers and measures while most of them are blocked.
func full(ctx context.Context, p *plan, producers []*producer, indexes []*index, blocked func() int, before float64) (c crowded, err error) {
	l := start(ctx, producers, 0, false)
	for began := time.Now(); blocked() < len(producers)*3/4; {
		if time.Since(began) > time.Minute {
			return c, errors.Join(errors.New("the buffers were not full after a minute"), l.end())
		}
		if err := slow.Wait(ctx, 10*time.Millisecond); err != nil {
			return c, errors.Join(err, l.end())
		}
	}
	counts := make([]int64, len(indexes))
	var clock measure.Clock
	clock.Start()
	for i, x := range indexes {
		counts[i] = x.applied.Load()
	}
	err = slow.Wait(ctx, p.window)
	var all, least int64
	for i, x := range indexes {
		n := x.applied.Load() - counts[i]
		if all += n; i == 0 || n < least {
			least = n
		}
	}
	u := clock.Stop()
	c = crowded{
		perSecond: float64(all) / u.Seconds,
		cpu:       u.CPUSeconds / float64(all) * 1e6,
		processor: u.CPUSeconds / u.Seconds / float64(runtime.GOMAXPROCS(0)),
		slowest:   float64(least) * float64(len(indexes)) / float64(all),
	}
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	c.alive = float64(live[0].Value.Uint64()) - before
	return c, errors.Join(err, l.end())
}
