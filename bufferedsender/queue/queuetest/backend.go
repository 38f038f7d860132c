package queuetest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Backend is what the tests know of a back end: how to get a queue of it, and what it
// declares to have.
type Backend struct {
	// Run calls body once, with a queue that is new and empty, and returns when body has.
	// Afterwards it closes what it has opened and removes what it has stored. Bubble makes one for back
	// ends that keep time by package time.
	Run func(t *testing.T, c Config, body func(t *testing.T, h *Harness))

	// Durable: what Append has acknowledged outlives the object. Harness.Reopen is set.
	Durable bool
	// Shared: several objects work on the same storage at once, those of other processes
	// among them. Harness.Second is set.
	Shared bool
	// Sharded: keys have an order among those of a shard only, and Keys and Bytes of a
	// reservation, places of suspects, and PileLimit are counted over shards in an order that the
	// back end chooses. Harness.Together is set, and the tests of order, of bytes and of suspects
	// use its keys only.
	Sharded bool
	// Limited: Config.MaxKeys and Config.MaxBytes are kept.
	Limited bool
	// LeasesEnd: a queue that is opened again has no leases; all of them have run out at
	// the moment of the opening. Otherwise they last as long as was asked for.
	LeasesEnd bool
	// CountsEnd: the counters of Stats begin at zero when the queue is opened again.
	CountsEnd bool
}

// Config is what a test asks of a new queue.
type Config struct {
	// MaxKeys and MaxBytes bound what is in it; 0 means that it is not bounded. They are set for
	// Limited back ends only.
	MaxKeys  int
	MaxBytes int64
}

// Harness is one queue, and what else a test needs around it.
type Harness struct {
	// Queue is the queue. It implements Admin, Membership and Exchanger, too.
	Queue queue.Queue
	// Now is the time by the clock of the back end. It stands still while a test makes its calls and
	// passes by Sleep only: that makes every result predictable. A back end with a clock of
	// its own, a server's, needs a hook for tests that sets it.
	Now func() time.Time
	// Sleep lets d pass by the clock of the back end, without waiting that long.
	Sleep func(d time.Duration)
	// Await waits until cond holds that is going to by itself, because of another goroutine
	// of the back end, and returns whether it does. It gives up after a time that is
	// generous. cond may be called often, on the goroutine of the test.
	Await func(cond func() bool) bool
	// Reopen opens the storage of Queue again as after a crash of the process that had it,
	// so without Close, as far as the process of the test can do that, and returns the queue, which Harness.Queue
	// then is, too. nil if nothing survives.
	Reopen func(t *testing.T) queue.Queue
	// Second opens one more object on the same storage. nil if there is one owner only.
	Second func(t *testing.T) queue.Queue
	// Together returns n different keys of one shard, the same ones each time. nil means that any
	// keys will do.
	Together func(n int) []string
}

// Bubble makes Backend.Run of a back end that keeps time by package time: each test runs in
// a bubble of testing/synctest, where Sleep takes no time. open makes a queue, and may
// leave everything of the harness but Queue, Reopen and Second to Bubble. Queue is closed when the test
// has ended.
func Bubble(open func(t *testing.T, c Config) *Harness) func(*testing.T, Config, func(*testing.T, *Harness)) {
	return func(t *testing.T, c Config, body func(*testing.T, *Harness)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			h := open(t, c)
			defer func() {
				if err := h.Queue.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			h.fill()
			body(t, h)
		})
	}
}

// fill sets what open may leave out, for a test in a bubble.
func (h *Harness) fill() {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Sleep == nil {
		h.Sleep = func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait() // timers of the same moment have done what they do
		}
	}
	if h.Await == nil {
		h.Await = func(cond func() bool) bool {
			for range 100 {
				synctest.Wait()
				if cond() {
					return true
				}
				time.Sleep(10 * time.Millisecond)
			}
			return false
		}
	}
}

// together is Together, or any keys.
func (h *Harness) together(n int) []string {
	if h.Together != nil {
		return h.Together(n)
	}
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%05d", i)
	}
	return keys
}
