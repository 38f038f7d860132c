package publisher

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// journal records the content of requests in order: keys, each followed by one character of the body.
type journal struct {
	mu   sync.Mutex
	sent []string
}

func (j *journal) answer(b *Batch[int]) Reply[int] {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, it := range b.Items {
		j.sent = append(j.sent, it.Key+string(it.Body))
	}
	return applied(b)
}

func (j *journal) of(key string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var bodies []string
	for _, s := range j.sent {
		if body, of := strings.CutPrefix(s, key); of {
			bodies = append(bodies, body)
		}
	}
	return strings.Join(bodies, "")
}

// write adds items, each a key and one character.
func write(t *testing.T, p *Publisher[int, int], items ...string) {
	t.Helper()
	for _, s := range items {
		_, err := p.Add(t.Context(), []Item[int]{letter(s)}, true, false)
		require.NoError(t, err)
	}
}

func letter(s string) Item[int] { return Item[int]{Key: s[:1], Body: []byte(s[1:])} }

func TestWhatAHoldAddsGoesBetweenWhatWasAcceptedBeforeAndSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		p, e := start(t, &service{answer: j.answer}, nil)
		write(t, p, "k1", "k2", "x1")
		h, err := p.Hold(t.Context(), []string{"k", "y", "k"}, someone)
		require.NoError(t, err)
		assert.Equal(t, "12", j.of("k"), "everything before the hold has settled")
		write(t, p, "k5", "k6", "y2", "x2")
		p.FlushAfter(0)
		time.Sleep(time.Minute)
		assert.Equal(t, "12", j.of("k"), "later actions wait")
		assert.Equal(t, "12", j.of("x"), "other keys do not wait")
		require.NoError(t, h.Add(letter("k3"), letter("k4"), letter("y1")))
		p.FlushAfter(0)
		time.Sleep(time.Minute)
		assert.Equal(t, "1234", j.of("k"), "the actions are sent although the lane is held")
		assert.Equal(t, []bool{true, true, false}, p.Contains([]string{"k", "y", "x"}))
		h.Release()
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, "123456", j.of("k"))
		assert.Equal(t, "12", j.of("y"))
		assert.Equal(t, []bool{false, false, false}, p.Contains([]string{"k", "y", "x"}))
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, 10, e.completed)
		assert.Zero(t, p.loop.pending.lanes.count)
		assert.Zero(t, p.loop.pending.places.first)
	})
}

func TestAReleaseWaitsForWhatTheHoldHasAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		p, _ := start(t, &service{answer: j.answer}, func(c *Config[int, int]) { c.Limits.BatchItems = 1 })
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		write(t, p, "k2")
		require.NoError(t, h.Add(letter("k1")))
		h.Release()
		h.Release()
		write(t, p, "k3")
		require.ErrorIs(t, h.Add(letter("k9")), ErrReleased)
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, "123", j.of("k"))
	})
}

func TestHoldsOfTheSameKeysFollowOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{answer: applied}, nil)
		var order []string
		var all sync.WaitGroup
		hold := func(name string, keys ...string) {
			all.Go(func() {
				h, err := p.Hold(t.Context(), keys, someone)
				if !assert.NoError(t, err) {
					return
				}
				order = append(order, name)
				time.Sleep(time.Second)
				h.Release()
			})
			synctest.Wait()
		}
		hold("first", "a", "b")
		hold("second", "b", "a")
		hold("third", "a", "b", "c")
		all.Wait()
		assert.Equal(t, []string{"first", "second", "third"}, order)
	})
}

func TestAHoldThatWaitsHasWhatIsBeforeItSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		p, _ := start(t, &service{answer: j.answer}, nil) // there is no timer
		write(t, p, "x1")
		first, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		second := make(chan *Hold[int, int])
		go func() {
			h, err := p.Hold(t.Context(), []string{"k"}, someone)
			assert.NoError(t, err)
			second <- h
		}()
		synctest.Wait()
		require.NoError(t, first.Add(letter("k1")))
		first.Release()
		(<-second).Release()
		assert.Equal(t, "1", j.of("k"))
	})
}

func TestAHoldThatIsGivenUpHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		p, _ := start(t, &service{answer: j.answer}, nil)
		p.Pause()
		write(t, p, "k1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Hold(ctx, []string{"k", "free"}, someone)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, ErrPaused, "the cause of the wait")
		write(t, p, "k2", "f1")
		p.Resume()
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, "12", j.of("k"))
		assert.Equal(t, "1", j.of("f"))
	})
}

func TestAHoldDoesNotWaitForRoomThatWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		p, e := start(t, &service{answer: j.answer}, func(c *Config[int, int]) { c.Limits.Items = 2 })
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		write(t, p, "k2", "k3")
		go write(t, p, "k4")
		synctest.Wait()
		require.NoError(t, h.Add(letter("k1")))
		assert.Equal(t, 3, p.Stats().Items)
		h.Release()
		require.NoError(t, p.Flush(t.Context()))
		synctest.Wait()
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, "1234", j.of("k"))
		assert.Equal(t, 4, e.completed)
	})
}

func TestAHoldTakesOnlyKeysThatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{answer: applied}, nil)
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		defer h.Release()
		var other *NotHeldError
		require.ErrorAs(t, h.Add(letter("k1"), letter("x1")), &other)
		assert.Equal(t, "x", other.Key)
		assert.Zero(t, p.Stats().Accepted, "all actions are accepted, or none")
	})
}

func TestWhatIsTakenBackBehindAHoldSettlesWhenItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		p, e := start(t, &service{answer: j.answer}, nil)
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		write(t, p, "k1", "k2")
		n := p.Withdraw(func(string, *int) bool { return true })
		assert.Equal(t, 2, n)
		assert.Zero(t, e.failed)
		h.Release()
		synctest.Wait()
		assert.Equal(t, 2, e.failed)
		assert.Empty(t, j.of("k"))
		assert.Zero(t, p.Stats().Items)
	})
}

// cutFirst returns a service that cuts its first request; times gets the time of each.
func cutFirst(times *[]time.Duration) *service {
	began, cut := time.Now(), true
	return &service{answer: func(b *Batch[int]) Reply[int] {
		*times = append(*times, time.Since(began).Truncate(time.Second))
		if cut {
			cut = false
			return all(b, Result[int]{Next: Fail, Cut: true, Unknown: true})
		}
		return applied(b)
	}}
}

// The service may still execute a cut request: actions added by a hold, and later ones, wait as long as any action of
// that key.
func TestAHoldKeepsTheWaitAfterARequestThatWasCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Duration
		s := cutFirst(&times)
		p, _ := start(t, s, func(c *Config[int, int]) { c.UnknownWait = 5 * time.Second })
		write(t, p, "k1")
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		write(t, p, "k3")
		require.NoError(t, h.Add(letter("k2")))
		h.Release()
		p.FlushAfter(0)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []time.Duration{0, 5 * time.Second, 5 * time.Second}, times)
	})
}

func TestCloseDoesNotWaitForAHoldThatNothingWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{answer: applied}, nil)
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		require.NoError(t, p.Close(t.Context()))
		require.ErrorIs(t, h.Add(letter("k1")), ErrClosed)
		h.Release()
		_, err = p.Hold(t.Context(), []string{"k"}, someone)
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestACloseThatGivesUpSettlesWhatAHoldKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []string
		p, e := start(t, &service{answer: applied}, func(c *Config[int, int]) {
			settled := c.Hooks.Settled
			c.Hooks.Settled = func(s *Settlement[int, int], err error) {
				bodies = append(bodies, string(s.Item.Body))
				settled(s, err)
			}
		})
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		p.Pause()
		write(t, p, "k2", "k3")
		require.NoError(t, h.Add(letter("k1")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var closed *CloseError
		require.ErrorAs(t, p.Close(ctx), &closed)
		assert.EqualValues(t, 3, closed.Unsent)
		assert.Equal(t, 3, e.failed)
		assert.Equal(t, []string{"1", "2", "3"}, bodies, "bodies are in the order of the lane")
		h.Release()
	})
}

func TestAHoldInsideAHookIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *Publisher[int, int]
		var errs []error
		p, _ = start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Hooks.Delivered = func() {
				_, err := p.Hold(context.Background(), []string{"k"}, someone)
				errs = append(errs, err)
			}
		})
		write(t, p, "k1")
		require.NoError(t, p.Flush(t.Context()))
		assert.Equal(t, []error{ErrInCallback}, slices.Compact(errs))
	})
}

// With producers, holders and an unreliable service, each key ends with its last write, and the writes of a holder
// come before the delayed ones.
func TestHoldsAmongProducersConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var n atomic.Int64
		s := &service{answer: func(b *Batch[int]) Reply[int] {
			if n.Add(1)%7 == 0 {
				return Reply[int]{Whole: true, Err: ErrNoResult, Pause: true, RetryAfter: -1}
			}
			return j.answer(b)
		}}
		p, _ := start(t, s, func(c *Config[int, int]) { c.Limits.BatchItems, c.MaxAttempts = 3, 100 })
		var all sync.WaitGroup
		for producer := range 4 {
			all.Go(func() {
				for i := range 100 {
					key := string(rune('a' + (i+producer)%5))
					_, err := p.Add(t.Context(), []Item[int]{{Key: key, Body: []byte("w")}}, true, false)
					assert.NoError(t, err)
				}
			})
		}
		for holder := range 3 {
			all.Go(func() {
				for i := range 20 {
					keys := []string{string(rune('a' + (i+holder)%5)), string(rune('a' + (i+2*holder)%5))}
					h, err := p.Hold(t.Context(), keys, someone)
					if !assert.NoError(t, err) {
						return
					}
					before := j.of(keys[0])
					time.Sleep(time.Millisecond)
					assert.Equal(t, before, j.of(keys[0]), "nothing of a held key is sent")
					assert.NoError(t, h.Add(Item[int]{Key: keys[0], Body: []byte("h")}))
					h.Release()
				}
			})
		}
		all.Wait()
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, 460, len(j.sent))
		assert.Zero(t, p.Stats().Items)
	})
}

var errRefused = errors.New("refused")

// A Flush covers an item behind a place. The actions of the hold get numbers above the watermark, so the flush alone
// does not send them. It must send them anyway, because the item is behind them.
func TestAFlushOfWhatWaitsForAHoldSendsWhatTheHoldHasAdded(t *testing.T) {
	for name, change := range map[string]func(*Config[int, int]){
		"no automatic flush": func(c *Config[int, int]) { c.AutoFlush = false },
		"no timer":           func(c *Config[int, int]) { c.Interval = -1 },
		"timer of an hour":   func(c *Config[int, int]) { c.Interval = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal
				p, _ := start(t, &service{answer: j.answer}, change)
				h, err := p.Hold(t.Context(), []string{"k"}, someone)
				require.NoError(t, err)
				write(t, p, "k2")
				flushed := make(chan error, 1)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				go func() { flushed <- p.Flush(ctx) }()
				synctest.Wait()
				require.NoError(t, h.Add(letter("k1")))
				h.Release()
				require.NoError(t, <-flushed)
				assert.Equal(t, "12", j.of("k"))
			})
		})
	}
}

// Close gives up during a hold, a hook ends the goroutine, and then the hold is released: its place no longer exists.
func TestAHoldMayBeReleasedAfterACloseThatGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *Hold[int, int]
		exited := false
		p, _ := start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Hooks.Settled = func(*Settlement[int, int], error) {
				if !exited {
					exited = true
					h.Release()
					runtime.Goexit()
				}
			}
		})
		var err error
		h, err = p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		write(t, p, "k1", "k2")
		ended, cancel := withEnded(t)
		defer cancel()
		require.Error(t, p.Close(ended))
	})
}

// When Close gives up, the next holder of a key must not run while the first one holds it.
func TestACloseThatGivesUpLetsNoSecondHolderIn(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			p, _ := start(t, &service{answer: applied}, nil)
			first, err := p.Hold(t.Context(), []string{"k"}, someone)
			require.NoError(t, err)
			second := make(chan error, 1)
			go func() {
				_, err := p.Hold(t.Context(), []string{"k"}, someone)
				second <- err
			}()
			synctest.Wait()
			p.Pause()
			write(t, p, "x1")
			ended, cancel := withEnded(t)
			defer cancel()
			require.Error(t, p.Close(ended))
			require.ErrorIs(t, <-second, ErrClosed, "the first call still has the key")
			first.Release()
		})
	}
}

