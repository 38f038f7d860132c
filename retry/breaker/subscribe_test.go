package breaker_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// If a lock were held, or delivery waited for itself, the bubble would deadlock.
func TestASubscriberMayCallEverything(t *testing.T) {
	for name, call := range map[string]func(b *breaker.Breaker, cancel func()){
		"Allow": func(b *breaker.Breaker, _ func()) {
			if p, err := b.Allow(); err == nil {
				p.Done(succeed)
			}
		},
		"Status":    func(b *breaker.Breaker, _ func()) { b.Status() },
		"Reset":     func(b *breaker.Breaker, _ func()) { b.Reset() },
		"Disable":   func(b *breaker.Breaker, _ func()) { b.Disable() },
		"Enable":    func(b *breaker.Breaker, _ func()) { b.Enable() },
		"Subscribe": func(b *breaker.Breaker, _ func()) { b.Subscribe(func(breaker.Change) {})() },
		"cancel":    func(_ *breaker.Breaker, cancel func()) { cancel() },
		"Status elsewhere": func(b *breaker.Breaker, _ func()) {
			var elsewhere sync.WaitGroup
			elsewhere.Go(func() { b.Status() })
			elsewhere.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(t, nil)
				calls := 0
				var cancel func()
				cancel = b.Subscribe(func(breaker.Change) { calls++; call(b, cancel) })
				request(t, b, trip)
				time.Sleep(time.Minute)
				b.Disable()
				b.Enable()
				assert.Positive(t, calls)
			})
		})
	}
}

func TestAChangeThatASubscriberCausesIsReportedAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		var order []string
		b.Subscribe(func(c breaker.Change) {
			order = append(order, "first receives "+c.To.String())
			if c.To == breaker.Open {
				b.Reset()
				order = append(order, "first has reset it")
			}
		})
		b.Subscribe(func(c breaker.Change) { order = append(order, "second receives "+c.To.String()) })
		request(t, b, trip)
		assert.Equal(t, []string{
			"first receives open", "first has reset it", "second receives open", "first receives closed", "second receives closed",
		}, order)
	})
}

func TestASubscriberHearsOnlyWhatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		b.Disable()
		var heard recorder
		cancel := b.Subscribe(heard.hear)
		assert.Empty(t, heard.heard())
		b.Enable()
		cancel()
		cancel()
		b.Disable()
		assert.Len(t, heard.heard(), 1)
	})
}

// A cancelled subscriber gets no pending notifications.
func TestCancelDropsWhatWasNotReportedYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		var cancel func()
		b.Subscribe(func(breaker.Change) { cancel() })
		var heard recorder
		cancel = b.Subscribe(heard.hear)
		b.Disable()
		assert.Empty(t, heard.heard())
	})
}

// A running callback may take long, or wait for the caller of cancel.
func TestCancelWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		release := make(chan struct{})
		calls := 0
		cancel := b.Subscribe(func(breaker.Change) { <-release; calls++ })
		var heard recorder
		other := b.Subscribe(heard.hear)
		go b.Disable()
		synctest.Wait()
		cancel()
		other()
		close(release)
		synctest.Wait()
		b.Enable()
		assert.Equal(t, 1, calls, "only the call in progress")
		assert.Empty(t, heard.heard())
	})
}

// Every change is reported once, in order, one at a time, whatever caused it, so From equals the previous To.
func TestChangesMakeAChainConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, &breaker.Options{Failures: 2, OpenFor: time.Millisecond})
		var inside atomic.Int32
		var changes []breaker.Change // not guarded: the race detector checks it
		b.Subscribe(func(c breaker.Change) {
			if inside.Add(1) != 1 {
				t.Error("two calls at the same time")
			}
			changes = append(changes, c)
			inside.Add(-1)
		})
		for g := range 4 {
			go func() {
				for i := range 3000 {
					switch p, err := b.Allow(); {
					case i%64 == g:
						b.Disable()
						b.Enable()
					case i%16 == g:
						b.Reset()
					case err != nil:
						b.Status()
						time.Sleep(time.Millisecond / 2)
					default:
						p.Done([]breaker.Result{succeed, fail, fail, saysNone, trip}[(i+g)%5])
					}
				}
			}()
		}
		time.Sleep(time.Hour)
		synctest.Wait()

		at, seen := breaker.Closed, map[breaker.State]int{}
		for i, c := range changes {
			require.Equal(t, at, c.From, i)
			if i > 0 {
				require.False(t, c.At.Before(changes[i-1].At), i)
			}
			if c.To != breaker.HalfOpen || c.From != breaker.HalfOpen {
				require.NotEqual(t, c.From, c.To, i)
				seen[c.To]++
			}
			at = c.To
		}
		s := b.Status()
		assert.Equal(t, s.State, at)
		assert.EqualValues(t, s.Counts.Opened, seen[breaker.Open])
		assert.Len(t, seen, 4, "every state is reached")
		assert.EqualValues(t, 4*3000, s.Counts.Allowed+s.Counts.Refused)
	})
}

func TestAPanicOfASubscriberGoesUpAndTheOthersAreNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(t, nil)
		var heard recorder
		cancel := b.Subscribe(func(c breaker.Change) { panic("at " + c.To.String()) })
		b.Subscribe(heard.hear)
		require.PanicsWithValue(t, "at disabled", b.Disable)
		require.PanicsWithValue(t, "at closed", b.Enable)
		assert.Len(t, heard.heard(), 2)
		cancel()
		request(t, b, trip)
		assert.Len(t, heard.heard(), 3)
		b.Reset()
	})
}
