package batching

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestAnIntervalThatMeansNeverIsNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{AutoFlushInterval: math.MaxInt64})
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		time.Sleep(time.Hour)
		assert.Zero(t, index.Requests())
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestAutoFlush(t *testing.T) {
	const s = time.Second
	t.Run("fires an interval after the oldest waiting action", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: 10 * s})
			time.Sleep(3 * s) // the sender's age does not count
			r.Upload(sendertest.Hotel{ID: "a"})
			time.Sleep(9 * s)
			r.Upload(sendertest.Hotel{ID: "b"})
			time.Sleep(20 * s)
			r.Upload(sendertest.Hotel{ID: "c"}) // and the same again
			time.Sleep(time.Hour)
			assert.Equal(t, []time.Duration{13 * s, 42 * s}, sendertest.Times(r.Requests()))
			assert.Equal(t, [][]string{{"a", "b"}, {"c"}}, sendertest.KeysOf(r.Requests()))
		})
	})
	t.Run("is not put off by a trickle of additions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: 10 * s})
			for i := range 100 {
				r.Upload(sendertest.Hotel{ID: fmt.Sprint(i)})
				time.Sleep(s)
			}
			for _, gap := range r.RequestGaps() {
				assert.LessOrEqual(t, gap, 11*s)
			}
			assert.GreaterOrEqual(t, len(r.Requests()), 9)
		})
	})
	t.Run("is not put off by full batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: 10 * s, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			added := map[string]time.Duration{}
			for i := range 100 {
				for j := range 4 { // always one left over
					d := sendertest.Hotel{ID: fmt.Sprint(i, "-", j)}
					r.Upload(d)
					added[d.ID] = r.Now()
				}
				time.Sleep(7 * s)
			}
			require.NoError(t, r.Flush())
			for _, e := range r.Events("sent") {
				assert.LessOrEqual(t, e.At-added[e.Key], 10*s, e.Key)
			}
		})
	})
	t.Run("re-arms after a reply that leaves something behind", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: 10 * s})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(30 * s)})
			r.Upload(sendertest.Hotel{ID: "a", Rooms: 1}, sendertest.Hotel{ID: "a", Rooms: 2})
			time.Sleep(15 * s)
			r.Upload(sendertest.Hotel{ID: "b"}) // while the request is in flight
			time.Sleep(time.Hour)
			assert.Len(t, r.Indexed(), 2)
			assert.Equal(t, 10*s, r.Requests()[0].At)
			assert.LessOrEqual(t, r.Requests()[1].At, 50*s, "the second version could be sent after 40 s")
			assert.Zero(t, r.Sender.Stats().PendingActions)
		})
	})
	t.Run("fires for actions accepted when another call gave up waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: 10 * s, Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 1000, MaxInFlight: 2}, RequestTimeout: -1})
			r.Faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Hour)})
			r.Upload(sendertest.HotelOfSize("k", 600))
			time.Sleep(20 * s)
			go func() {
				assert.Error(t, r.Sender.UploadDocuments(sendertest.Within(t, 10*s), sendertest.HotelOfSize("large", 900)))
			}()
			synctest.Wait()
			r.Upload(sendertest.HotelOfSize("small", 300))
			assert.Equal(t, 30*s, r.Now())
			time.Sleep(10 * s)
			synctest.Wait()
			assert.Equal(t, []string{"small"}, r.Indexed(), "a slot is free")
		})
	})
	for name, fault := range map[string]searchtest.Fault{
		"in a reply that refuses documents": {Count: 1, Documents: []searchtest.DocumentFault{{Keys: []string{"a"}, Status: 409}}},
		"in a reply without results":        {Count: 1, Results: searchtest.ResultsMissing},
		"in a reply that never came":        {Count: 1, Cut: searchtest.CutBeforeCommit},
		"in a refused request":              {Count: 1, Status: 413},
		"in a failed request":               {Count: 1, Status: 404},
	} {
		t.Run("re-arms after the remaining actions "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: 10 * s, Retry: retry.Options{Delay: s}})
				r.Faults(fault)
				r.Upload(sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "b"}, sendertest.Hotel{ID: "a", Rooms: 2}, sendertest.Hotel{ID: "b", Rooms: 2})
				time.Sleep(time.Minute)
				assert.Zero(t, r.Sender.Stats().PendingActions)
			})
		})
	}
	t.Run("never fires while sending is paused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: 10 * s, Limits: bufferedsender.Limits{MaxInFlight: 3}})
			r.Faults(searchtest.Fault{Count: 1, Status: 429, RetryAfter: searchtest.Duration(100 * s)})
			r.Upload(sendertest.Hotel{ID: "a"})
			time.Sleep(15 * s)
			r.Upload(sendertest.Hotel{ID: "b"})
			time.Sleep(time.Hour)
			assert.Equal(t, 10*s, r.Requests()[0].At)
			assert.Equal(t, 110*s, r.Requests()[1].At)
			assert.Contains(t, r.Requests()[1].Keys, "a")
			assert.LessOrEqual(t, r.Outcome("b").At, 120*s)
		})
	})
	t.Run("makes no request when nothing waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: s})
			time.Sleep(time.Hour)
			r.Upload(sendertest.Hotel{ID: "a"})
			time.Sleep(time.Hour)
			assert.Len(t, r.Requests(), 1)
		})
	})
	t.Run("zero means 5 s", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Upload(sendertest.Hotel{ID: "a"})
			time.Sleep(time.Hour)
			assert.Equal(t, []time.Duration{5 * s}, sendertest.Times(r.Requests()))
		})
	})
	t.Run("negative means never", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: -time.Nanosecond, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			r.Upload(sendertest.Hotels("k", 4)...)
			time.Sleep(1000 * time.Hour)
			assert.Equal(t, [][]string{{"k-0", "k-1", "k-2"}}, sendertest.KeysOf(r.Requests()), "full batches are sent at once")
			assert.Equal(t, []time.Duration{0}, sendertest.Times(r.Requests()))
			require.NoError(t, r.Flush())
		})
	})
	t.Run("without auto-flush only Flush and Close send", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{DisableAutoFlush: true, AutoFlushInterval: s, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			r.Upload(sendertest.Hotels("k", 10)...)
			time.Sleep(1000 * time.Hour)
			assert.Empty(t, r.Requests())
			require.NoError(t, r.Flush())
			assert.Len(t, r.Requests(), 4)
			r.Upload(sendertest.Hotels("l", 10)...)
			time.Sleep(time.Hour)
			assert.Len(t, r.Requests(), 4, "Flush does not apply to later actions")
			require.NoError(t, r.Close())
			assert.Len(t, r.Indexed(), 20)
		})
	})
}
