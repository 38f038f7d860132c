package retry_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/retry"
)

const longest = time.Duration(math.MaxInt64)

func TestWithoutJitterTheWaitDoublesExactlyUpToTheCap(t *testing.T) {
	for _, c := range []struct {
		name string
		o    retry.Options
		want []time.Duration // after attempts 1, 2, …
	}{
		{
			"the defaults", retry.Options{},
			[]time.Duration{
				800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond, 6400 * time.Millisecond,
				12800 * time.Millisecond, 25600 * time.Millisecond, 51200 * time.Millisecond, time.Minute, time.Minute,
			},
		},
		{
			"a cap that is a doubling away", retry.Options{Delay: time.Second, MaxDelay: 4 * time.Second},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second},
		},
		{
			"an odd cap, where half of it is rounded down", retry.Options{Delay: 3, MaxDelay: 7},
			[]time.Duration{3, 6, 7, 7},
		},
		{
			"the smallest delay", retry.Options{Delay: 1, MaxDelay: 3},
			[]time.Duration{1, 2, 3, 3},
		},
		{
			"a cap of one delay", retry.Options{Delay: time.Second, MaxDelay: time.Second},
			[]time.Duration{time.Second, time.Second},
		},
		{
			"a cap below the default delay", retry.Options{MaxDelay: 100 * time.Millisecond},
			[]time.Duration{100 * time.Millisecond, 100 * time.Millisecond},
		},
		{
			"a delay above the cap, which Validate refuses", retry.Options{Delay: time.Hour, MaxDelay: time.Minute},
			[]time.Duration{time.Minute, time.Minute},
		},
		{
			"a delay above the default cap", retry.Options{Delay: time.Hour},
			[]time.Duration{time.Hour, time.Hour, time.Hour},
		},
		{
			"no cap", retry.Options{Delay: time.Hour, MaxDelay: -1},
			[]time.Duration{time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour},
		},
		{
			"no waiting", retry.Options{Delay: -1},
			[]time.Duration{0, 0, 0},
		},
		{
			"no waiting and no cap", retry.Options{Delay: math.MinInt64, MaxDelay: math.MinInt64},
			[]time.Duration{0, 0, 0},
		},
		{
			"the longest delay", retry.Options{Delay: longest, MaxDelay: -1},
			[]time.Duration{longest, longest},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Jitter = -1
			for i, want := range c.want {
				assert.Equal(t, want, c.o.Wait(i+1), "after attempt %d", i+1)
			}
		})
	}
}

// Implementations with shifts or powers overflow and stop waiting from the 23rd or 34th attempt on.
func TestWaitDoesNotOverflowHoweverManyAttempts(t *testing.T) {
	capped, uncapped := retry.Options{Jitter: -1}, retry.Options{Jitter: -1, MaxDelay: -1}
	last := time.Duration(0)
	for attempt := 1; attempt <= 200; attempt++ {
		wait := uncapped.Wait(attempt)
		if last <= longest/2 {
			require.Equal(t, max(2*last, retry.DefaultDelay), wait, "after attempt %d", attempt)
		} else {
			require.Equal(t, longest, wait, "after attempt %d", attempt)
		}
		last = wait
		require.Equal(t, min(wait, retry.DefaultMaxDelay), capped.Wait(attempt), "after attempt %d", attempt)
	}
	for _, attempt := range []int{math.MaxInt32, math.MaxInt - 1, math.MaxInt} {
		assert.Equal(t, retry.DefaultMaxDelay, capped.Wait(attempt))
		assert.Equal(t, longest, uncapped.Wait(attempt))
	}
}

func TestAnAttemptBelowOneCountsAsTheFirst(t *testing.T) {
	for _, attempt := range []int{0, -1, math.MinInt + 1, math.MinInt} {
		assert.Equal(t, retry.DefaultDelay, retry.Options{Jitter: -1}.Wait(attempt), "attempt %d", attempt)
	}
}

// edgy draws from the whole range, and often from its ends and from around zero.
func edgy(t *rapid.T, name string) int64 {
	return rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-2, 100),
		rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)),
		rapid.Int64Range(math.MaxInt64-2000, math.MaxInt64),
		rapid.Int64Range(math.MinInt64, math.MinInt64+2),
	).Draw(t, name)
}

