package breaker_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

func TestStatesHaveNames(t *testing.T) {
	var names []string
	for s := breaker.Closed; s <= breaker.Disabled+1; s++ {
		names = append(names, s.String())
	}
	assert.Equal(t, []string{"closed", "half-open", "open", "disabled", "unknown"}, names)
}

func TestOutcomesHaveNames(t *testing.T) {
	var names []string
	for o := breaker.Success; o <= breaker.Neutral+1; o++ {
		names = append(names, o.String())
	}
	assert.Equal(t, []string{"success", "failure", "trip", "neutral", "unknown"}, names)
}

func TestARefusalSaysSinceWhenUntilWhenAndWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, steady())
		refusal := func() *breaker.OpenError {
			permit, err := b.Allow()
			require.Nil(t, permit)
			require.ErrorIs(t, err, breaker.ErrOpen)
			var open *breaker.OpenError
			require.ErrorAs(t, fmt.Errorf("flush: %w", err), &open)
			assert.Equal(t, b.Status(), open.Status)
			return open
		}
		request(t, b, breaker.Result{Outcome: breaker.Trip, Err: fmt.Errorf("index hotels: %w", errDown)})
		open := refusal()
		assert.EqualError(t, open, "circuit breaker open since 2000-01-01T00:00:00.000Z until 2000-01-01T00:00:30.000Z: index hotels: down")
		assert.ErrorIs(t, open, errDown)

		time.Sleep(30 * time.Second)
		allow(t, b)
		time.Sleep(time.Second)
		open = refusal()
		assert.EqualError(t, open, "circuit breaker open: a probe is under way since 2000-01-01T00:00:30.000Z: index hotels: down")
		assert.ErrorIs(t, open, errDown)

		b.Disable()
		open = refusal()
		assert.EqualError(t, open, "circuit breaker open: disabled since 2000-01-01T00:00:31.000Z until it is enabled")
		assert.NotErrorIs(t, open, errDown)
		assert.NoError(t, errors.Unwrap(open))
	})
}

// A log entry is one line, and joined errors are often equal.
func TestARefusalIsOneLineAndSaysACauseOnce(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		want  string
	}{
		"none":                    {nil, ""},
		"one":                     {errDown, ": down"},
		"the same twice":          {errors.Join(errDown, errDown), ": down"},
		"two, one of them twice":  {errors.Join(errDown, errors.New("slow"), errDown), ": down; slow"},
		"lines of a page of HTML": {errors.New("<html>\r\n\n  <title>502</title>\n</html>"), ": <html>; <title>502</title>; </html>"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, steady())
				request(t, b, breaker.Result{Outcome: breaker.Trip, Err: c.cause})
				_, err := b.Allow()
				assert.EqualError(t, err, "circuit breaker open since 2000-01-01T00:00:00.000Z until 2000-01-01T00:00:30.000Z"+c.want)
			})
		})
	}
}

func TestStatusForgetsWhyWhenItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		request(t, b, trip)
		time.Sleep(30 * time.Second)
		assert.Equal(t, errDown, b.Status().Err)
		request(t, b, succeed)
		assert.Equal(t, breaker.Status{
			State: breaker.Closed, Since: time.Now(), Counts: breaker.Counts{Allowed: 2, Successes: 1, Failures: 1, Opened: 1},
		}, b.Status())
	})
}
