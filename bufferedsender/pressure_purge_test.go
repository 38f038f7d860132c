package bufferedsender_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var overloads = map[string]func(*ledger) bufferedsender.WhenFull{
	"wait": wait, "reject": reject, "purge the oldest": purgeOldest, "purge all": purgeAll,
}

func wait(*ledger) bufferedsender.WhenFull          { return bufferedsender.WhenFull{} }
func reject(*ledger) bufferedsender.WhenFull        { return bufferedsender.Reject() }
func purgeOldest(l *ledger) bufferedsender.WhenFull { return bufferedsender.PurgeOldest(l.onPurged) }
func purgeAll(l *ledger) bufferedsender.WhenFull    { return bufferedsender.PurgeAll(l.onPurged) }

// Yokozuna's regression d2c2fd5: who was blocked before the fuse blew stayed so.
//
// The breaker hears of a request before the publisher does, so that no hook
// delays it. When it opens, the request may still count as in flight, and what
// is in flight is never purged: then it is the other two.
func TestYZBlockedBeforeTheOpeningIsReleasedByIt(t *testing.T) {
	behindFirst := []string{"k-2", "k-3"}
	for name, policy := range overloads {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l ledger
				opts := &hotelOptions{
					Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4},
					Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: policy(&l)}, Retry: atOnce,
					Handlers: l.handlers(),
				}
				r := newRig(t, opts)
				r.respond(func(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(10 * time.Second)
					return reply(req, 500, ""), nil
				})
				r.upload(hotels("k", 4)...)
				blocked := later(func() error { return r.sender.UploadDocuments(within(t, 20*time.Second), hotels("new", 2)...) })
				time.Sleep(10*time.Second - time.Millisecond)
				still(t, blocked, "the adding call")
				assert.Empty(t, l.lost(), "full, but the breaker is closed")
				err := <-blocked
				synctest.Wait()
				switch name {
				case "wait":
					assert.Equal(t, 20*time.Second, r.now())
					heldOpen(t, err)
					refused(t, err, 0)
				case "reject":
					assert.Equal(t, 10*time.Second, r.now(), "released when it opens")
					require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
					heldOpen(t, err)
					refused(t, err, 0)
				case "purge the oldest":
					assert.Equal(t, 10*time.Second, r.now())
					require.NoError(t, err)
					assert.Contains(t, [][]string{{"k-0", "k-1"}, behindFirst}, l.lost())
				case "purge all":
					assert.Equal(t, 10*time.Second, r.now())
					require.NoError(t, err)
					assert.Contains(t, [][]string{{"k-0", "k-1", "k-2", "k-3"}, behindFirst}, l.lost())
				}
				assert.Zero(t, r.sender.Stats().BlockedAdders)
				r.respond(nil)
				_ = r.flush()
			})
		})
	}
}

func TestYZNothingIsPurgedWithoutNeed(t *testing.T) {
	for _, name := range []string{"purge the oldest", "purge all"} {
		policy := overloads[name]
		for what, test := range map[string]func(t *testing.T, r *rig){
			"full and open, but nobody wants room": func(t *testing.T, r *rig) {
				r.down(500)
				r.upload(hotels("k", 4)...)
				time.Sleep(time.Hour)
				require.NotEqual(t, breaker.Closed, r.sender.Breaker().Status().State)
				r.srv.SetFaults(nil)
			},
			"open, and there is room": func(t *testing.T, r *rig) {
				r.sicken(hotels("k", 2)...)
				r.upload(hotels("new", 2)...)
				require.ErrorIs(t, r.sender.Flush(within(t, time.Minute)), bufferedsender.ErrCircuitOpen)
			},
			"full, but the breaker is closed": func(t *testing.T, r *rig) {
				r.respond(seconds(func(int, *exchange) float64 { return 30 }))
				r.upload(hotels("k", 4)...)
				r.upload(hotels("new", 4)...)
				assert.GreaterOrEqual(t, r.now(), 30*time.Second)
			},
			"full and throttled, which is no failure yet": func(t *testing.T, r *rig) {
				r.faults(searchtest.Fault{Count: 1, Status: 429, RetryAfter: searchtest.Duration(time.Minute)})
				r.upload(hotels("k", 4)...)
				r.upload(hotels("new", 4)...)
				assert.GreaterOrEqual(t, r.now(), time.Minute)
			},
			"full and paused": func(t *testing.T, r *rig) {
				r.sender.Pause()
				r.upload(hotels("k", 4)...)
				require.ErrorIs(t, r.sender.UploadDocuments(within(t, time.Minute), hotel{ID: "new"}), bufferedsender.ErrPaused)
				r.sender.Resume()
			},
			"the document is refused anyway": func(t *testing.T, r *rig) {
				r.sicken(hotels("k", 4)...)
				require.ErrorIs(t, r.sender.UploadDocuments(within(t, time.Minute), sized("giant", 20_000_000)), bufferedsender.ErrDocumentTooLarge)
				require.Error(t, r.sender.UploadDocuments(within(t, time.Minute), hotel{ID: "not a key"}))
			},
		} {
			t.Run(name+": "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var l ledger
					r := newRig(t, &hotelOptions{
						Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4},
						Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil), WhenFull: policy(&l)}, Retry: atOnce,
					})
					test(t, r)
					r.respond(nil)
					require.NoError(t, r.flush())
					assert.Empty(t, l.lost())
					assert.Zero(t, r.sender.Stats().Purged)
				})
			})
		}
	}
}

