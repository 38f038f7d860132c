package tuning_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// row is a service with a capacity, and the targets for a policy.
type row struct {
	capacity   float64
	latency    time.Duration
	senders    int
	reply      int
	retryAfter time.Duration
}

func (r row) String() string {
	s := fmt.Sprintf("%6.0f/s %5v %d senders", r.capacity, r.latency, r.senders)
	if r.reply != 0 {
		s += fmt.Sprintf(" reply %d", r.reply)
	}
	if r.retryAfter != 0 {
		s += fmt.Sprintf(" after %v", r.retryAfter)
	}
	return s
}

// rows are three capacities, three latencies, one and four senders.
func rows(reply int, retryAfter time.Duration) (all []row) {
	for _, capacity := range []float64{100, 2000, 50_000} {
		for _, latency := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 500 * time.Millisecond} {
			for _, senders := range []int{1, 4} {
				all = append(all, row{capacity, latency, senders, reply, retryAfter})
			}
		}
	}
	return all
}

// result is the outcome of a row: two minutes of load, two with a tenth of the capacity, two and a half with all of
// it again.
type result struct {
	steady, low, again span // goodput as a share of the capacity
	settled, recovered time.Duration
}

const (
	fall    = 2 * time.Minute
	back    = 4 * time.Minute
	end     = 390 * time.Second
	forEver = time.Hour
)

func (r row) run(seed uint64, policy tuning.Policy) (got result) {
	s := ofDocuments(r.capacity, fixedLatency(r.latency, 0.1))
	s.whole, s.retryAfter = r.reply != 0, r.retryAfter
	w := newWorld(seed, policy, usualBounds, r.senders, s)
	w.run(fall)
	w.service.documents.set(w.now, r.capacity/10)
	w.run(back)
	w.service.documents.set(w.now, r.capacity)
	w.run(end)

	got.settled, got.recovered = forEver, forEver
	for at := fall; at <= back-30*time.Second; at += time.Second {
		if s := w.span(at, at+30*time.Second); s.goodput >= 0.9*r.capacity/10 && s.throttled < 0.05 {
			got.settled = at - fall
			break
		}
	}
	for at := back; at <= end-5*time.Second; at += time.Second {
		if w.span(at, at+5*time.Second).goodput >= 0.8*r.capacity {
			got.recovered = at - back
			break
		}
	}
	share := func(from, to time.Duration, capacity float64) span {
		s := w.span(from, to)
		s.goodput /= capacity
		return s
	}
	got.steady = share(30*time.Second, fall, r.capacity)
	got.low = share(fall+30*time.Second, back, r.capacity/10)
	got.again = share(back+time.Minute, end, r.capacity)
	return got
}

// TestItFindsWhatTheServiceTakes checks the controller's targets in the simulation. With -v it prints a line for each
// row.
func TestItFindsWhatTheServiceTakes(t *testing.T) {
	const seeds = 3
	var shares []float64
	var sum, refused, n float64
	for _, all := range [][]row{rows(0, 0), rows(503, 0), rows(429, time.Second)} {
		for _, r := range all {
			t.Run(r.String(), func(t *testing.T) {
				goodput, throttled := map[string]float64{}, map[string]float64{} // means of the seeds
				for seed := range uint64(seeds) {
					got := r.run(seed, tuning.Adaptive(nil))
					t.Logf("goodput %5.1f %5.1f %5.1f %%, throttled %4.1f %4.1f %4.1f %%, least share %.2f %.2f %.2f, settled after %v, recovered after %v",
						100*got.steady.goodput, 100*got.low.goodput, 100*got.again.goodput,
						100*got.steady.throttled, 100*got.low.throttled, 100*got.again.throttled,
						got.steady.least, got.low.least, got.again.least, got.settled, got.recovered)
					if r.reply == 0 && r.capacity > 100 {
						assert.LessOrEqual(t, got.settled, 30*time.Second, "time to settle after the fall")
					}
					assert.LessOrEqual(t, got.recovered, 2*time.Minute, "time until 80 %% of the old capacity are used again")
					for name, s := range map[string]span{"before": got.steady, "with a tenth": got.low, "again": got.again} {
						goodput[name] += s.goodput / seeds
						throttled[name] += s.throttled / seeds
						if r.senders > 1 {
							shares = append(shares, s.least)
						}
					}
				}
				for name := range goodput {
					sum, refused, n = sum+goodput[name], refused+throttled[name], n+1
					if r.reply == 0 {
						assert.GreaterOrEqual(t, goodput[name], 0.9, "goodput %s", name)
						assert.Less(t, throttled[name], 0.07, "share of throttled documents %s", name)
					}
				}
			})
		}
	}
	// If whole requests are refused, trials decide the goodput, and chance decides the trials.
	assert.Greater(t, sum/n, 0.96, "mean goodput")
	assert.Less(t, refused/n, 0.05, "mean share of throttled documents")
	// The seed decides the shares over 90 seconds; usually all are close to fair.
	require.NotEmpty(t, shares)
	slices.Sort(shares)
	t.Logf("least share of a sender in 90 s, relative to the fair one: minimum %.2f, 5th percentile %.2f, median %.2f", shares[0], shares[len(shares)/20], shares[len(shares)/2])
	assert.Greater(t, shares[len(shares)/20], 0.2)
	assert.Greater(t, shares[len(shares)/2], 0.75)
}

