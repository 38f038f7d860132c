package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender/fleet"
	"github.com/go-azsearch/azsearch/models"
)

// live measures a live update every ten milliseconds: alone, during a backfill, and during a backfill that another
// index reduces to its floor.
func live(ctx context.Context, p *plan, t *figures.Table) error {
	alone, _, err := liveUpdates(ctx, p, false, false)
	if err != nil {
		return err
	}
	under, kept, err := liveUpdates(ctx, p, true, false)
	if err != nil {
		return err
	}
	beside, floor, err := liveUpdates(ctx, p, true, true)
	if err != nil {
		return err
	}
	t.Add("p99 from adding to applied without a backfill, ms", figures.Informs, alone)
	t.Add("p99 under a backfill, relative to that", figures.AtMost(2), under/alone)
	t.Add("p99 under a backfill and another index in Assured1, relative to that", figures.AtMost(2), beside/alone)
	t.Add("slots that the backfill fills of four", figures.AtLeast(0.95), kept)
	t.Add("the same, with more in Assured1, where its floor is one", figures.AtLeast(0.95), floor)
	return nil
}

// liveUpdates returns the p99 of live updates in milliseconds, and the rate of the backfill as a number of slots.
func liveUpdates(ctx context.Context, p *plan, backfill, others bool) (ms, kept float64, err error) {
	s := newService()
	f, err := newFleet(s, 4, 4)
	if err != nil {
		return 0, 0, err
	}
	o := senderOptions()
	o.AutoFlushInterval, o.Limits.MaxInFlight = 5*time.Millisecond, 4
	one, err := fleet.Sender(f, "hotels", o)
	if err != nil {
		return 0, 0, err
	}
	other, err := fleet.Sender(f, "motels", o)
	if err != nil {
		return 0, 0, err
	}
	hotels, motels := s.index("hotels"), s.index("motels")
	updates := producerOf(one, hotels, 0, 1)
	all := []*producer{updates}
	var loads []*load
	fill := func(to sender, x *index, class models.Class) {
		some := []*producer{producerOf(to, x, len(all), 100), producerOf(to, x, len(all)+1, 100)}
		all = append(all, some...)
		loads = append(loads, start(models.WithClass(ctx, class), some, 0, false))
	}
	if backfill {
		fill(one, hotels, models.ClassBestEffort)
	}
	if others {
		fill(other, motels, models.ClassAssured1)
	}
	err = slow.Wait(ctx, p.window/2) // buffers are full
	loads = append(loads, start(models.WithClass(ctx, models.ClassExpedited), []*producer{updates}, 10*time.Millisecond, true))
	err = errors.Join(err, slow.Wait(ctx, 4*takes))
	_ = hotels.times()
	before, began := hotels.applied.Load(), time.Now()
	err = errors.Join(err, slow.Wait(ctx, p.window))
	took := hotels.times()
	kept = float64(hotels.applied.Load()-before-int64(len(took))) / time.Since(began).Seconds() / perSlot
	for _, l := range loads {
		err = errors.Join(err, l.end())
	}
	return p99(took), kept, errors.Join(err, finish(ctx, s, f, []*index{hotels, motels}, added(all...)))
}
