package adding

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

var overloads = map[string]func(*sendertest.Ledger) bufferedsender.WhenFull{
	"wait": wait, "reject": reject, "purge the oldest": purgeOldest, "purge all": purgeAll,
}

func wait(*sendertest.Ledger) bufferedsender.WhenFull   { return bufferedsender.WhenFull{} }
func reject(*sendertest.Ledger) bufferedsender.WhenFull { return bufferedsender.Reject() }
func purgeOldest(l *sendertest.Ledger) bufferedsender.WhenFull {
	return bufferedsender.PurgeOldest(l.OnPurged)
}
func purgeAll(l *sendertest.Ledger) bufferedsender.WhenFull {
	return bufferedsender.PurgeAll(l.OnPurged)
}

// Yokozuna's regression d2c2fd5: a call that blocked before the fuse blew stayed blocked.
//
// The breaker gets the result of a request before the publisher does, so that no hook delays it. When it opens, the
// request may still count as in flight and so not be purged; then the other two are.
func TestACallBlockedBeforeTheOpeningIsReleasedByIt(t *testing.T) {
	behindFirst := []string{"k-2", "k-3"}
	for name, policy := range overloads {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				opts := &sendertest.Options{
					Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4},
					Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: policy(&l)}, Retry: sendertest.RetryAtOnce,
					Handlers: l.Handlers(),
				}
				r := sendertest.New(t, opts)
				r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(10 * time.Second)
					return sendertest.Reply(req, 500, ""), nil
				})
				r.Upload(sendertest.Hotels("k", 4)...)
				blocked := sendertest.Later(func() error {
					return r.Sender.UploadDocuments(sendertest.Within(t, 20*time.Second), sendertest.Hotels("new", 2)...)
				})
				time.Sleep(10*time.Second - time.Millisecond)
				sendertest.StillRunning(t, blocked, "the adding call")
				assert.Empty(t, l.Purged(), "full, but the breaker is closed")
				err := <-blocked
				synctest.Wait()
				switch name {
				case "wait":
					assert.Equal(t, 20*time.Second, r.Now())
					sendertest.RequireCircuitOpen(t, err)
					sendertest.RequireAccepted(t, err, 0)
				case "reject":
					assert.Equal(t, 10*time.Second, r.Now(), "released when it opens")
					require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
					sendertest.RequireCircuitOpen(t, err)
					sendertest.RequireAccepted(t, err, 0)
				case "purge the oldest":
					assert.Equal(t, 10*time.Second, r.Now())
					require.NoError(t, err)
					assert.Contains(t, [][]string{{"k-0", "k-1"}, behindFirst}, l.Purged())
				case "purge all":
					assert.Equal(t, 10*time.Second, r.Now())
					require.NoError(t, err)
					assert.Contains(t, [][]string{{"k-0", "k-1", "k-2", "k-3"}, behindFirst}, l.Purged())
				}
				assert.Zero(t, r.Sender.Stats().BlockedProducers)
				r.Respond(nil)
				_ = r.Flush()
			})
		})
	}
}

func TestNothingIsPurgedWithoutNeed(t *testing.T) {
	for _, name := range []string{"purge the oldest", "purge all"} {
		policy := overloads[name]
		for what, test := range map[string]func(t *testing.T, r *sendertest.Rig){
			"full and open, but no call wants room": func(t *testing.T, r *sendertest.Rig) {
				r.Down(500)
				r.Upload(sendertest.Hotels("k", 4)...)
				time.Sleep(time.Hour)
				require.NotEqual(t, breaker.Closed, r.Sender.Breaker().Status().State)
				r.Service.SetFaults(nil)
			},
			"open, and there is room": func(t *testing.T, r *sendertest.Rig) {
				r.OpenBreaker(sendertest.Hotels("k", 2)...)
				r.Upload(sendertest.Hotels("new", 2)...)
				require.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, time.Minute), nil), bufferedsender.ErrCircuitOpen)
			},
			"full, but the breaker is closed": func(t *testing.T, r *sendertest.Rig) {
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 30 }))
				r.Upload(sendertest.Hotels("k", 4)...)
				r.Upload(sendertest.Hotels("new", 4)...)
				assert.GreaterOrEqual(t, r.Now(), 30*time.Second)
			},
			"full and throttled, which is not a failure yet": func(t *testing.T, r *sendertest.Rig) {
				r.Faults(searchtest.Fault{Count: 1, Status: 429, RetryAfter: searchtest.Duration(time.Minute)})
				r.Upload(sendertest.Hotels("k", 4)...)
				r.Upload(sendertest.Hotels("new", 4)...)
				assert.GreaterOrEqual(t, r.Now(), time.Minute)
			},
			"full and paused": func(t *testing.T, r *sendertest.Rig) {
				r.Sender.Pause()
				r.Upload(sendertest.Hotels("k", 4)...)
				require.ErrorIs(t, r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotel{ID: "new"}), bufferedsender.ErrPaused)
				r.Sender.Resume()
			},
			"the document is refused anyway": func(t *testing.T, r *sendertest.Rig) {
				r.OpenBreaker(sendertest.Hotels("k", 4)...)
				require.ErrorIs(t, r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.HotelOfSize("giant", 20_000_000)), bufferedsender.ErrDocumentTooLarge)
				require.Error(t, r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotel{ID: "not a key"}))
			},
		} {
			t.Run(name+": "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var l sendertest.Ledger
					r := sendertest.New(t, &sendertest.Options{
						Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4},
						Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), WhenFull: policy(&l)}, Retry: sendertest.RetryAtOnce,
					})
					test(t, r)
					r.Respond(nil)
					require.NoError(t, r.Flush())
					assert.Empty(t, l.Purged())
					assert.Zero(t, r.Sender.Stats().Purged)
				})
			})
		}
	}
}

