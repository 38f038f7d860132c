package breaker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If a subscriber ends the goroutine of Allow, no permit is returned, so another call must get the probe.
func TestAProbeThatNobodyGotIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := New(&Options{Failures: 1})
		require.NoError(t, err)
		permit, err := b.Allow()
		require.NoError(t, err)
		permit.Done(Result{Outcome: Failure})
		time.Sleep(defaultOpenFor)
		synctest.Wait()
		require.Equal(t, HalfOpen, b.Status().State)
		stop := b.Subscribe(func(Change) { panic("hostile") })
		defer stop()
		b.mu.Lock()
		b.notify(Change{From: Open, To: HalfOpen}) // as if the timer were a little late
		b.mu.Unlock()
		assert.PanicsWithValue(t, "hostile", func() { _, _ = b.Allow() })
		permit, err = b.Allow()
		require.NoError(t, err)
		assert.True(t, permit.Probe())
		stop()
		permit.Done(Result{Outcome: Success})
		assert.Equal(t, Closed, b.Status().State)
	})
}

func TestAnEarlyPermitThatNobodyGotIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := New(&Options{Failures: 1})
		require.NoError(t, err)
		permit, err := b.Allow()
		require.NoError(t, err)
		permit.Done(Result{Outcome: Failure})
		stop := b.Subscribe(func(Change) { panic("hostile") })
		b.mu.Lock()
		b.notify(Change{From: Open, To: Open})
		b.mu.Unlock()
		assert.PanicsWithValue(t, "hostile", func() { _, _ = b.AllowEarly() })
		stop()
		time.Sleep(time.Second)
		early, ok := b.AllowEarly()
		require.True(t, ok, "the pause after one that did not succeed is over")
		early.Done(Result{Outcome: Neutral, RetryAfter: time.Hour})
		time.Sleep(time.Second)
		_, ok = b.AllowEarly()
		require.True(t, ok, "a neutral result says nothing of the service")
	})
}

func TestAProbeThatNeverComesBackEndsByATimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := New(&Options{Failures: 1})
		require.NoError(t, err)
		permit, err := b.Allow()
		require.NoError(t, err)
		permit.Done(Result{Outcome: Failure})
		early, ok := b.AllowEarly()
		require.True(t, ok)
		time.Sleep(defaultOpenFor)
		lost, err := b.Allow()
		require.NoError(t, err)
		require.True(t, lost.Probe())
		time.Sleep(lostAfter + defaultMaxOpenFor)
		require.Equal(t, HalfOpen, b.Status().State)
		require.ErrorIs(t, b.Status().Err, errLost)
		next, err := b.Allow()
		require.NoError(t, err)
		_, ok = b.AllowEarly()
		require.True(t, ok, "a request does not wait for the lost probe")
		lost.Done(Result{Outcome: Success})
		early.Done(Result{Outcome: Success})
		require.Equal(t, HalfOpen, b.Status().State, "too late")
		next.Done(Result{Outcome: Success})
		require.Equal(t, Closed, b.Status().State)
	})
}
