package queue

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

func TestRequestMayTakeLongerThanALease(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.slow.Store(int64(50 * time.Second))
		s, other := q.sender(sendertest.Options{}), q.sender(sendertest.Options{})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 1)...))
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, int64(1), q.requests.Load(), "no other process has sent them meanwhile")
		assert.Zero(t, q.stats().Expired)
		require.NoError(t, s.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
		q.empty()
	})
}

// A holder dies with a request in flight, and another one sends its keys.
func TestKeysOfADeadHolderAreSentSoon(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var dead atomic.Bool
		gone := &stopped{Queue: q.queue}
		s := q.sender(sendertest.Options{Queue: gone})
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if dead.Load() && req.Method == http.MethodPost {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			return next(req)
		})
		dead.Store(true)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 1)...))
		time.Sleep(20 * time.Second)
		gone.off.Store(true) // as if it were killed
		dead.Store(false)
		began := time.Now()
		other := q.sender(sendertest.Options{})
		require.NoError(t, other.Flush(q.within(time.Hour), nil))
		q.drained()
		assert.LessOrEqual(t, time.Since(began), 15*time.Second+bufferedsender.DefaultUnknownWait)
		assert.Equal(t, int64(10), q.service.DocumentCount("hotels"))
		require.NoError(t, other.Close(q.within(time.Minute)))
		_ = s.Close(q.within(time.Second))
	})
}

// The queue does not reply for longer than a lease, while a request is in flight.
func TestRequestIsCutBeforeALeaseEndsThatCannotBeExtended(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var reserved atomic.Int64 // time of the last reservation or extension
		var silent atomic.Bool
		f := &faulty{Queue: q.queue}
		note := func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			if silent.Load() {
				time.Sleep(2 * time.Second)
				return nil, errors.New("i/o timeout")
			}
			reserved.Store(time.Now().UnixNano())
			return next()
		}
		f.reserve = note
		f.extend = func(_ []queue.Lease, next func() ([]queue.Lease, error)) ([]queue.Lease, error) { return note(next) }
		s := q.sender(sendertest.Options{Queue: f})
		var cut atomic.Int64
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			r, err := next(req)
			if req.Context().Err() != nil {
				cut.CompareAndSwap(0, time.Now().UnixNano())
			}
			return r, err
		})
		q.slow.Store(int64(40 * time.Second))
		failed := sendertest.Later(func() error {
			_, err := s.IndexDocumentsAndWait(q.within(time.Hour), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "slow"})}, nil)
			return err
		})
		time.Sleep(20 * time.Second)
		silent.Store(true)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		require.NotZero(t, cut.Load())
		lasted := time.Duration(cut.Load() - reserved.Load())
		assert.Less(t, lasted, 12*time.Second, "the request ends before another process may have the key")
		assert.Greater(t, lasted, 8*time.Second)
		silent.Store(false)
		q.slow.Store(0)
		require.NoError(t, <-failed, "the action is sent again, and its caller gets the outcome")
		require.NoError(t, s.Close(q.within(time.Minute)))
		assert.Zero(t, s.Stats().Failed)
		q.empty()
	})
}

// Its packets to the service are lost, while the queue works.
func TestSenderWhoseRequestsHangLeavesWhatWaitsToOthers(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		cut := q.sender(sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 500}})
		var hanging atomic.Int64
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if hanging.Load() > 0 && req.Method == http.MethodPost {
				hanging.Add(-1)
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			return next(req)
		})
		hanging.Store(1)
		require.NoError(t, cut.UploadDocuments(q.within(time.Minute), hotels(5000, 1)...))
		time.Sleep(10 * time.Second)
		require.Zero(t, hanging.Load(), "a request hangs")
		other := q.sender(sendertest.Options{})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.GreaterOrEqual(t, q.service.DocumentCount("hotels"), int64(4500), "all documents except those in the request")
		q.drained()
		assert.Equal(t, int64(5000), q.service.DocumentCount("hotels"))
		assert.Zero(t, q.stats().Expired)
		require.NoError(t, cut.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
		q.empty()
	})
}
