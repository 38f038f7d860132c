package batching

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestRequestsInFlightMultiplyThroughputAndKeepOrder(t *testing.T) {
	const docs, batch, delay = 4000, 100, 100 * time.Millisecond
	for _, inFlight := range []int{1, 4, 8} {
		synctest.Test(t, func(t *testing.T) {
			index := &sendertest.Indexer{Delay: delay}
			sender, err := bufferedsender.New(index, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: batch, MaxInFlight: inFlight}})
			require.NoError(t, err)
			began := time.Now()
			for i := range docs {
				require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "k" + strconv.Itoa(i)}))
			}
			require.NoError(t, sender.Close(t.Context()))
			assert.Equal(t, time.Duration(docs/batch/inFlight)*delay, time.Since(began), "%d in flight", inFlight)
			assert.EqualValues(t, docs/batch, index.Requests())
		})
	}
}

// The rig checks that no two actions of one key are in flight at once.
func TestOrderPerKeyIsKeptWhateverTheLatencies(t *testing.T) {
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
			var mu sync.Mutex                     // guards rnd
			rnd := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a repeatable test
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: flight, MaxBatchActions: batch}, AutoFlushInterval: 10 * time.Millisecond, Retry: retry.Options{MaxRetries: 1000}})
			r.Respond(func(_ int, _ *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				mu.Lock()
				latency, fails := time.Duration(rnd.Int64N(int64(5*time.Second))), rnd.Float64() < broken
				mu.Unlock()
				time.Sleep(latency)
				if fails {
					return sendertest.Reply(req, 503, ""), nil
				}
				return next()
			})
			if again > 0 {
				r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: again, Status: 409}}})
			}
			last := map[string]int{}
			for v := range actions {
				mu.Lock()
				key, pause := fmt.Sprint("k", rnd.IntN(keys)), time.Duration(rnd.Int64N(int64(time.Second)))
				mu.Unlock()
				last[key] = v + 1
				r.Add(sendertest.TaggedUpload(key, v+1))
				if v%4 == 0 {
					time.Sleep(pause)
				}
			}
			assert.NoError(t, r.Close())
			seen := map[string]int{}
			for _, e := range r.Events("completed") {
				assert.Greater(t, e.Action.Tag, seen[e.Key], "outcomes of %s are in order", e.Key)
				seen[e.Key] = e.Action.Tag.(int)
			}
			assert.Equal(t, last, seen, "the last outcome of each key")
			for key, v := range last {
				var stored sendertest.Hotel
				raw, _ := r.Service.Document("hotels", key)
				assert.NoError(t, json.Unmarshal(raw, &stored))
				assert.Equal(t, v, stored.Rooms, "the index's document %s", key)
			}
			ok = !t.Failed()
		})
		if !ok {
			rt.Fatal("see above")
		}
	})
}

func TestASlowRequestHoldsOneSlotAndItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 1}})
		r.Respond(sendertest.Seconds(func(_ int, x *sendertest.Request) float64 {
			if x.Keys[0] == "a" && x.At == 0 {
				return 10
			}
			return 1
		}))
		r.Add(sendertest.TaggedUpload("a", 1), sendertest.TaggedUpload("a", 2), sendertest.TaggedUpload("b", 1), sendertest.TaggedUpload("b", 2), sendertest.TaggedUpload("c", 1), sendertest.TaggedUpload("a", 3), sendertest.TaggedUpload("b", 3))
		require.NoError(t, r.Flush())
		var walk []string
		for _, e := range r.Events("sent") {
			walk = append(walk, fmt.Sprint(e.At, " ", e.Key))
		}
		assert.Equal(t, []string{"0s a", "0s b", "1s b", "2s c", "3s b", "10s a", "11s a"}, walk,
			"the free slot serves the keys that are free, in the order of their actions, and never one that is under way")
		assert.Equal(t, []any{1, 2, 3}, func() (all []any) {
			for _, e := range r.Events("completed") {
				if e.Key == "a" {
					all = append(all, e.Action.Tag)
				}
			}
			return all
		}())
	})
}

func TestTheNextBatchFillsWhileOthersTravel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 2, MaxBatchActions: 4}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
		r.Upload(sendertest.Hotels("first", 4)...)
		time.Sleep(time.Second)
		r.Upload(sendertest.Hotels("second", 4)...)
		for i := range 4 { // both slots are taken; these arrive one by one
			time.Sleep(time.Second)
			r.Upload(sendertest.Hotel{ID: fmt.Sprint("third-", i)})
		}
		synctest.Wait()
		require.Len(t, r.Requests(), 2)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, r.Requests(), 3)
		assert.Equal(t, sendertest.IDs(sendertest.Hotels("third", 4)), r.Requests()[2].Keys, "a full batch was ready when a slot came free")
		assert.Equal(t, 10*time.Second, r.Requests()[2].At)
	})
}

func TestRetriesGoFirstWithManyInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 2}, Retry: retry.Options{Delay: 500 * time.Millisecond, Jitter: -1}})
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-0", "k-3"}, Nth: 1, Status: 409}}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
		r.Upload(sendertest.Hotels("k", 40)...)
		require.NoError(t, r.Flush())
		var second []string
		for _, e := range r.Events("sent") {
			if e.At == 2*time.Second {
				second = append(second, e.Key)
			}
		}
		assert.Equal(t, []string{"k-0", "k-3", "k-12", "k-13", "k-14", "k-15"}, second, "refused at 1 s, due at 1.5 s, with 28 new ones waiting")
	})
}

func TestAHungRequestHoldsOneSlotUntilItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 1}, RequestTimeout: 20 * time.Second, Retry: retry.Options{Delay: -1}})
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if x.Keys[0] == "k-0" && x.At == 0 {
				return sendertest.Hang(n, x, req, next)
			}
			time.Sleep(time.Second)
			return next()
		})
		r.Upload(sendertest.Hotels("k", 31)...)
		time.Sleep(15*time.Second + 500*time.Millisecond)
		assert.EqualValues(t, 30, r.Sender.Stats().Completed, "two requests at a time complete 30 documents in 15 s")
		assert.Equal(t, 1, r.Sender.Stats().InFlight)
		require.NoError(t, r.Flush())
		assert.Equal(t, 21*time.Second, r.Now(), "the third request timed out, and its action was sent again")
		assert.Equal(t, 2, r.Outcome("k-0").Attempt)
		assert.Len(t, r.Indexed(), 31)
	})
	t.Run("requests end by default after 60 s, all of them if all hang", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: 4, MaxBatchActions: 1}, Retry: retry.Options{Delay: -1}})
			r.Respond(sendertest.First(4, sendertest.Hang))
			r.Upload(sendertest.Hotels("k", 8)...)
			require.NoError(t, r.Flush())
			assert.Equal(t, time.Minute, r.Now())
			assert.Len(t, r.Indexed(), 8)
		})
	})
}

func TestThroughputGrowsWithRequestsInFlight(t *testing.T) {
	testkit.Long(t)
	const documents, batch, latency = 1920, 10, 100 * time.Millisecond
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxInFlight: n, MaxBatchActions: batch}})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return latency.Seconds() }))
			r.Upload(sendertest.Hotels("k", documents)...)
			require.NoError(t, r.Flush())
			took := r.Now()
			t.Logf("%2d in flight: %6.0f documents/s", n, documents/took.Seconds())
			assert.Equal(t, documents/batch/time.Duration(n)*latency, took, "no slot is ever idle")
		})
	}
}
