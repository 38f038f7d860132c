package sqlkit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// try calls f with a context of a second.
func try(t *testing.T, c *Calls, f func()) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := Call(ctx, c, time.Second, func() (struct{}, error) { f(); return struct{}{}, nil })
	return err
}

func TestCallsThatDoNotReturnAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, over := new(Calls), make(chan struct{})
		hang := func() { <-over }
		last, longest := time.Now(), time.Duration(0)
		for began := time.Now(); time.Since(began) < 30*24*time.Hour; time.Sleep(10 * time.Second) {
			before := c.open.Load()
			require.Error(t, try(t, c, hang))
			if c.open.Load() > before {
				last, longest = time.Now(), max(longest, time.Since(last))
			}
		}
		assert.EqualValues(t, mostAbandoned, c.open.Load())
		assert.InDelta(t, time.Hour, longest, float64(time.Minute))
		require.ErrorContains(t, try(t, c, func() {}), "32 calls of the driver have not returned")
		close(over)
		synctest.Wait()
		require.NoError(t, try(t, c, func() {}))
	})
}

// The connections of before may stay dead for ever.
func TestCallsGoOnOnceOneHasReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, over := new(Calls), make(chan struct{})
		defer close(over)
		for range someAbandoned {
			require.Error(t, try(t, c, func() { <-over }))
		}
		require.NoError(t, try(t, c, func() {}), "the first try in spite of the bound")
		for range 100 {
			require.NoError(t, try(t, c, func() {}))
		}
		require.Error(t, try(t, c, func() { <-over }))
		require.ErrorContains(t, try(t, c, func() {}), "9 calls of the driver have not returned")
	})
}

func TestWhoCallsTheSameSharesTheBound(t *testing.T) {
	c := CallsOf(t)
	assert.Same(t, c, CallsOf(t))
	assert.Same(t, c, CallsOf(func() {}, t), "a function is not comparable")
	assert.NotSame(t, c, CallsOf(new(int)))
	c.open.Add(1)
	defer c.open.Add(-1)
	for i := range 200 {
		CallsOf(i)
	}
	assert.Same(t, c, CallsOf(t), "it counts something")
	assert.LessOrEqual(t, len(callsOf.all), 65)
}