// lackingFirst is a service that lacks the property p at the first request.
func lackingFirst() *service {
	lacks := true
	return &service{answer: func(b *Batch[int]) Reply[int] {
		if lacks {
			lacks = false
			r := all(b, Result[int]{Next: Fail, Err: errRefused, Reason: "no such property"})
			r.Trait = &Trait{Name: "p", Has: func(body []byte) bool { return strings.Contains(string(body), "p") }}
			r.Err = errRefused
			return r
		}
		return applied(b)
	}}
}

// A released group and a delayed key exist: neither may make the publisher report the index as faulty.
func TestAHoldIsNoFaultOfTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lackingFirst()
		var changes []State
		p, _ := start(t, s, func(c *Config[int, int]) {
			c.Gate = openGate{}
			c.Hooks.Changed = func(_, to Condition) { changes = append(changes, to.State) }
		})
		write(t, p, "ap")
		require.Error(t, p.Flush(t.Context()))
		h, err := p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		write(t, p, "k1")
		p.FlushAfter(0)
		synctest.Wait()
		assert.Equal(t, Sending, p.Condition().State)
		assert.NoError(t, p.Condition().Held())
		assert.Empty(t, changes)
		h.Release()
	})
}

type openGate struct{}

func (openGate) Enter() (Permit, bool) { return openPermit{}, true }

func (openGate) Early(bool) {}

func (openGate) State() GateState { return GateState{} }

type openPermit struct{}

func (openPermit) Probe() bool { return false }

func (openPermit) Answered() {}

func (openPermit) Done(Service, time.Duration, error) {}

// Contains in a hook must see actions that a hold has just added.
func TestContainsSeesInAHookWhatAHoldHasAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *Hold[int, int]
		var p *Publisher[int, int]
		var held, usual []bool
		p, _ = start(t, &service{answer: applied}, func(c *Config[int, int]) {
			c.Hooks.Sent = func(*Batch[int]) {
				if held == nil {
					done := make(chan struct{})
					go func() {
						defer close(done)
						assert.NoError(t, h.Add(letter("k1")))
						write(t, p, "y1")
					}()
					<-done
					held, usual = p.Contains([]string{"k"}), p.Contains([]string{"y"})
				}
			}
		})
		var err error
		h, err = p.Hold(t.Context(), []string{"k"}, someone)
		require.NoError(t, err)
		write(t, p, "x1")
		p.FlushAfter(0)
		synctest.Wait()
		h.Release()
		assert.Equal(t, []bool{true}, usual)
		assert.Equal(t, []bool{true}, held)
	})
}

// The first action that waits after a cut request is withdrawn: the next one has to wait.
func TestTheWaitAfterACutOutlivesTheFirstThatWaits(t *testing.T) {
	for _, held := range []bool{false, true} {
		t.Run(map[bool]string{false: "usual", true: "held"}[held], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var times []time.Duration
				s := cutFirst(&times)
				p, _ := start(t, s, func(c *Config[int, int]) { c.UnknownWait = 5 * time.Second })
				write(t, p, "k1")
				require.Error(t, p.Flush(t.Context()))
				if held {
					h, err := p.Hold(t.Context(), []string{"k"}, someone)
					require.NoError(t, err)
					require.NoError(t, h.Add(Item[int]{Key: "k", Body: []byte("2"), Value: 2}))
					h.Release()
				} else {
					_, err := p.Add(t.Context(), []Item[int]{{Key: "k", Body: []byte("2"), Value: 2}}, true, false)
					require.NoError(t, err)
				}
				write(t, p, "k3")
				assert.Equal(t, 1, p.Withdraw(func(_ string, v *int) bool { return *v == 2 }))
				p.FlushAfter(0)
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Equal(t, []time.Duration{0, 5 * time.Second}, times)
			})
		})
	}
}

// someone is the name of a holder.
func someone() string { return "someone" }