// The service saves up one second of capacity, so each time the limit is hit, a pause of five seconds loses four.
func TestALongRetryAfterIsRarelyRisked(t *testing.T) {
	for wait, least := range map[time.Duration]float64{2 * time.Second: 0.7, 5 * time.Second: 0.55} {
		for _, latency := range []time.Duration{time.Millisecond, 50 * time.Millisecond} {
			r := row{capacity: 2000, latency: latency, senders: 1, reply: 503, retryAfter: wait}
			got := r.run(1, tuning.Adaptive(nil))
			assert.Greater(t, got.steady.goodput, least, "%v", r)
			assert.Greater(t, got.again.goodput, least, "%v", r)
			assert.LessOrEqual(t, got.recovered, 2*time.Minute, "%v", r)
		}
	}
}

func TestALatecomerGetsItsShare(t *testing.T) {
	for _, capacity := range []float64{100, 2000, 50_000} {
		w := newWorld(2, tuning.Adaptive(nil), usualBounds, 4, ofDocuments(capacity, fixedLatency(50*time.Millisecond, 0.1)))
		w.senders[3].starts = time.Minute
		w.run(5 * time.Minute)
		got := w.span(2*time.Minute, 5*time.Minute)
		assert.GreaterOrEqual(t, got.least, 0.3, "least share of a capacity of %v", capacity)
		assert.GreaterOrEqual(t, got.goodput, 0.9*capacity)
		assert.Less(t, got.throttled, 0.05)
	}
}

// A sender that had no limit for a moment starts gently: others may have used what it left.
func TestWhoHadNoLimitTakesNothingFromOthers(t *testing.T) {
	for _, reply := range []string{"429", "429, 1 s"} {
		r := tableRow{unit: "requests", reply: reply, change: 10, senders: 4}
		r.retryAfter = map[string]time.Duration{"429, 1 s": time.Second}[reply]
		got := r.mean().steady
		assert.Greater(t, got.least, 0.5, "least share, %s", reply)
		assert.Less(t, got.throttled, 0.007, "refused, %s", reply)
	}
}

func TestTooMuchWorkIsNeededToMeetALimit(t *testing.T) {
	for _, supply := range []float64{500, 1000, 1900} {
		w := newWorld(1, tuning.Adaptive(nil), usualBounds, 1, ofDocuments(2000, fixedLatency(50*time.Millisecond, 0.1)))
		w.senders[0].supply = supply
		w.run(2 * time.Minute)
		got := w.span(0, 2*time.Minute)
		assert.InEpsilon(t, supply, got.goodput, 0.02)
		assert.Zero(t, got.throttled)
		assert.Equal(t, 64, w.senders[0].limits.InFlight)
	}
}

func TestConnectionsThatBreakDoNotSlowItDown(t *testing.T) {
	w := newWorld(1, tuning.Adaptive(nil), usualBounds, 1, service{documents: bucket{rate: 2000, burst: 1}, broken: 0.005, latency: fixedLatency(50*time.Millisecond, 0.1)})
	w.run(2 * time.Minute)
	got := w.span(30*time.Second, 2*time.Minute)
	assert.GreaterOrEqual(t, got.goodput, 0.9*2000)
	assert.Less(t, got.throttled, 0.05)
}
