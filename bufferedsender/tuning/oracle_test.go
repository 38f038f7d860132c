package tuning_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// oracle is a sender alone on a service with a reserve of one second. It knows the exact capacity, but only as of its
// last question: at the start, every period, and after each refusal. A question takes all of the reserve and is
// refused, which costs a pause. A question is not refused if the capacity has grown.
//
// A policy that learns from replies must ask too, and knows less. So it gets at most this much if it asks as often,
// and finds growth later if it asks less often.
type oracle struct {
	pause, period time.Duration

	known, reserve float64 // of the first capacity, a second; and what is left
	next, resume   time.Duration
}

// ask learns the capacity, and returns what it takes of the reserve.
func (o *oracle) ask(now time.Duration, capacity float64) (taken float64) {
	taken = o.reserve
	if capacity <= o.known {
		o.resume = now + o.pause
	}
	o.known, o.reserve, o.next = capacity, 0, max(now, o.resume)+o.period
	return taken
}

// steady returns what is taken from 10 to 90 s after the capacity has changed, as a
// share of it. The first question comes at that time.
func (o *oracle) steady(change float64, first time.Duration) (share float64) {
	const step = 20 * time.Millisecond
	capacity, from := 1.0, time.Duration(0)
	if change != 1 {
		from = tableChange
	}
	o.known, o.reserve, o.next = capacity, capacity, first
	for now := time.Duration(0); now < from+90*time.Second; now += step {
		if now == tableChange {
			capacity = change
		}
		taken := 0.0
		o.reserve = min(o.reserve+capacity*step.Seconds(), capacity)
		if now >= o.resume {
			taken = min(o.known*step.Seconds(), o.reserve)
			o.reserve -= taken
			if now >= o.next || o.reserve <= 0 && o.known > capacity {
				taken += o.ask(now, capacity)
			}
		}
		if now >= from+10*time.Second {
			share += taken / capacity / 80
		}
	}
	return share
}

// bestOracle returns the shares of the oracle by change of the capacity, for the period with the best mean, and that
// period. The change comes at any time of a period.
func bestOracle(pause time.Duration) (best map[float64]float64, period time.Duration) {
	most := 0.0
	for p := 5 * time.Second; p <= 80*time.Second; p += 5 * time.Second {
		shares, sum := map[float64]float64{}, 0.0
		for _, change := range []float64{1, 0.5, 2, 10} {
			const phases = 20
			for i := range phases {
				o := oracle{pause: pause, period: p}
				shares[change] += o.steady(change, (p+pause)*time.Duration(i)/phases) / phases
			}
			sum += shares[change]
		}
		if sum > most {
			best, period, most = shares, p, sum
		}
	}
	return best, period
}

// oracles are the shares by Retry-After and change.
var oracles = sync.OnceValue(func() map[time.Duration]map[float64]float64 {
	all := map[time.Duration]map[float64]float64{}
	for _, pause := range []time.Duration{0, time.Second, 5 * time.Second} {
		all[pause], _ = bestOracle(pause)
	}
	return all
})

// TestWhoMustAskLosesWhatAPauseCosts: if each question costs five seconds, no policy gets 90 % of a capacity that has
// doubled.
func TestWhoMustAskLosesWhatAPauseCosts(t *testing.T) {
	best, period := bestOracle(time.Second)
	for change, share := range best {
		assert.Greater(t, share, 0.99, "share of a capacity times %v, asking every %v: the reserve outlasts the pause", change, period)
	}
	best, period = bestOracle(5 * time.Second)
	t.Logf("every %v: %.3f", period, best)
	assert.InDelta(t, 40, period.Seconds(), 10)
	for change, share := range map[float64]float64{1: 0.91, 0.5: 0.95, 2: 0.86, 10: 0.80} {
		assert.InDelta(t, share, best[change], 0.02, "share of a capacity times %v", change)
	}
}