// anyOptions also draws options that Validate refuses.
func anyOptions(t *rapid.T) retry.Options {
	return retry.Options{
		MaxRetries: int(edgy(t, "MaxRetries")),
		Delay:      time.Duration(edgy(t, "Delay")),
		MaxDelay:   time.Duration(edgy(t, "MaxDelay")),
		Jitter: rapid.OneOf(
			rapid.Float64(),
			rapid.Float64Range(0, 1),
			rapid.SampledFrom([]float64{
				math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1, -1, 0.2, 1e-18, 1e-300,
				math.SmallestNonzeroFloat64, math.Nextafter(1, 0), math.Nextafter(1, 2),
			}),
		).Draw(t, "Jitter"),
	}
}

// modelBound computes the bound with floating-point powers, which cannot overflow.
func modelBound(o retry.Options, attempt int) float64 {
	delay, limit := float64(o.Delay), float64(o.MaxDelay)
	if delay == 0 {
		delay = float64(800 * time.Millisecond)
	}
	if limit == 0 {
		limit = max(float64(time.Minute), delay)
	}
	if limit < 0 {
		limit = math.MaxInt64
	}
	return max(min(delay*math.Pow(2, max(float64(attempt), 1)-1), limit), 0)
}

func TestWaitStaysWithinItsShareOfTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		attempt := int(edgy(t, "attempt"))
		bound := modelBound(o, attempt)
		share := o.Jitter
		switch {
		case share < 0:
			share = 0
		case !(share > 0 && share < 1):
			share = 1
		}

		exact := o
		exact.Jitter = -1
		assert.InEpsilon(t, bound+1, float64(exact.Wait(attempt))+1, 1e-9, "the bound")

		for range 20 {
			wait := o.Wait(attempt)
			if wait < 0 || wait > exact.Wait(attempt) {
				t.Fatalf("%+v waits %d after attempt %d, which is not within [0, %d]", o, wait, attempt, exact.Wait(attempt))
			}
			// Tolerance: one nanosecond and the rounding of a float64.
			if least := bound*(1-share)*(1-1e-9) - 1; float64(wait) < least {
				t.Fatalf("%+v waits %d after attempt %d, which is less than %g", o, wait, attempt, least)
			}
		}
	})
}

// With a little jitter on the longest waits, the middle of the range rounds up to 2^63 as a float64, which would give
// waits of zero.
func TestALittleJitterOnTheLongestWaitDoesNotOverflow(t *testing.T) {
	for _, jitter := range []float64{1e-300, 1e-18, 1e-16, 1e-9, 0.2, 0.999, math.Nextafter(1, 0), 1} {
		o := retry.Options{Delay: longest, MaxDelay: -1, Jitter: jitter}
		different := make(map[time.Duration]bool)
		for range 1000 {
			wait := o.Wait(99)
			different[wait] = true
			require.GreaterOrEqual(t, wait, time.Duration(0), "Jitter %g", jitter)
			require.GreaterOrEqual(t, float64(wait), float64(longest)*(1-jitter)*(1-1e-9), "Jitter %g", jitter)
		}
		if jitter >= 1e-9 {
			require.Greater(t, len(different), 1, "Jitter %g", jitter)
		}
	}
}

// draws returns the smallest and largest of 1000 waits as fractions of the bound.
func draws(o retry.Options, attempt int, bound time.Duration) (least, most float64) {
	least = math.Inf(1)
	for range 1000 {
		part := float64(o.Wait(attempt)) / float64(bound)
		least, most = min(least, part), max(most, part)
	}
	return least, most
}

// By chance each assertion fails once in 0.9^-1000, about 10^45, runs.
func TestFullJitterSpreadsOverTheWholeRange(t *testing.T) {
	// Validate refuses the last four; without it they mean 1.
	for _, jitter := range []float64{0, 1, 1.5, 1e300, math.Inf(1), math.NaN()} {
		for attempt, bound := range map[int]time.Duration{1: 800 * time.Millisecond, 3: 3200 * time.Millisecond, 50: time.Minute} {
			t.Run(fmt.Sprintf("Jitter %g, attempt %d", jitter, attempt), func(t *testing.T) {
				least, most := draws(retry.Options{Jitter: jitter}, attempt, bound)
				assert.Less(t, least, 0.1)
				assert.Greater(t, most, 0.9)
				assert.LessOrEqual(t, most, 1.0)
			})
		}
	}
}

