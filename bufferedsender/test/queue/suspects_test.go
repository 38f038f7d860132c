package queue

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// died leaves n keys in the queue after a process died with held of them reserved.
func (q *queued) died(n, held int) {
	q.Helper()
	s := q.sender(sendertest.Options{})
	s.Pause()
	require.NoError(q, s.UploadDocuments(q.within(time.Minute), hotels(n, 1)...))
	require.NoError(q, s.Close(q.within(time.Minute)))
	leases, err := q.queue.Reserve(context.Background(), queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: held, Bytes: 1 << 30, For: time.Second})
	require.NoError(q, err)
	require.Len(q, leases, held)
	time.Sleep(time.Second)
}

func TestSuspectsAreMarkedBeforeTheyAreSentAndTheOthersAreNot(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.died(50, 10)
		q.slow.Store(int64(50 * time.Millisecond))
		marked, calls := map[string]bool{}, 0
		f := &faulty{Queue: q.queue}
		f.extend = func(leases []queue.Lease, next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			for i := range leases {
				if leases[i].Requested {
					assert.Empty(t, q.service.History("hotels", leases[i].Key), "a suspect was sent before it was marked")
					marked[leases[i].Key] = true
				}
			}
			calls++
			return next()
		}
		s := q.sender(sendertest.Options{Queue: f, RequestTimeout: time.Hour})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.EqualValues(t, 50, q.service.DocumentCount("hotels"))
		assert.Len(t, marked, 10)
		assert.LessOrEqual(t, calls, 7, "at most one call for each part")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// The dead holder may have applied both changes: a reader must not see the first one alone again.
func TestADocumentDoesNotGoBackWhenTheChangesOfADeadHolderAreSentAgain(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "k", Name: "first", Rooms: 1}))
		require.NoError(t, s.MergeDocuments(q.within(time.Minute), sendertest.Hotel{ID: "k", Rooms: 2}))
		require.NoError(t, s.MergeDocuments(q.within(time.Minute), sendertest.Hotel{ID: "k", Rooms: 3}))
		require.NoError(t, s.Close(q.within(time.Minute)))
		leases, err := q.queue.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 1, Bytes: 1 << 30, For: time.Second})
		require.NoError(t, err)
		require.Len(t, leases[0].Records, 3)
		time.Sleep(time.Second)
		s = q.sender(sendertest.Options{})
		require.NoError(t, s.Flush(q.within(time.Minute), &bufferedsender.FlushOptions{WholeQueue: true}))
		all := q.service.History("hotels", "k")
		require.Len(t, all, 1, "one write has all changes of the key")
		assert.Equal(t, 3, q.rooms("k"))
		assert.EqualValues(t, 3, s.Stats().Completed)
		require.NoError(t, s.Close(q.within(time.Minute)))
		q.empty()
	})
}

func TestSuspectIsNotSentWhileTheQueueCannotBeToldOfIt(t *testing.T) {
	for _, loads := range []bool{false, true} {
		withQueue(t, nil, func(q *queued) {
			q.died(1, 1)
			var down atomic.Bool
			down.Store(true)
			f := &faulty{Queue: q.queue}
			f.extend = func(_ []queue.Lease, next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
				if down.Load() {
					return nil, errors.New("i/o timeout")
				}
				return next()
			}
			s := q.sender(sendertest.Options{Queue: f, Loader: func(_ context.Context, keys []string) ([]sendertest.Action, error) {
				assert.False(t, down.Load(), "the Loader was asked for a suspect")
				return nil, nil
			}})
			if loads {
				require.NoError(t, s.IndexKeys(q.within(time.Minute), "k-0"))
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			assert.Zero(t, q.requests.Load())
			down.Store(false)
			if !loads {
				time.Sleep(10 * time.Second)
				synctest.Wait()
				assert.EqualValues(t, 1, q.service.DocumentCount("hotels"))
			}
			require.NoError(t, s.Close(q.within(time.Minute)))
		})
	}
}

// A sender dies with a request of one key: neither queue nor service gets further calls of it.
func TestKeyThatKillsEachProcessCostsThreeAndItsNeighboursAreSent(t *testing.T) {
	const keys, killer, lease = 8000, `"k-4000"`, 2 * time.Minute
	withQueue(t, nil, func(q *queued) {
		q.died(keys, 0)
		gone := errors.New("the process is dead")
		var dead atomic.Pointer[atomic.Bool] // of the living process
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
				return next(req)
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			if req.Body = io.NopCloser(bytes.NewReader(body)); bytes.Contains(body, []byte(killer)) {
				dead.Load().Store(true)
			}
			if time.Sleep(50 * time.Millisecond); dead.Load().Load() {
				return nil, gone
			}
			return next(req)
		})
		deaths, waited, began := 0, time.Duration(0), time.Now()
		left := func() int64 { st := q.stats(); return st.Waiting + st.Leased }
		for left() > 0 && deaths < 10 && time.Since(began)-waited < time.Minute {
			now := new(atomic.Bool)
			dead.Store(now)
			f := &faulty{Queue: q.queue}
			f.reserve = func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
				if now.Load() {
					return nil, gone
				}
				return next()
			}
			f.settle = func(_ []queue.End, next func() ([]queue.Lease, []queue.Lease, error)) (stale, failed []queue.Lease, err error) {
				if now.Load() {
					return nil, nil, gone
				}
				return next()
			}
			f.extend = func(_ []queue.Lease, next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
				if now.Load() {
					return nil, gone
				}
				return next()
			}
			s := q.sender(sendertest.Options{Queue: f, UnknownWait: -1})
			for left() > 0 && !now.Load() && time.Since(began)-waited < time.Minute {
				time.Sleep(10 * time.Millisecond)
			}
			at := time.Now()
			if now.Load() {
				deaths++
				time.Sleep(2 * lease)
			}
			ended, stop := context.WithTimeout(context.Background(), time.Second)
			_ = s.Close(ended)
			stop()
			waited += time.Since(at)
		}
		took := time.Since(began) - waited
		t.Logf("%d deaths, and %v in addition to the leases of the dead", deaths, took)
		assert.Equal(t, 3, deaths)
		assert.EqualValues(t, 1, q.stats().Parked)
		assert.EqualValues(t, keys-1, q.service.DocumentCount("hotels"))
		assert.Less(t, took, 30*time.Second)
	})
}
