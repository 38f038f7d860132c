package publisher

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// immediate is a Transport that applies everything without taking time.
type immediate struct{}

func (immediate) Send(_ context.Context, b *Batch[int]) Reply[int] {
	return all(b, Result[int]{Next: Complete})
}

func atOnce(c *Config[int, int]) { c.Transport = immediate{} }

func TestAnIdlePublisherHasNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, e := start(t, &service{}, atOnce)
		for i := range 3 {
			synctest.Wait()
			assert.True(t, p.parked.Load(), "the loop parks when it has nothing to do")
			add(t, p, 1)
			require.NoError(t, p.Flush(t.Context()))
			assert.Equal(t, i+1, e.completed)
		}
		synctest.Wait()
		assert.True(t, p.parked.Load())
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestItemsThatWaitForAFullBatchKeepTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, e := start(t, &service{}, atOnce)
		add(t, p, 1)
		synctest.Wait()
		assert.Zero(t, e.completed)
		assert.False(t, p.parked.Load())
	})
}

func TestAWakeUpForNothingIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{}, atOnce)
		for range 3 {
			synctest.Wait()
			assert.True(t, p.parked.Load())
			assert.Empty(t, p.wake)
			p.Wake()
		}
	})
}

func TestAWakeUpBeforeTheMarkStartsTheLoopAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, e := start(t, &service{}, atOnce)
		synctest.Wait()
		p.parked.Store(false) // as while the loop is about to park
		add(t, p, 1)
		p.loop.park()
		synctest.Wait()
		assert.False(t, p.parked.Load(), "the loop does not park while an item waits for a full batch")
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, 1, e.completed)
	})
}

// A publisher of the whole program has no goroutine when a test adds to it within a bubble. Its goroutine must not
// start in the bubble, which could not end then.
func TestAPublisherFromOutsideABubbleStaysOutside(t *testing.T) {
	p, e := start(t, &service{}, atOnce)
	for !p.parked.Load() {
		runtime.Gosched()
	}
	synctest.Test(t, func(t *testing.T) { add(t, p, 1) })
	require.NoError(t, p.Close(t.Context()))
	assert.Equal(t, 1, e.completed)
}

// Each Flush is followed at once by the next Add, while the loop ends its goroutine or has just ended it. A lost
// wake-up is a deadlock, which synctest reports.
func TestNoWakeUpIsLostConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers, rounds = 2, 2000
		p, e := start(t, &service{}, atOnce)
		var done sync.WaitGroup
		for c := range callers {
			done.Go(func() {
				items := []Item[int]{{Key: strconv.Itoa(c), Body: []byte("{}")}}
				for range rounds {
					_, err := p.Add(t.Context(), items, true, false)
					assert.NoError(t, err)
					assert.NoError(t, p.Flush(t.Context()))
				}
			})
		}
		done.Wait()
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, callers*rounds, e.completed)
	})
}
