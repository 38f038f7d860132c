package tuning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// The simulated sender follows the controller's rate, and the service refuses what the case defines.
func TestWhatCountsAsNoise(t *testing.T) {
	rest := 0.0
	spread := func(share float64, actions int) int { // as evenly as possible
		rest += share * float64(actions)
		n := int(rest)
		rest -= float64(n)
		return n
	}
	for name, c := range map[string]struct {
		refuse func(request, actions int, rate float64) int
		noise  bool
	}{
		"always the same share":         {func(_, n int, _ float64) int { return spread(0.05, n) }, true},
		"a small share":                 {func(_, n int, _ float64) int { return spread(0.005, n) }, true},
		"more than an overload leaves":  {func(_, n int, _ float64) int { return spread(0.4, n) }, false},
		"a share that falls":            {func(_, n int, rate float64) int { return spread(min(0.9, rate*rate*rate/1e12), n) }, false},
		"whole batches":                 {func(i, n int, _ float64) int { return n * btoi(i%20 == 0) }, false},
		"the rest of each third batch":  {func(i, n int, _ float64) int { return n / 4 * btoi(i%3 == 0) }, false},
		"some refused with all of them": {func(i, n int, _ float64) int { return spread(0.05, n) - n*btoi(i%10 == 0) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			rest = 0
			controller := tuning.Adaptive(nil).New(usualBounds)
			now := time.Duration(0)
			most := 0.0
			for i := 1; now < 30*time.Second; i++ {
				l := controller.Pace()
				interval := max(l.Interval, 50*time.Millisecond)
				rate := float64(l.BatchActions) / interval.Seconds()
				now += interval
				o := tuning.Observation{Now: now, Started: now - 10*time.Millisecond, Actions: l.BatchActions, Bytes: 100 * l.BatchActions, InFlight: 1, Backlog: 5000}
				if refused := c.refuse(i, o.Actions, rate); refused < 0 {
					o.Refused = true
				} else {
					o.Throttled = refused
					o.Done = o.Actions - refused
				}
				controller.Observe(o)
				most = max(most, tuning.NoiseOf(controller))
			}
			if c.noise {
				assert.Positive(t, most)
			} else { // a moment's half per cent slows nothing down
				assert.Less(t, most, 0.01)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestRefusalsThatNoRatePreventsDoNotSlowItDown(t *testing.T) {
	bounds := usualBounds
	bounds.Max.InFlight = 4
	for _, chance := range []float64{0.001, 0.01, 0.05, 0.2} {
		for _, latency := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond} {
			for seed := range uint64(2) {
				s := service{chance: chance, latency: fixedLatency(latency, 0.1)}
				share, w := against(seed, s, bounds, time.Minute, 100*time.Second)
				assert.Greater(t, share, 0.9, "share of the documents that fixed limits sent, if %v are refused, after %v", chance, latency)
				assert.Less(t, w.span(time.Minute, 100*time.Second).throttled, 1.2*chance)
			}
		}
	}
}

// Some runs may fail, because refusals by a limit can look random.
func TestALimitIsFoundAmongRefusalsByChance(t *testing.T) {
	runs, missed := 0, 0
	for seed := 1; seed <= testkit.Cases(1, 6, 6); seed++ {
		for _, capacity := range []float64{2000, 50_000} {
			for _, chance := range []float64{0.01, 0.05, 0.1} {
				for _, senders := range []int{1, 4} {
					w := newWorld(uint64(seed), tuning.Adaptive(nil), usualBounds, senders, service{documents: bucket{rate: capacity, burst: 1}, chance: chance, latency: fixedLatency(50*time.Millisecond, 0.1)})
					w.run(3 * time.Minute)
					w.service.documents.set(w.now, capacity/10)
					w.run(5 * time.Minute)
					runs++
					all, tenth := w.span(time.Minute, 3*time.Minute), w.span(4*time.Minute, 5*time.Minute)
					if all.goodput < 0.9*capacity || all.throttled > chance+0.05 || tenth.goodput < 0.9*capacity/10 || tenth.throttled > chance+0.05 {
						missed++
						t.Logf("seed %d, a limit of %v, %d senders, %v are refused: %+v, with a tenth %+v", seed, capacity, senders, chance, all, tenth)
					}
				}
			}
		}
	}
	assert.LessOrEqual(t, missed, runs/10, "of %d runs", runs)
}

func TestWhenRefusalsByChanceEndOnlyTheLimitIsLeft(t *testing.T) {
	for _, senders := range []int{1, 4} {
		w := newWorld(1, tuning.Adaptive(nil), usualBounds, senders, service{documents: bucket{rate: 2000, burst: 1}, chance: 0.2, latency: fixedLatency(50*time.Millisecond, 0.1)})
		w.run(time.Minute)
		w.service.chance = 0
		w.run(4 * time.Minute)
		got := w.span(2*time.Minute, 4*time.Minute)
		assert.Greater(t, got.goodput, 0.9*2000)
		assert.Less(t, got.throttled, 0.05)
	}
}

// The share of refused documents stays constant while the rate falls, but they are not refused one by one.
func TestACapacityThatGoesOnFallingIsFollowed(t *testing.T) {
	for seed := range uint64(5) {
		w := newWorld(seed, tuning.Adaptive(nil), usualBounds, 1, ofDocuments(20_000, fixedLatency(50*time.Millisecond, 0.1)))
		w.run(time.Minute)
		for w.service.documents.rate > 500 {
			w.service.documents.set(w.now, 0.93*w.service.documents.rate)
			w.run(w.now + 500*time.Millisecond)
		}
		w.run(w.now + 30*time.Second)
		got := w.span(w.now-20*time.Second, w.now)
		assert.Less(t, got.throttled, 0.05)
		assert.Greater(t, got.goodput, 0.9*w.service.documents.rate)
	}
}

// A sender with a pause of a minute raises its rate as soon as another one.
func TestAnOpenBreakerIsNotWhatALimitCosts(t *testing.T) {
	grown := func(pause time.Duration) float64 {
		c := tuning.Adaptive(nil).New(usualBounds)
		now := time.Duration(0)
		request := func(refused bool) {
			now += 50 * time.Millisecond
			n := c.Pace().BatchActions
			done := n
			if refused {
				done = 0
			}
			c.Observe(tuning.Observation{Now: now, Started: now - 10*time.Millisecond, Actions: n, Bytes: 100 * n, Done: done, Refused: refused, InFlight: 1, Backlog: 5000})
		}
		for i := range 1000 { // 50 s
			request(i%100 == 99)
		}
		now += pause
		before, _ := tuning.RateOf(c)
		for range 160 { // 8 s
			request(false)
		}
		after, _ := tuning.RateOf(c)
		return after / before
	}
	assert.InEpsilon(t, grown(5*time.Second), grown(time.Minute), 0.1)
}
