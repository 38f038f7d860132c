package bufferedsender_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// seconds makes each request take as many seconds as f says.
func seconds(f func(n int, x *exchange) float64) answer {
	return func(n int, x *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		time.Sleep(time.Duration(f(n, x) * float64(time.Second)))
		return next()
	}
}

// The rig checks that no two actions of one key are in flight.
func TestPressureKeepsOrderPerKeyWhateverTheLatencies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var (
			seed    = rapid.Uint64().Draw(rt, "seed")
			flight  = rapid.IntRange(1, 16).Draw(rt, "in flight")
			batch   = rapid.IntRange(1, 8).Draw(rt, "batch")
			keys    = rapid.IntRange(1, 7).Draw(rt, "keys")
			actions = rapid.IntRange(1, 60).Draw(rt, "actions")
			again   = rapid.Float64Range(0, 0.3).Draw(rt, "share of 409")
			broken  = rapid.Float64Range(0, 0.2).Draw(rt, "share of 503")
		)
		ok := true
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test that can be repeated
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: flight, MaxBatchActions: batch}, AutoFlushInterval: 10 * time.Millisecond, Retry: retry.Options{MaxRetries: 1000}})
			r.respond(func(_ int, _ *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				r.mu.Lock()
				latency, sick := time.Duration(rnd.Int64N(int64(5*time.Second))), rnd.Float64() < broken
				r.mu.Unlock()
				time.Sleep(latency)
				if sick {
					return reply(req, 503, ""), nil
				}
				return next()
			})
			if again > 0 {
				r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: again, Status: 409}}})
			}
			last := map[string]int{}
			for v := range actions {
				r.mu.Lock()
				key, pause := fmt.Sprint("k", rnd.IntN(keys)), time.Duration(rnd.Int64N(int64(time.Second)))
				r.mu.Unlock()
				last[key] = v + 1
				r.add(uploadTagged(key, v+1))
				if v%4 == 0 {
					time.Sleep(pause)
				}
			}
			assert.NoError(t, r.close())
			seen := map[string]int{}
			for _, e := range r.seen("completed") {
				assert.Greater(t, e.action.Tag, seen[e.key], "the next outcome of %s", e.key)
				seen[e.key] = e.action.Tag.(int)
			}
			assert.Equal(t, last, seen, "the last outcomes")
			for key, v := range last {
				var stored hotel
				raw, _ := r.srv.Document("hotels", key)
				assert.NoError(t, json.Unmarshal(raw, &stored))
				assert.Equal(t, v, stored.Rooms, "what the index holds of %s", key)
			}
			ok = !t.Failed()
		})
		if !ok {
			rt.Fatal("see above")
		}
	})
}

func TestPressureASlowRequestHoldsOneSlotAndItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 1}})
		r.respond(seconds(func(_ int, x *exchange) float64 {
			if x.keys[0] == "a" && x.at == 0 {
				return 10
			}
			return 1
		}))
		r.add(uploadTagged("a", 1), uploadTagged("a", 2), uploadTagged("b", 1), uploadTagged("b", 2), uploadTagged("c", 1), uploadTagged("a", 3), uploadTagged("b", 3))
		require.NoError(t, r.flush())
		var walk []string
		for _, e := range r.seen("sent") {
			walk = append(walk, fmt.Sprint(e.at, " ", e.key))
		}
		assert.Equal(t, []string{"0s a", "0s b", "1s b", "2s c", "3s b", "10s a", "11s a"}, walk,
			"the free slot serves the keys that are free, in the order of their actions, and never one that is under way")
		assert.Equal(t, []any{1, 2, 3}, func() (all []any) {
			for _, e := range r.seen("completed") {
				if e.key == "a" {
					all = append(all, e.action.Tag)
				}
			}
			return all
		}())
	})
}

func TestPressureNextBatchFillsWhileOthersTravel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 4}})
		r.respond(seconds(func(int, *exchange) float64 { return 10 }))
		r.upload(hotels("first", 4)...)
		time.Sleep(time.Second)
		r.upload(hotels("second", 4)...)
		for i := range 4 { // both slots are taken; these come one by one
			time.Sleep(time.Second)
			r.upload(hotel{ID: fmt.Sprint("third-", i)})
		}
		synctest.Wait()
		require.Len(t, r.requests(), 2)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, r.requests(), 3)
		assert.Equal(t, ids(hotels("third", 4)), r.requests()[2].keys, "a full batch was ready when a slot came free")
		assert.Equal(t, 10*time.Second, r.requests()[2].at)
	})
}

func TestPressureRetriesGoFirstWithManyInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 2}, Retry: retry.Options{Delay: 500 * time.Millisecond, Jitter: -1}})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0", "k-3"}, Nth: 1, Status: 409}}})
		r.respond(seconds(func(int, *exchange) float64 { return 1 }))
		r.upload(hotels("k", 40)...)
		require.NoError(t, r.flush())
		var second []string
		for _, e := range r.seen("sent") {
			if e.at == 2*time.Second {
				second = append(second, e.key)
			}
		}
		assert.Equal(t, []string{"k-0", "k-3", "k-12", "k-13", "k-14", "k-15"}, second, "refused at 1 s, due at 1.5 s, with 28 new ones waiting")
	})
}

func TestPressureAHungRequestHoldsOneSlotUntilItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 1}, RequestTimeout: 20 * time.Second, Retry: retry.Options{Delay: -1}})
		r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.keys[0] == "k-0" && x.at == 0 {
				return hang(n, x, req, next)
			}
			time.Sleep(time.Second)
			return next()
		})
		r.upload(hotels("k", 31)...)
		time.Sleep(15*time.Second + 500*time.Millisecond)
		assert.EqualValues(t, 30, r.sender.Stats().Completed, "two slots did the work of fifteen seconds")
		assert.Equal(t, 1, r.sender.Stats().InFlight)
		require.NoError(t, r.flush())
		assert.Equal(t, 21*time.Second, r.now(), "the third was given up after RequestTimeout, and its action sent again")
		assert.Equal(t, 2, r.outcome("k-0").attempt)
		assert.Len(t, r.indexed(), 31)
	})
	t.Run("by default after 60 s, all of them if all hang", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 1}, Retry: retry.Options{Delay: -1}})
			r.respond(onlyFirst(4, hang))
			r.upload(hotels("k", 8)...)
			require.NoError(t, r.flush())
			assert.Equal(t, time.Minute, r.now())
			assert.Len(t, r.indexed(), 8)
		})
	})
}

func TestPressureThroughputGrowsWithRequestsInFlight(t *testing.T) {
	const documents, batch, latency = 6400, 10, 100 * time.Millisecond
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: n, MaxBatchActions: batch}})
			r.respond(seconds(func(int, *exchange) float64 { return latency.Seconds() }))
			r.upload(hotels("k", documents)...)
			require.NoError(t, r.flush())
			took := r.now()
			t.Logf("%2d in flight: %6.0f documents/s", n, documents/took.Seconds())
			assert.Equal(t, documents/batch/time.Duration(n)*latency, took, "no slot is ever idle")
		})
	}
}
