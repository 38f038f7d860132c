package queuetest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Backend describes a back end to the suite: how to make a queue, and its capabilities.
type Backend struct {
	// Run calls body once, with a new, empty queue, and returns after body. Then it closes what it opened and removes
	// what it stored. For back ends that take the time from package time, use Bubble.
	Run func(t *testing.T, c Config, body func(t *testing.T, h *Harness))

	// Durable: acknowledged records survive the object. Harness.Reopen is set.
	Durable bool
	// Shared: several objects, also of different processes, use the same storage at once. Harness.Second is set.
	Shared bool
	// Sharded: keys are ordered within their shard only. Keys and Bytes of a reservation, places of suspects, and
	// PileLimit are counted over shards in an order that the back end chooses. Harness.Together is set, and the tests
	// of order, bytes and suspects use its keys only.
	Sharded bool
	// Limited: the back end enforces Config.MaxKeys and Config.MaxBytes.
	Limited bool
	// LeasesEnd: all leases run out when a queue is opened again. Otherwise they last as long as requested.
	LeasesEnd bool
	// CountsEnd: the counters of Stats start at zero when the queue is opened again.
	CountsEnd bool
}

// Config holds the bounds of a new queue.
type Config struct {
	// MaxKeys and MaxBytes are the bounds; 0 means none. They are set for Limited back ends only.
	MaxKeys  int
	MaxBytes int64
}

// Harness is one queue with the tools of a test.
type Harness struct {
	// Queue is the queue under test. It also implements Admin, Membership and Exchanger.
	Queue queue.Queue
	// Now returns the time by the clock of the back end. It advances by Sleep only, so that every result is
	// predictable. A back end with a clock of its own, such as a server, needs a test hook that sets it.
	Now func() time.Time
	// Sleep advances the clock of the back end by d, without waiting that long.
	Sleep func(d time.Duration)
	// Await waits until cond holds, which a goroutine of the back end must bring about, and returns whether it does. It
	// gives up after a generous time. It may call cond often, on the goroutine of the test.
	Await func(cond func() bool) bool
	// Reopen opens the storage of Queue again, as after a crash of its process: without Close, as far as the test
	// process can do that. It sets Harness.Queue to the new queue and returns it. nil if nothing survives.
	Reopen func(t *testing.T) queue.Queue
	// Second opens another object on the same storage. nil if only one owner is possible.
	Second func(t *testing.T) queue.Queue
	// Together returns n different keys of one shard, always the same ones. nil if any keys will do.
	Together func(n int) []string
}

// Bubble returns a Backend.Run for back ends that take the time from package time. Each test runs in a testing/synctest
// bubble, where Sleep takes no time. open makes a queue; in the Harness it must set Queue, and Reopen and Second where
// they apply; Bubble sets the rest. It closes Queue after the test.
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

// fill sets the fields that open has left out, for a test in a bubble.
func (h *Harness) fill() {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Sleep == nil {
		h.Sleep = func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait() // lets timers of the same moment run
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

// together is Together, or any keys if that is nil.
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
