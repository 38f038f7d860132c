package tuning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

func TestRefusalsThatNoRatePreventsDoNotSlowItDown(t *testing.T) {
	bounds := usualBounds
	bounds.Max.InFlight = 4
	for _, chance := range []float64{0.001, 0.01, 0.05, 0.2} {
		for _, latency := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond} {
			for seed := range uint64(2) {
				s := service{chance: chance, latency: fixedLatency(latency, 0.1)}
				share, w := against(seed, s, bounds, time.Minute, 100*time.Second)
				assert.Greater(t, share, 0.9, "of the documents that fixed limits sent, if %v are refused, after %v", chance, latency)
				assert.Less(t, w.span(time.Minute, 100*time.Second).throttled, 1.2*chance)
			}
		}
	}
}

func TestALimitIsFoundAmongRefusalsByChance(t *testing.T) {
	for _, capacity := range []float64{2000, 50_000} {
		for _, chance := range []float64{0.01, 0.05, 0.1} {
			for _, senders := range []int{1, 4} {
				w := newWorld(1, tuning.Adaptive(nil), usualBounds, senders, service{capacity: capacity, burst: 1, chance: chance, latency: fixedLatency(50*time.Millisecond, 0.1)})
				w.run(3 * time.Minute)
				got := w.span(time.Minute, 3*time.Minute)
				assert.Greater(t, got.goodput, 0.9*capacity, "%d senders, %v are refused", senders, chance)
				assert.Less(t, got.throttled, chance+0.05, "%d senders, %v are refused", senders, chance)
				w.service.setCapacity(w.now, capacity/10)
				w.run(5 * time.Minute)
				low := w.span(4*time.Minute, 5*time.Minute)
				assert.Greater(t, low.goodput, 0.9*capacity/10, "a tenth, %d senders, %v are refused", senders, chance)
				assert.Less(t, low.throttled, chance+0.05, "a tenth, %d senders, %v are refused", senders, chance)
			}
		}
	}
}

func TestWhenRefusalsByChanceEndOnlyTheLimitIsLeft(t *testing.T) {
	for _, senders := range []int{1, 4} {
		w := newWorld(1, tuning.Adaptive(nil), usualBounds, senders, service{capacity: 2000, burst: 1, chance: 0.2, latency: fixedLatency(50*time.Millisecond, 0.1)})
		w.run(time.Minute)
		w.service.chance = 0
		w.run(4 * time.Minute)
		got := w.span(2*time.Minute, 4*time.Minute)
		assert.Greater(t, got.goodput, 0.9*2000)
		assert.Less(t, got.throttled, 0.05)
	}
}

// TestACapacityThatGoesOnFallingIsFollowed: the share of refused documents stays
// as it is while the rate falls, but they are not refused one by one.
func TestACapacityThatGoesOnFallingIsFollowed(t *testing.T) {
	for seed := range uint64(5) {
		w := newWorld(seed, tuning.Adaptive(nil), usualBounds, 1, service{capacity: 20_000, burst: 1, latency: fixedLatency(50*time.Millisecond, 0.1)})
		w.run(time.Minute)
		for w.service.capacity > 500 {
			w.service.setCapacity(w.now, 0.93*w.service.capacity)
			w.run(w.now + 500*time.Millisecond)
		}
		w.run(w.now + 30*time.Second)
		got := w.span(w.now-20*time.Second, w.now)
		assert.Less(t, got.throttled, 0.05)
		assert.Greater(t, got.goodput, 0.9*w.service.capacity)
	}
}
