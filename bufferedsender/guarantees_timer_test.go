package bufferedsender_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func times(xs []*exchange) []time.Duration {
	at := []time.Duration{}
	for _, x := range xs {
		at = append(at, x.at)
	}
	return at
}

func TestG14AutoFlush(t *testing.T) {
	const s = time.Second
	t.Run("fires an interval after the oldest waiting action", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: 10 * s})
			time.Sleep(3 * s) // the sender's age does not count
			r.upload(hotel{ID: "a"})
			time.Sleep(9 * s)
			r.upload(hotel{ID: "b"})
			time.Sleep(20 * s)
			r.upload(hotel{ID: "c"}) // and so again
			time.Sleep(time.Hour)
			assert.Equal(t, []time.Duration{13 * s, 42 * s}, times(r.requests()))
			assert.Equal(t, [][]string{{"a", "b"}, {"c"}}, keysOf(r.requests()))
		})
	})
	t.Run("is not put off by a trickle of additions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: 10 * s})
			for i := range 100 {
				r.upload(hotel{ID: fmt.Sprint(i)})
				time.Sleep(s)
			}
			for _, gap := range r.gaps() {
				assert.LessOrEqual(t, gap, 11*s)
			}
			assert.GreaterOrEqual(t, len(r.requests()), 9)
		})
	})
	t.Run("is not put off by full batches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: 10 * s, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			added := map[string]time.Duration{}
			for i := range 100 {
				for j := range 4 { // always one left over
					d := hotel{ID: fmt.Sprint(i, "-", j)}
					r.upload(d)
					added[d.ID] = r.now()
				}
				time.Sleep(7 * s)
			}
			require.NoError(t, r.flush())
			for _, e := range r.seen("sent") {
				assert.LessOrEqual(t, e.at-added[e.key], 10*s, e.key)
			}
		})
	})
	t.Run("re-arms after a reply that leaves something behind", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: 10 * s})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(30 * s)})
			r.upload(hotel{ID: "a", Rooms: 1}, hotel{ID: "a", Rooms: 2})
			time.Sleep(15 * s)
			r.upload(hotel{ID: "b"}) // while the request is under way
			time.Sleep(time.Hour)
			assert.Len(t, r.indexed(), 2)
			assert.Equal(t, 10*s, r.requests()[0].at)
			assert.LessOrEqual(t, r.requests()[1].at, 50*s, "the second version could be sent after 40 s")
			assert.Zero(t, r.sender.PendingActionCount())
		})
	})
	t.Run("fires for what was accepted when another gave up waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: 10 * s, Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 1000, MaxInFlight: 2}, RequestTimeout: -1})
			r.faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Hour)})
			r.upload(sized("k", 600))
			time.Sleep(20 * s)
			go func() { assert.Error(t, r.sender.UploadDocuments(within(t, 10*s), sized("large", 900))) }()
			synctest.Wait()
			r.upload(sized("small", 300))
			assert.Equal(t, 30*s, r.now())
			time.Sleep(10 * s)
			synctest.Wait()
			assert.Equal(t, []string{"small"}, r.indexed(), "a slot is free")
		})
	})
	for name, fault := range map[string]searchtest.Fault{
		"in a reply that refuses documents": {Count: 1, Documents: []searchtest.DocumentFault{{Keys: []string{"a"}, Status: 409}}},
		"in a reply without results":        {Count: 1, Results: searchtest.ResultsMissing},
		"in a reply that never came":        {Count: 1, Cut: searchtest.CutBeforeCommit},
		"in a refused request":              {Count: 1, Status: 413},
		"in a failed request":               {Count: 1, Status: 404},
	} {
		t.Run("re-arms after what is left behind "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{AutoFlushInterval: 10 * s, Retry: retry.Options{Delay: s}})
				r.faults(fault)
				r.upload(hotel{ID: "a"}, hotel{ID: "b"}, hotel{ID: "a", Rooms: 2}, hotel{ID: "b", Rooms: 2})
				time.Sleep(time.Minute)
				assert.Zero(t, r.sender.PendingActionCount())
			})
		})
	}
	t.Run("never fires while sending is paused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: 10 * s, Limits: bufferedsender.Limits{MaxInFlight: 3}})
			r.faults(searchtest.Fault{Count: 1, Status: 429, RetryAfter: searchtest.Duration(100 * s)})
			r.upload(hotel{ID: "a"})
			time.Sleep(15 * s)
			r.upload(hotel{ID: "b"})
			time.Sleep(time.Hour)
			assert.Equal(t, 10*s, r.requests()[0].at)
			assert.Equal(t, 110*s, r.requests()[1].at)
			assert.Contains(t, r.requests()[1].keys, "a")
			assert.LessOrEqual(t, r.outcome("b").at, 120*s)
		})
	})
	t.Run("makes no request when nothing waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: s})
			time.Sleep(time.Hour)
			r.upload(hotel{ID: "a"})
			time.Sleep(time.Hour)
			assert.Len(t, r.requests(), 1)
		})
	})
	t.Run("zero means 5 s", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.upload(hotel{ID: "a"})
			time.Sleep(time.Hour)
			assert.Equal(t, []time.Duration{5 * s}, times(r.requests()))
		})
	})
	t.Run("negative means never", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{AutoFlushInterval: -time.Nanosecond, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			r.upload(hotels("k", 4)...)
			time.Sleep(1000 * time.Hour)
			assert.Equal(t, [][]string{{"k-0", "k-1", "k-2"}}, keysOf(r.requests()), "but full batches go at once")
			assert.Equal(t, []time.Duration{0}, times(r.requests()))
			require.NoError(t, r.flush())
		})
	})
	t.Run("without auto-flush nothing is sent but by Flush and Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{DisableAutoFlush: true, AutoFlushInterval: s, Limits: bufferedsender.Limits{MaxBatchActions: 3}})
			r.upload(hotels("k", 10)...)
			time.Sleep(1000 * time.Hour)
			assert.Empty(t, r.requests())
			require.NoError(t, r.flush())
			assert.Len(t, r.requests(), 4)
			r.upload(hotels("l", 10)...)
			time.Sleep(time.Hour)
			assert.Len(t, r.requests(), 4, "Flush is no permission for later ones")
			require.NoError(t, r.close())
			assert.Len(t, r.indexed(), 20)
		})
	})
}
