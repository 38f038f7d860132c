package tuning_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// latencies are services that refuse nothing.
var latencies = map[string]func(w *world, actions, inService int) time.Duration{
	"always the same": fixedLatency(50*time.Millisecond, 0),
	"half a second":   fixedLatency(500*time.Millisecond, 0.1),
	"exponential": func(w *world, _, _ int) time.Duration {
		return time.Duration(50e6 * w.random.ExpFloat64())
	},
	"a long tail": func(w *world, _, _ int) time.Duration {
		return time.Duration(50e6 * math.Exp(w.random.NormFloat64()))
	},
	"proportional to the batch": func(_ *world, actions, _ int) time.Duration {
		return time.Duration(actions) * 100 * time.Microsecond
	},
	"ten times slower after a minute": func(w *world, _, _ int) time.Duration {
		if w.now > time.Minute {
			return 500 * time.Millisecond
		}
		return 50 * time.Millisecond
	},
}

// against runs both policies with the same service. It returns the goodput of the adaptive one over a time span as a
// share of the fixed one's, and the adaptive one's world.
func against(seed uint64, s service, bounds tuning.Bounds, from, to time.Duration) (float64, *world) {
	fixed := newWorld(seed, tuning.Fixed(), bounds, 1, s)
	fixed.run(to)
	adaptive := newWorld(seed, tuning.Adaptive(nil), bounds, 1, s)
	adaptive.run(to)
	return adaptive.span(from, to).goodput / fixed.span(from, to).goodput, adaptive
}

func TestWithoutALimitItCostsNothing(t *testing.T) {
	bounds := usualBounds
	bounds.Max.InFlight = 16
	for name, latency := range latencies {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				share, w := against(seed, service{latency: latency}, bounds, 0, 2*time.Minute)
				assert.Greater(t, share, 0.97, "share of the documents that fixed limits sent, from the start")
				assert.Equal(t, tuning.Fixed().New(bounds).Pace(), w.senders[0].limits)
			}
		})
	}
}

func TestItIsAtTheUpperBoundsAfterAFewRequests(t *testing.T) {
	w := newWorld(1, tuning.Adaptive(nil), usualBounds, 1, service{latency: fixedLatency(500*time.Millisecond, 0)})
	w.run(2100 * time.Millisecond)
	assert.Equal(t, 64, w.senders[0].limits.InFlight, "the limit after the time of four requests")
}

func TestRequestsThatOnlyWaitForEachOtherAreNotSent(t *testing.T) {
	for workers, most := range map[int]int{1: 6, 4: 12, 16: 48} {
		queue := func(w *world, _, inService int) time.Duration {
			waiting := max(1, float64(inService)/float64(workers))
			return time.Duration(50e6 * waiting * (0.9 + 0.2*w.random.Float64()))
		}
		share, w := against(1, service{latency: queue}, usualBounds, 0, 3*time.Minute)
		assert.Greater(t, share, 0.97)
		assert.LessOrEqual(t, w.senders[0].limits.InFlight, most, "with %d workers", workers)
		assert.GreaterOrEqual(t, w.senders[0].limits.InFlight, workers)
	}
}

func TestTheWindowOpensAgainWhenTheQueueIsGone(t *testing.T) {
	workers := 4.0
	queue := func(_ *world, _, inService int) time.Duration {
		return time.Duration(50e6 * max(1, float64(inService)/workers))
	}
	w := newWorld(1, tuning.Adaptive(nil), usualBounds, 1, service{latency: queue})
	w.run(time.Minute)
	assert.Less(t, w.senders[0].limits.InFlight, 16)
	workers = 64
	w.run(2 * time.Minute)
	assert.Equal(t, 64, w.senders[0].limits.InFlight)
}
