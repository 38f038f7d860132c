package breaker

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func openFor(t *testing.T, d, retryAfter time.Duration) *Breaker {
	t.Helper()
	b, err := New(&Options{Failures: 1, OpenFor: d, MaxOpenFor: d, Jitter: -1})
	require.NoError(t, err)
	permit, err := b.Allow()
	require.NoError(t, err)
	permit.Done(Result{Outcome: Failure, Err: errors.New("down"), RetryAfter: retryAfter})
	require.Equal(t, Open, b.Status().State)
	return b
}

func TestOneThatIsLetThroughEarlyClosesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openFor(t, time.Minute, 0)
		permit, ok := b.AllowEarly()
		require.True(t, ok)
		assert.True(t, permit.Probe())
		permit.Done(Result{Outcome: Success})
		assert.Equal(t, Closed, b.Status().State)
		_, ok = b.AllowEarly()
		assert.False(t, ok, "a closed one lets all through with Allow")
	})
}

func TestThoseThatAreLetThroughEarlyAreOneAtATimeAndEverFartherApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openFor(t, time.Hour, 0)
		changes, let := 0, 0
		defer b.Subscribe(func(Change) { changes++ })()
		for began := time.Now(); time.Since(began) < 36*time.Second; time.Sleep(10 * time.Millisecond) {
			permit, ok := b.AllowEarly()
			if !ok {
				continue
			}
			let++
			_, second := b.AllowEarly()
			assert.False(t, second)
			permit.Done(Result{Outcome: Failure})
			assert.Equal(t, let, changes, "refused callers are notified")
		}
		assert.Equal(t, Open, b.Status().State)
		assert.InDelta(t, 10, let, 2)
		_, err := b.Allow()
		require.ErrorIs(t, err, ErrOpen)
		b.Reset()
	})
}

func TestNobodyIsLetThroughBeforeTheServiceWantsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openFor(t, time.Second, 20*time.Second)
		_, ok := b.AllowEarly()
		assert.False(t, ok)
		time.Sleep(20 * time.Second)
		_, ok = b.AllowEarly()
		assert.True(t, ok)
	})
}

func TestOneOfAnEarlierOutageSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openFor(t, time.Minute, 0)
		early, ok := b.AllowEarly()
		require.True(t, ok)
		b.Reset()
		time.Sleep(time.Second)
		permit, err := b.Allow()
		require.NoError(t, err)
		permit.Done(Result{Outcome: Failure})
		require.Equal(t, Open, b.Status().State)
		early.Done(Result{Outcome: Success})
		assert.Equal(t, Open, b.Status().State)
		b.Reset()
	})
}

func TestOneIsLetThroughEarlyBesideAProbeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openFor(t, time.Second, 0)
		time.Sleep(time.Second)
		probe, err := b.Allow()
		require.NoError(t, err)
		early, ok := b.AllowEarly()
		require.True(t, ok)
		early.Done(Result{Outcome: Success})
		assert.Equal(t, Closed, b.Status().State)
		probe.Done(Result{Outcome: Failure})
		assert.Equal(t, Closed, b.Status().State)
	})
}

// One that hangs would otherwise keep all others for as long as requests may take.
func TestOneThatHangsKeepsTheNextForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openFor(t, time.Hour, 0)
		hangs, ok := b.AllowEarly()
		require.True(t, ok)
		_, ok = b.AllowEarly()
		require.False(t, ok)
		told := make(chan time.Time, 9)
		defer b.Subscribe(func(Change) { told <- time.Now() })()
		began := time.Now()
		assert.Equal(t, time.Second, (<-told).Sub(began))
		second, ok := b.AllowEarly()
		require.True(t, ok)
		_, ok = b.AllowEarly()
		assert.False(t, ok)
		hangs.Done(Result{Outcome: Neutral})
		assert.Len(t, told, 1, "a request that was refused is allowed again when another one ends")
		_, ok = b.AllowEarly()
		assert.False(t, ok, "the second is under way")
		second.Done(Result{Outcome: Neutral})
		_, ok = b.AllowEarly()
		assert.True(t, ok, "nothing has failed")
		b.Reset()
	})
}
