package tuning_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// worst runs one sender of batches of 200 against a limit of requests per second with a random initial reserve. It
// returns the least and the mean share of the capacity from 10 to 90 s, and the number of seeds below 85 %.
func worst(perSecond float64, seeds uint64) (least, mean float64, below int) {
	const batch = 200
	least = 1
	for seed := range seeds {
		w := newWorld(seed, tuning.Adaptive(nil), tuning.Bounds{Max: tuning.Pace{BatchActions: batch, BatchBytes: 16_000_000, InFlight: 8}}, 1,
			service{whole: true, requests: bucket{rate: perSecond, burst: 1}, latency: fixedLatency(50*time.Millisecond, 0.1)})
		w.service.requests.level *= w.random.Float64()
		w.senders[0].bytes, w.senders[0].uneven = tableSize, true
		w.run(90 * time.Second)
		share := w.span(10*time.Second, 90*time.Second).goodput / (batch * perSecond)
		least = min(least, share)
		mean += share / float64(seeds)
		if share < 0.85 {
			below++
		}
	}
	return least, mean, below
}

// A wrong result of a trial is corrected, even if nothing passed before the first refusal.
func TestNoSeedStaysFarBelowALimitOfRequests(t *testing.T) {
	seeds := testkit.Cases(20, 40, 100)
	for _, perSecond := range []float64{2, 3.5, 5, 10, 50} {
		t.Run(fmt.Sprintf("%v a second", perSecond), func(t *testing.T) {
			least, _, below := worst(perSecond, uint64(seeds))
			t.Logf("%.0f %% of the capacity in the worst of %d seeds, %d below 85 %%", 100*least, seeds, below)
			assert.Greater(t, least, 0.6)
			if perSecond > 2 {
				assert.LessOrEqual(t, below, 3)
			}
		})
	}
}

// TestASlowLimitOfRequestsIsFound: with a reserve of one request, a limit of requests must not be mistaken for one of
// documents while little is known.
func TestASlowLimitOfRequestsIsFound(t *testing.T) {
	for perSecond, want := range map[float64]float64{1: 0.7, 0.7: 0.5, 0.5: 0.35} {
		_, mean, _ := worst(perSecond, 20)
		t.Logf("%v a second: %.0f %%", perSecond, 100*mean)
		assert.Greater(t, mean, want, "%v a second", perSecond)
	}
}
