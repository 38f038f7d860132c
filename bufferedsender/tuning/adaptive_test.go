package tuning_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// usualBounds are those of a sender with 64 requests in flight.
var usualBounds = tuning.Bounds{Max: tuning.Pace{BatchActions: 1000, BatchBytes: 16_000_000, InFlight: 64}}

// anyBounds draws bounds, some of them contradictory.
func anyBounds(t *rapid.T) tuning.Bounds {
	limits := func(name string) tuning.Pace {
		number := rapid.OneOf(rapid.IntRange(-1, 3), rapid.IntRange(1, 1000), rapid.SampledFrom([]int{0, 32_000, 1 << 24, math.MaxInt, math.MinInt}))
		return tuning.Pace{
			BatchActions: number.Draw(t, name+" actions"),
			BatchBytes:   number.Draw(t, name+" bytes"),
			InFlight:     number.Draw(t, name+" in flight"),
			Interval:     anyTime.Draw(t, name+" interval"),
		}
	}
	return tuning.Bounds{Min: limits("min"), Max: limits("max")}
}

func anyOptions(t *rapid.T) *tuning.AdaptiveOptions {
	return &tuning.AdaptiveOptions{Spacing: anyTime.Draw(t, "spacing")}
}

var anyTime = rapid.OneOf(
	rapid.Map(rapid.Int64Range(0, int64(10*time.Second)), func(n int64) time.Duration { return time.Duration(n) }),
	rapid.SampledFrom([]time.Duration{0, -1, 1, time.Millisecond, time.Hour, math.MaxInt64, math.MinInt64}),
)

// anything draws an observation that no sender would make.
func anything(t *rapid.T) tuning.Observation {
	number := rapid.OneOf(rapid.IntRange(-1, 2000), rapid.SampledFrom([]int{math.MaxInt, math.MinInt}))
	return tuning.Observation{
		Now: anyTime.Draw(t, "now"), Started: anyTime.Draw(t, "started"),
		Actions: number.Draw(t, "actions"), Bytes: number.Draw(t, "bytes"),
		Done: number.Draw(t, "done"), Throttled: number.Draw(t, "throttled"),
		Refused: rapid.Bool().Draw(t, "refused"), Broken: rapid.Bool().Draw(t, "broken"),
		InFlight: number.Draw(t, "in flight"), Backlog: number.Draw(t, "backlog"),
	}
}

// requests makes observations like a sender with one request at a time.
type requests struct {
	now        time.Duration
	controller tuning.Controller
}

// next draws the outcome of the next request.
func (r *requests) next(t *rapid.T) tuning.Observation {
	l := r.controller.Pace()
	o := tuning.Observation{
		Started: r.now + l.Interval, Actions: rapid.IntRange(1, l.BatchActions).Draw(t, "actions"),
		InFlight: 1, Backlog: rapid.SampledFrom([]int{0, 1, 100_000}).Draw(t, "backlog"),
	}
	o.Now = o.Started + time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "latency"))
	o.Bytes = o.Actions * rapid.IntRange(20, 20_000).Draw(t, "size")
	switch rapid.IntRange(0, 4).Draw(t, "outcome") {
	case 0:
		o.Refused = true
		o.Now += time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "pause"))
	case 1:
		o.Throttled = rapid.IntRange(1, o.Actions).Draw(t, "throttled")
		o.Done = o.Actions - o.Throttled
	case 2:
		o.Broken = true
	default:
		o.Done = o.Actions
	}
	r.now = o.Now
	return o
}

func TestLimitsStayWithinTheirBoundsWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := anyBounds(t)
		b := bounds.Normalized()
		c := tuning.Adaptive(anyOptions(t)).New(bounds)
		check := func(l tuning.Pace) {
			assert.Equal(t, l, c.Pace())
			require.GreaterOrEqual(t, l.BatchActions, b.Min.BatchActions)
			require.LessOrEqual(t, l.BatchActions, b.Max.BatchActions)
			require.GreaterOrEqual(t, l.BatchBytes, b.Min.BatchBytes)
			require.LessOrEqual(t, l.BatchBytes, b.Max.BatchBytes)
			require.GreaterOrEqual(t, l.InFlight, b.Min.InFlight)
			require.LessOrEqual(t, l.InFlight, b.Max.InFlight)
			require.GreaterOrEqual(t, l.Interval, b.Min.Interval)
			require.LessOrEqual(t, l.Interval, b.Max.Interval)
			rate, _ := tuning.RateOf(c)
			require.False(t, math.IsNaN(rate) || math.IsInf(rate, 0) || rate < 0, "the rate is %v", rate)
		}
		check(c.Pace())
		for range rapid.IntRange(0, 60).Draw(t, "observations") {
			if rapid.IntRange(0, 19).Draw(t, "resize") == 0 {
				bounds = anyBounds(t)
				b = bounds.Normalized()
				check(c.(tuning.Resizer).Resize(bounds))
			}
			check(c.Observe(anything(t)))
		}
	})
}

func TestTheSameObservationsLeadToTheSameLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := tuning.Adaptive(nil)
		a, b := policy.New(usualBounds), policy.New(usualBounds)
		r := &requests{controller: a}
		for range rapid.IntRange(1, 60).Draw(t, "observations") {
			o := r.next(t)
			require.Equal(t, a.Observe(o), b.Observe(o))
		}
	})
}

func TestARefusalNeverRaisesTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := tuning.Adaptive(nil).New(usualBounds)
		r := &requests{controller: c}
		for range rapid.IntRange(1, 80).Draw(t, "observations") {
			before, known := tuning.RateOf(c)
			counted := tuning.CountsRequests(c)
			o := r.next(t)
			c.Observe(o)
			after, _ := tuning.RateOf(c)
			if known && counted == tuning.CountsRequests(c) && (o.Refused || o.Throttled > 0) {
				require.LessOrEqual(t, after, before)
				require.GreaterOrEqual(t, after, 0.1*before, "one decision may overshoot, possibly at the end of a trial")
			}
		}
	})
}

func TestMoreRefusalsNeverAllowMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := tuning.Adaptive(nil).New(usualBounds)
		r := &requests{controller: c}
		for range rapid.IntRange(1, 60).Draw(t, "observations") {
			o := r.next(t)
			if !o.Refused && !o.Broken {
				better, worse := tuning.CopyOf(c), tuning.CopyOf(c)
				fewer, more := o, o
				fewer.Throttled = rapid.IntRange(0, o.Actions).Draw(t, "fewer")
				more.Throttled = rapid.IntRange(fewer.Throttled, o.Actions).Draw(t, "more")
				fewer.Done, more.Done = o.Actions-fewer.Throttled, o.Actions-more.Throttled
				better.Observe(fewer)
				worse.Observe(more)
				high, known := tuning.RateOf(better)
				low, limited := tuning.RateOf(worse)
				require.False(t, known && !limited, "a rate is known only if fewer documents are refused")
				if known && tuning.CountsRequests(better) == tuning.CountsRequests(worse) {
					require.LessOrEqual(t, low, high)
				}
			}
			c.Observe(o)
		}
	})
}

func TestItRecoversFromAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := usualBounds
		bounds.Max.InFlight = 8
		w := newWorld(rapid.Uint64().Draw(t, "seed"), tuning.Adaptive(nil), bounds, 1, service{latency: fixedLatency(50*time.Millisecond, 0.1)})
		s := w.senders[0]
		r := &requests{controller: s.controller}
		for range rapid.IntRange(0, 60).Draw(t, "observations") {
			s.controller.Observe(r.next(t))
		}
		w.now = r.now
		s.limits, s.starts = s.controller.Pace(), 0
		began := w.now
		w.begin()
		w.run(began + 5*time.Minute)
		got := w.span(began+4*time.Minute, began+5*time.Minute)
		require.InEpsilon(t, 8*1000/0.05, got.goodput, 0.05, "documents a second, with %+v", s.limits)
		require.Zero(t, s.limits.Interval)
	})
}

func TestConnectionErrorsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := tuning.Adaptive(nil).New(usualBounds)
		r := &requests{controller: c}
		for range rapid.IntRange(1, 60).Draw(t, "observations") {
			o := r.next(t)
			before := c.Pace()
			if after := c.Observe(o); o.Broken {
				require.Equal(t, before, after)
			}
		}
	})
}

func TestWhoHasNothingToSendNeitherGainsNorLoses(t *testing.T) {
	for name, refuse := range map[string]bool{"without a limit": false, "with a rate": true} {
		t.Run(name, func(t *testing.T) {
			c := tuning.Adaptive(nil).New(usualBounds)
			now := time.Second
			if refuse {
				c.Observe(tuning.Observation{Now: now, Started: now - 50*time.Millisecond, Actions: 1000, Bytes: 100_000, Throttled: 900, Done: 100, InFlight: 1, Backlog: 5000})
			}
			before, known := tuning.RateOf(c)
			limits := c.Pace()
			for range 1000 {
				now += time.Second
				c.Observe(tuning.Observation{Now: now, Started: now - 10*time.Millisecond, Actions: 3, Bytes: 300, Done: 3, InFlight: 1})
			}
			after, still := tuning.RateOf(c)
			assert.Equal(t, known, still)
			assert.InDelta(t, before, after, 0)
			if !refuse {
				assert.Equal(t, limits, c.Pace())
			}
		})
	}
}

func TestAnIdleTimeIsNoPartOfAMeasurement(t *testing.T) {
	// Two seconds of work at 1000 a second, an idle hour, and two seconds again.
	c := tuning.Adaptive(nil).New(usualBounds)
	now := time.Duration(0)
	request := func(throttled, backlog int) {
		now += 100 * time.Millisecond
		c.Observe(tuning.Observation{Now: now, Started: now - 100*time.Millisecond, Actions: 100, Bytes: 1000, Done: 100 - throttled, Throttled: throttled, InFlight: 1, Backlog: backlog})
	}
	for range 60 {
		request(0, 10)
	}
	request(0, 0)
	now += time.Hour
	for range 60 {
		request(0, 10)
	}
	request(50, 10)
	rate, known := tuning.RateOf(c)
	require.True(t, known)
	assert.InEpsilon(t, 850, rate, 0.05)
}