// At a mark of four with the first in flight, Yokozuna drops the second.
func TestYZNeverAnActionInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := newRig(t, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxBufferedActions: 5, MaxInFlight: 2},
			Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.onPurged)}, Retry: atOnce,
			Handlers: l.handlers(),
		})
		r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.keys[0] == "slow" {
				time.Sleep(20 * time.Second)
				return next()
			}
			time.Sleep(time.Second)
			return reply(req, 500, ""), nil
		})
		r.add(uploadTagged("slow", 1), uploadTagged("a", 1), uploadTagged("slow", 2), uploadTagged("b", 1), uploadTagged("c", 1))
		time.Sleep(2 * time.Second)
		r.add(uploadTagged("d", 1))
		synctest.Wait()
		assert.Equal(t, []string{"a"}, l.lost(), "the oldest that is not in flight")
		r.add(uploadTagged("e", 1), uploadTagged("f", 1))
		synctest.Wait()
		assert.Equal(t, []string{"a", "b", "c"}, l.lost(), "and not one that waits behind it")
		r.add(uploadTagged("g", 1), uploadTagged("h", 1), uploadTagged("i", 1))
		synctest.Wait()
		assert.Equal(t, []string{"a", "b", "c", "d", "e", "f"}, l.lost())
		time.Sleep(20 * time.Second)
		assert.Equal(t, []any{1}, tags(l.endings("slow")), "it is settled by its reply")
		r.respond(nil)
		require.Error(t, r.flush())
		assert.Equal(t, []string{"g", "h", "i", "slow"}, r.indexed())
		assert.Equal(t, []any{1, 2}, tags(l.endings("slow")))
		for _, e := range l.endings("slow") {
			assert.Equal(t, "completed", e.kind)
		}
	})
	for name, policy := range map[string]func(*ledger) bufferedsender.WhenFull{"the oldest": purgeOldest, "all": purgeAll} {
		t.Run("when all are, calls wait: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l ledger
				b := steadyBreaker(t, nil)
				r := newRig(t, &hotelOptions{
					Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4, MaxInFlight: 2},
					Outage: bufferedsender.Hold{Breaker: b, WhenFull: policy(&l)},
				})
				r.respond(seconds(func(int, *exchange) float64 { return 10 }))
				r.upload(hotels("k", 4)...)
				synctest.Wait()
				b.Disable()
				r.upload(hotel{ID: "new"})
				assert.Equal(t, 10*time.Second, r.now())
				assert.Empty(t, l.lost())
				b.Enable()
				require.NoError(t, r.flush())
				assert.Len(t, r.indexed(), 5)
			})
		})
	}
	t.Run("all that wait, none that travels", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l ledger
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{
				Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 5},
				Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeAll(l.onPurged)}, Handlers: l.handlers(),
			})
			r.respond(seconds(func(int, *exchange) float64 { return 10 }))
			r.add(uploadTagged("a", 1), uploadTagged("b", 1))
			synctest.Wait()
			r.add(uploadTagged("a", 2), uploadTagged("c", 1), uploadTagged("c", 2))
			b.Disable()
			r.add(uploadTagged("d", 1))
			synctest.Wait()
			assert.Zero(t, r.now())
			assert.ElementsMatch(t, []string{"c", "c"}, l.lost(), "a key can occur more than once; the second a waits behind one in flight")
			time.Sleep(10 * time.Second)
			b.Enable()
			require.Error(t, r.flush())
			assert.Equal(t, []any{1, 2}, tags(l.endings("a")))
			assert.Equal(t, []string{"a", "b", "d"}, r.indexed())
		})
	})
}

func TestYZPurgedKeysSettleInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := newRig(t, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4},
			Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.onPurged)}, Retry: atOnce,
			Handlers: l.handlers(),
		})
		r.respond(sick)
		r.add(uploadTagged("a", 1), uploadTagged("b", 1), uploadTagged("a", 2), uploadTagged("a", 3))
		require.Error(t, r.sender.Flush(within(t, time.Second)))
		r.add(uploadTagged("a", 4), uploadTagged("a", 5))
		synctest.Wait()
		r.respond(nil)
		require.Error(t, r.flush())
		assert.Equal(t, []any{1, 2, 3, 4, 5}, tags(l.endings("a")), "purged ones too")
		raw, _ := r.srv.Document("hotels", "a")
		assert.JSONEq(t, `{"id":"a","name":null,"rooms":5}`, string(raw))
	})
}

func TestYZAClosingSenderPurgesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := fullAndSick(t, &l, purgeOldest)
		closed := later(func() error { return r.sender.Close(within(t, 10*time.Second)) })
		synctest.Wait()
		require.ErrorIs(t, r.sender.UploadDocuments(t.Context(), hotel{ID: "new"}), bufferedsender.ErrClosed)
		answer := closeError(t, <-closed)
		assert.Equal(t, 4, answer.Unsent+answer.Unknown)
		assert.Empty(t, l.lost())
	})
}

// Yokozuna's model test. For every schedule: what is in the index is what was
// neither refused nor purged, and the breaker has counted each failure that was
// injected, and nothing else.
func TestYZ11WhatIsDeliveredIsWhatWasNotRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var (
			n       = rapid.IntRange(1, 60).Draw(rt, "actions")
			keys    = rapid.IntRange(1, 20).Draw(rt, "keys")
			seed    = rapid.Uint64().Draw(rt, "seed")
			options = hotelOptions{
				Limits:            bufferedsender.Limits{MaxBatchActions: rapid.IntRange(1, 10).Draw(rt, "batch"), MaxInFlight: rapid.IntRange(1, 4).Draw(rt, "in flight"), MaxBufferedActions: rapid.IntRange(1, 20).Draw(rt, "mark")},
				AutoFlushInterval: 10 * time.Millisecond,
			}
			policy   = rapid.SampledFrom(slices.Sorted(maps.Keys(overloads))).Draw(rt, "overload")
			folds    = rapid.Bool().Draw(rt, "fold")
			failures = rapid.IntRange(-1, 4).Draw(rt, "failures to open")
		)
		if folds {
			options.Folding = &bufferedsender.Folding[hotel]{}
		}
		ok := true
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, &breaker.Options{Failures: failures})
			options.Retry.MaxRetries = 1000
			var l ledger
			options.Outage = bufferedsender.Hold{Breaker: b, WhenFull: overloads[policy](&l)}
			options.Handlers = l.handlers()
			r := newRig(t, &options)
			injected := 0
			r.srv.SetFaults(&searchtest.Faults{Seed: seed, Rules: []searchtest.Fault{
				{Operation: searchtest.OpIndexDocuments, Probability: 0.2, Delay: searchtest.Duration(time.Second), Status: 500},
				{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(100 * time.Millisecond), Documents: []searchtest.DocumentFault{{Ratio: 0.05, Status: 400}}},
			}})
			wanted := map[string][]int{}
			for i := range n {
				key := fmt.Sprint("k-", (i*7+int(seed%5))%keys)
				err := r.sender.IndexDocuments(within(t, time.Hour), models.UploadAction(hotel{ID: key, Rooms: i + 1}).WithTag(i+1))
				if err == nil {
					wanted[key] = append(wanted[key], i+1)
				} else {
					assert.Equal(t, "reject", policy, "%v", err)
				}
			}
			_ = r.flush()
			for _, x := range r.requests() {
				if x.status == 500 {
					injected++
				}
			}
			// What has failed before, while others pass, says nothing about the service.
			assert.LessOrEqual(t, b.Status().Counts.Failures, uint64(injected), "melts")
			assert.Equal(t, injected > 0, b.Status().Counts.Failures > 0, "melts")
			for key, versions := range wanted {
				ends := l.endings(key)
				var got []int
				last := 0
				for _, e := range ends {
					got = append(got, e.tag.(int))
					if e.kind == "completed" {
						last = e.tag.(int)
					} else if !assert.Contains(t, []int{0, 400}, e.status) || e.status == 0 {
						assert.ErrorIs(t, e.err, bufferedsender.ErrPurged)
					}
				}
				assert.Equal(t, versions, got, "outcomes of %s, in order", key)
				_, stored := r.srv.Document("hotels", key)
				assert.Equal(t, last != 0, stored, key)
			}
			ok = !t.Failed()
		})
		if !ok {
			rt.Fatal("see above")
		}
	})
}