// With a limit of four and the first action in flight, Yokozuna drops the second.
func TestNoActionInFlightIsPurged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxBufferedActions: 5, MaxInFlight: 2},
			Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.OnPurged)}, Retry: sendertest.RetryAtOnce,
			Handlers: l.Handlers(),
		})
		r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.Keys[0] == "slow" {
				time.Sleep(20 * time.Second)
				return next()
			}
			time.Sleep(time.Second)
			return sendertest.Reply(req, 500, ""), nil
		})
		r.Add(sendertest.TaggedUpload("slow", 1), sendertest.TaggedUpload("a", 1), sendertest.TaggedUpload("slow", 2), sendertest.TaggedUpload("b", 1), sendertest.TaggedUpload("c", 1))
		time.Sleep(2 * time.Second)
		r.Add(sendertest.TaggedUpload("d", 1))
		synctest.Wait()
		assert.Equal(t, []string{"a"}, l.Purged(), "the oldest that is not in flight")
		r.Add(sendertest.TaggedUpload("e", 1), sendertest.TaggedUpload("f", 1))
		synctest.Wait()
		assert.Equal(t, []string{"a", "b", "c"}, l.Purged(), "an action that waits behind one in flight is not purged")
		r.Add(sendertest.TaggedUpload("g", 1), sendertest.TaggedUpload("h", 1), sendertest.TaggedUpload("i", 1))
		synctest.Wait()
		assert.Equal(t, []string{"a", "b", "c", "d", "e", "f"}, l.Purged())
		time.Sleep(20 * time.Second)
		assert.Equal(t, []any{1}, sendertest.Tags(l.Endings("slow")), "the reply settles the action")
		r.Respond(nil)
		require.Error(t, r.Flush())
		assert.Equal(t, []string{"g", "h", "i", "slow"}, r.Indexed())
		assert.Equal(t, []any{1, 2}, sendertest.Tags(l.Endings("slow")))
		for _, e := range l.Endings("slow") {
			assert.Equal(t, "completed", e.Kind)
		}
	})
	for name, policy := range map[string]func(*sendertest.Ledger) bufferedsender.WhenFull{"the oldest": purgeOldest, "all": purgeAll} {
		t.Run("when all are, calls wait: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				b := sendertest.SteadyBreaker(t, nil)
				r := sendertest.New(t, &sendertest.Options{
					Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 4, MaxInFlight: 2},
					Outage: bufferedsender.Hold{Breaker: b, WhenFull: policy(&l)},
				})
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
				r.Upload(sendertest.Hotels("k", 4)...)
				synctest.Wait()
				b.Disable()
				r.Upload(sendertest.Hotel{ID: "new"})
				assert.Equal(t, 10*time.Second, r.Now())
				assert.Empty(t, l.Purged())
				b.Enable()
				require.NoError(t, r.Flush())
				assert.Len(t, r.Indexed(), 5)
			})
		})
	}
	t.Run("all waiting actions, none in flight", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{
				Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 5},
				Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeAll(l.OnPurged)}, Handlers: l.Handlers(),
			})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
			r.Add(sendertest.TaggedUpload("a", 1), sendertest.TaggedUpload("b", 1))
			synctest.Wait()
			r.Add(sendertest.TaggedUpload("a", 2), sendertest.TaggedUpload("c", 1), sendertest.TaggedUpload("c", 2))
			b.Disable()
			r.Add(sendertest.TaggedUpload("d", 1))
			synctest.Wait()
			assert.Zero(t, r.Now())
			assert.ElementsMatch(t, []string{"c", "c"}, l.Purged(), "a key can occur more than once; the second a waits behind one in flight")
			time.Sleep(10 * time.Second)
			b.Enable()
			require.Error(t, r.Flush())
			assert.Equal(t, []any{1, 2}, sendertest.Tags(l.Endings("a")))
			assert.Equal(t, []string{"a", "b", "d"}, r.Indexed())
		})
	})
}

func TestPurgedKeysSettleInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := sendertest.New(t, &sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 4},
			Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.OnPurged)}, Retry: sendertest.RetryAtOnce,
			Handlers: l.Handlers(),
		})
		r.Respond(sendertest.Failing)
		r.Add(sendertest.TaggedUpload("a", 1), sendertest.TaggedUpload("b", 1), sendertest.TaggedUpload("a", 2), sendertest.TaggedUpload("a", 3))
		require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil))
		r.Add(sendertest.TaggedUpload("a", 4), sendertest.TaggedUpload("a", 5))
		synctest.Wait()
		r.Respond(nil)
		require.Error(t, r.Flush())
		assert.Equal(t, []any{1, 2, 3, 4, 5}, sendertest.Tags(l.Endings("a")), "purged ones too")
		raw, _ := r.Service.Document("hotels", "a")
		assert.JSONEq(t, `{"id":"a","name":null,"rooms":5}`, string(raw))
	})
}

func TestAClosingSenderPurgesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := fullAndSick(t, &l, purgeOldest)
		closed := sendertest.Later(func() error { return r.Sender.Close(sendertest.Within(t, 10*time.Second)) })
		synctest.Wait()
		require.ErrorIs(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "new"}), bufferedsender.ErrClosed)
		answer := sendertest.CloseError(t, <-closed)
		assert.Equal(t, 4, answer.Unsent+answer.Unknown)
		assert.Empty(t, l.Purged())
	})
}

// Yokozuna's model test. For every schedule the index has exactly the documents that were neither refused nor purged,
// and the breaker has counted exactly the injected failures.
func TestWhatIsDeliveredIsWhatWasNotRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var (
			n       = rapid.IntRange(1, 60).Draw(rt, "actions")
			keys    = rapid.IntRange(1, 20).Draw(rt, "keys")
			seed    = rapid.Uint64().Draw(rt, "seed")
			options = sendertest.Options{
				Limits:            bufferedsender.Limits{MaxBatchActions: rapid.IntRange(1, 10).Draw(rt, "batch"), MaxInFlight: rapid.IntRange(1, 4).Draw(rt, "in flight"), MaxBufferedActions: rapid.IntRange(1, 20).Draw(rt, "mark")},
				AutoFlushInterval: 10 * time.Millisecond,
			}
			policy   = rapid.SampledFrom(slices.Sorted(maps.Keys(overloads))).Draw(rt, "overload")
			folds    = rapid.Bool().Draw(rt, "fold")
			failures = rapid.IntRange(-1, 4).Draw(rt, "failures to open")
		)
		if folds {
			options.Folding = &bufferedsender.Folding[sendertest.Hotel]{}
		}
		ok := true
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, &breaker.Options{Failures: failures})
			options.Retry.MaxRetries = 1000
			var l sendertest.Ledger
			options.Outage = bufferedsender.Hold{Breaker: b, WhenFull: overloads[policy](&l)}
			options.Handlers = l.Handlers()
			r := sendertest.New(t, &options)
			injected := 0
			r.Service.SetFaults(&searchtest.Faults{Seed: seed, Rules: []searchtest.Fault{
				{Operation: searchtest.OpIndexDocuments, Probability: 0.2, Delay: searchtest.Duration(time.Second), Status: 500},
				{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(100 * time.Millisecond), Documents: []searchtest.DocumentFault{{Ratio: 0.05, Status: 400}}},
			}})
			wanted := map[string][]int{}
			for i := range n {
				key := fmt.Sprint("k-", (i*7+int(seed%5))%keys)
				err := r.Sender.IndexDocuments(sendertest.Within(t, time.Hour), models.UploadAction(sendertest.Hotel{ID: key, Rooms: i + 1}).WithTag(i+1))
				if err == nil {
					wanted[key] = append(wanted[key], i+1)
				} else {
					assert.Equal(t, "reject", policy, "%v", err)
				}
			}
			_ = r.Flush()
			for _, x := range r.Requests() {
				if x.Status == 500 {
					injected++
				}
			}
			// A failure among successes says nothing about the service.
			assert.LessOrEqual(t, b.Status().Counts.Failures, uint64(injected), "melts")
			assert.Equal(t, injected > 0, b.Status().Counts.Failures > 0, "melts")
			for key, versions := range wanted {
				ends := l.Endings(key)
				var got []int
				last := 0
				for _, e := range ends {
					got = append(got, e.Tag.(int))
					if e.Kind == "completed" {
						last = e.Tag.(int)
					} else if !assert.Contains(t, []int{0, 400}, e.Status) || e.Status == 0 {
						assert.ErrorIs(t, e.Err, bufferedsender.ErrPurged)
					}
				}
				assert.Equal(t, versions, got, "outcomes of %s, in order", key)
				_, stored := r.Service.Document("hotels", key)
				assert.Equal(t, last != 0, stored, key)
			}
			ok = !t.Failed()
		})
		if !ok {
			rt.Fatal("see above")
		}
	})
}