func TestAWholeRefusalMakesTheNextRequestSmaller(t *testing.T) {
	c := tuning.Adaptive(nil).New(usualBounds)
	now := time.Duration(0)
	batch := c.Pace().BatchActions
	for range 12 {
		now += time.Second
		l := c.Observe(tuning.Observation{Now: now, Started: now - time.Millisecond, Actions: batch, Bytes: 100 * batch, Refused: true, InFlight: 1, Backlog: 5000})
		require.True(t, l.BatchActions < batch || batch == 1, "%d after %d", l.BatchActions, batch)
		batch = l.BatchActions
	}
	require.Equal(t, 1, batch)
}

func TestRequestsOfOneOverloadAreOneReason(t *testing.T) {
	c := tuning.Adaptive(nil).New(usualBounds)
	c.Observe(tuning.Observation{Now: time.Second, Started: 0, Actions: 1000, Bytes: 100_000, Done: 500, Throttled: 500, InFlight: 40, Backlog: 5000})
	before, _ := tuning.RateOf(c)
	for i := range 39 {
		at := time.Second + time.Duration(i)*10*time.Millisecond
		c.Observe(tuning.Observation{Now: at, Started: 100 * time.Millisecond, Actions: 1000, Bytes: 100_000, Throttled: 1000, InFlight: 39 - i, Backlog: 5000})
	}
	after, _ := tuning.RateOf(c)
	assert.InDelta(t, before, after, 0)
}

func TestLargeDocumentsMakeSmallBatches(t *testing.T) {
	bounds := usualBounds
	bounds.Max.BatchBytes = 1_000_000
	c := tuning.Adaptive(nil).New(bounds)
	now := time.Duration(0)
	for i := range 200 {
		now += 100 * time.Millisecond
		o := tuning.Observation{Now: now, Started: now - 50*time.Millisecond, Actions: 20, Bytes: 20 * 50_000, Done: 20, InFlight: 1, Backlog: 5000}
		if i%50 == 0 {
			o.Done, o.Throttled = 10, 10
		}
		c.Observe(o)
	}
	rate, known := tuning.RateOf(c)
	require.True(t, known)
	l := c.Pace()
	assert.LessOrEqual(t, l.BatchActions, 20, "of 50 kB each, in 1 MB")
	assert.InEpsilon(t, rate, float64(l.BatchActions)/l.Interval.Seconds(), 0.35, "the interval is for the batch that fits")
}

func TestResizeKeepsWhatWasLearned(t *testing.T) {
	c := tuning.Adaptive(nil).New(usualBounds)
	c.Observe(tuning.Observation{Now: time.Second, Started: 0, Actions: 1000, Bytes: 100_000, Done: 500, Throttled: 500, InFlight: 1, Backlog: 5000})
	before, _ := tuning.RateOf(c)
	b := usualBounds
	b.Max.BatchActions, b.Max.InFlight = 20, 2
	l := c.(tuning.Resizer).Resize(b)
	after, known := tuning.RateOf(c)
	assert.True(t, known)
	assert.InDelta(t, before, after, 0)
	assert.Equal(t, 20, l.BatchActions)
	assert.LessOrEqual(t, l.InFlight, 2)

	free := tuning.Adaptive(nil).New(usualBounds)
	now := time.Duration(0)
	for range 100 {
		now += time.Second
		free.Observe(tuning.Observation{Now: now, Started: now - time.Second, Actions: 1000, Bytes: 100_000, Done: 1000, InFlight: 1, Backlog: 5000})
	}
	require.Equal(t, 64, free.Pace().InFlight)
	b.Max.InFlight = 200
	free.(tuning.Resizer).Resize(b)
	for range 100 {
		now += time.Second
		free.Observe(tuning.Observation{Now: now, Started: now - time.Second, Actions: 20, Bytes: 2000, Done: 20, InFlight: 1, Backlog: 5000})
	}
	assert.Equal(t, 200, free.Pace().InFlight)
}

func TestFixedIsAlwaysAtTheUpperBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := anyBounds(t)
		b := bounds.Normalized()
		want := tuning.Pace{BatchActions: b.Max.BatchActions, BatchBytes: b.Max.BatchBytes, InFlight: b.Max.InFlight, Interval: b.Min.Interval}
		c := tuning.Fixed().New(bounds)
		require.Equal(t, want, c.Pace())
		require.Equal(t, want, c.Observe(anything(t)))
		other := anyBounds(t)
		n := other.Normalized()
		require.Equal(t, tuning.Pace{BatchActions: n.Max.BatchActions, BatchBytes: n.Max.BatchBytes, InFlight: n.Max.InFlight, Interval: n.Min.Interval}, c.(tuning.Resizer).Resize(other))
	})
}

func TestTheZeroBoundsAreUsable(t *testing.T) {
	for _, p := range []tuning.Policy{tuning.Fixed(), tuning.Adaptive(nil)} {
		assert.Equal(t, tuning.Pace{BatchActions: 1, BatchBytes: 1, InFlight: 1}, p.New(tuning.Bounds{}).Pace())
	}
}