// With 0.2 the wait after the third attempt is in the last fifth of 3.2 s, from 2.56 s to 3.2 s, and comes close to
// both ends.
func TestPartialJitterVariesOnlyItsShare(t *testing.T) {
	for jitter, from := range map[float64]float64{0.2: 0.8, 0.5: 0.5, 0.75: 0.25} {
		t.Run(fmt.Sprint(jitter), func(t *testing.T) {
			least, most := draws(retry.Options{Jitter: jitter}, 3, 3200*time.Millisecond)
			assert.GreaterOrEqual(t, least, from-1e-9)
			assert.Less(t, least, from+jitter/10)
			assert.Greater(t, most, 1-jitter/10)
			assert.LessOrEqual(t, most, 1.0)
		})
	}
}

func TestMaxAttempts(t *testing.T) {
	for retries, want := range map[int]int{
		0: 4, 1: 2, 3: 4, 10: 11, -1: 1, math.MinInt: 1, math.MaxInt - 1: math.MaxInt, math.MaxInt: math.MaxInt,
	} {
		assert.Equal(t, want, retry.Options{MaxRetries: retries}.MaxAttempts(), "MaxRetries %d", retries)
	}
}

func TestMaxAttemptsIsAtLeastOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if n := anyOptions(t).MaxAttempts(); n < 1 {
			t.Fatal(n)
		}
	})
}

func TestValidateAcceptsWhatTheFieldsDocument(t *testing.T) {
	for name, o := range map[string]retry.Options{
		"zero":                            {},
		"all settings off":                {MaxRetries: -1, Delay: -1, MaxDelay: -1, Jitter: -1},
		"all settings given":              {MaxRetries: 9, Delay: time.Second, MaxDelay: time.Second, Jitter: 1},
		"a delay and no cap":              {Delay: time.Hour, MaxDelay: -1},
		"a delay above the default cap":   {Delay: time.Hour},
		"a cap below the default delay":   {MaxDelay: time.Millisecond},
		"a share of jitter":               {Jitter: 0.2},
		"jitter of minus infinity is off": {Jitter: math.Inf(-1)},
	} {
		assert.NoError(t, o.Validate(), name)
	}
}

func TestValidateReportsEverythingAtOnce(t *testing.T) {
	for _, c := range []struct {
		o    retry.Options
		says []string
	}{
		{retry.Options{Jitter: 1.5}, []string{"Jitter is 1.5"}},
		{retry.Options{Jitter: math.NaN()}, []string{"Jitter is NaN"}},
		{retry.Options{Jitter: math.Inf(1)}, []string{"Jitter is +Inf"}},
		{retry.Options{Delay: time.Minute + 1, MaxDelay: time.Minute}, []string{"Delay 1m0.000000001s is above MaxDelay 1m0s"}},
		{retry.Options{Delay: 2 * time.Second, MaxDelay: time.Second, Jitter: 2}, []string{"Jitter is 2", "Delay 2s is above MaxDelay 1s"}},
	} {
		err := c.o.Validate()
		require.Error(t, err, "%+v", c.o)
		var joined interface{ Unwrap() []error }
		require.ErrorAs(t, err, &joined)
		require.Len(t, joined.Unwrap(), len(c.says), "%v", err)
		for _, s := range c.says {
			assert.ErrorContains(t, err, s)
		}
	}
}

func TestTheDefaultsAreThoseOfTheOfficialSenders(t *testing.T) {
	assert.Equal(t, 4, retry.Options{}.MaxAttempts())
	assert.Equal(t, 800*time.Millisecond, retry.DefaultDelay)
	assert.Equal(t, time.Minute, retry.DefaultMaxDelay)
}

func BenchmarkWait(b *testing.B) {
	for name, attempt := range map[string]int{"first": 1, "capped": 100} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				retry.Options{}.Wait(attempt)
			}
		})
	}
}
