package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// queued is an emulated index and a queue, for senders in between.
type queued struct {
	*testing.T
	service  *searchtest.Server
	queue    *memqueue.Queue
	requests atomic.Int64
	down     atomic.Bool // refuse requests
	slow     atomic.Int64
}

func withQueue(t *testing.T, opts *memqueue.Options, test func(q *queued)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := &queued{T: t, service: searchtest.NewServer(nil)}
		require.NoError(t, q.service.CreateIndex(sendertest.HotelIndex))
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/docs/search.index") {
				q.requests.Add(1)
				select {
				case <-time.After(time.Duration(q.slow.Load())):
				case <-req.Context().Done():
					return nil, req.Context().Err()
				}
			}
			if q.down.Load() {
				return nil, errors.New("connection refused")
			}
			return next(req)
		})
		var err error
		q.queue, err = memqueue.New(opts)
		require.NoError(t, err)
		test(q)
		require.NoError(t, q.queue.Close())
		require.NoError(t, q.service.Close())
	})
}

// sender creates another sender on the queue.
func (q *queued) sender(opts sendertest.Options) *bufferedsender.BufferedSender[sendertest.Hotel] {
	q.Helper()
	if opts.Queue == nil {
		opts.Queue = q.queue
	}
	if opts.Logger == nil {
		opts.Logger = sendertest.NoLog
	}
	s, err := bufferedsender.New(sendertest.NewClient(q, q.service), &opts)
	require.NoError(q, err)
	return s
}

// drained waits until the queue is empty.
func (q *queued) drained() {
	q.Helper()
	for range 3600 {
		if s := q.stats(); s.Waiting+s.Leased == 0 {
			synctest.Wait()
			return
		}
		time.Sleep(time.Second)
	}
	q.Fatalf("not drained after an hour: %+v", q.stats())
}

// adder creates a sender that only adds.
func (q *queued) adder(opts sendertest.Options) *bufferedsender.BufferedSender[sendertest.Hotel] {
	q.Helper()
	opts.Queue, opts.Logger = q.queue, sendertest.NoLog
	s, err := bufferedsender.New(nil, &opts)
	require.NoError(q, err)
	return s
}

func (q *queued) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	q.Cleanup(cancel)
	return ctx
}

func (q *queued) stats() queue.Stats {
	q.Helper()
	s, err := q.queue.Stats(context.Background())
	require.NoError(q, err)
	return s
}

func (q *queued) empty() {
	q.Helper()
	s := q.stats()
	assert.Zero(q, s.Waiting+s.Leased+s.Parked, "keys in the queue")
}

func (q *queued) rooms(key string) int {
	q.Helper()
	raw, ok := q.service.Document("hotels", key)
	if !ok {
		return -1
	}
	var h sendertest.Hotel
	require.NoError(q, json.Unmarshal(raw, &h))
	return h.Rooms
}

func hotels(n, rooms int) (all []sendertest.Hotel) {
	for i := range n {
		all = append(all, sendertest.Hotel{ID: fmt.Sprint("k-", i), Rooms: rooms})
	}
	return all
}

func TestWhatIsAppendedToAQueueIsSent(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var completed atomic.Int64
		s := q.sender(sendertest.Options{Handlers: sendertest.Handlers{
			ActionCompleted: func(_ context.Context, e *events.ActionCompleted[sendertest.Hotel]) { completed.Add(1) },
		}})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(5000, 1)...))
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, int64(5000), q.service.DocumentCount("hotels"))
		assert.Equal(t, int64(5000), completed.Load())
		stats := s.Stats()
		assert.Equal(t, [...]int64{5000, 5000, 5000, 0, 0}, [...]int64{stats.Appended, stats.Accepted, stats.Completed, int64(stats.PendingActions), stats.Kept})
		require.NoError(t, s.Close(q.within(time.Minute)))
		q.empty()
	})
}

func TestCloseKeepsInTheQueueWhatIsNotSent(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.slow.Store(int64(10 * time.Second))
		s := q.sender(sendertest.Options{})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10_000, 1)...))
		require.NoError(t, s.Close(q.within(15*time.Second)), "no document has failed")
		stats := s.Stats()
		assert.Equal(t, int64(10_000), stats.Completed+stats.Kept)
		assert.Positive(t, stats.Kept)
		assert.Equal(t, stats.Accepted, stats.Completed, "returned records are no longer accepted")
		q.slow.Store(0)
		next := q.sender(sendertest.Options{})
		q.drained()
		assert.Equal(t, int64(10_000), q.service.DocumentCount("hotels"))
		require.NoError(t, next.Close(q.within(time.Minute)))
		q.empty()
	})
}

func TestManySendersOfOneQueueSendEachChangeInOrder(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var all []*bufferedsender.BufferedSender[sendertest.Hotel]
		for range 3 {
			all = append(all, q.sender(sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 7, MaxInFlight: 2}}))
		}
		var wg sync.WaitGroup
		for i, s := range all {
			wg.Go(func() {
				for round := range 50 {
					for k := range 20 {
						key := fmt.Sprintf("s%d-%d", i, k)
						doc := sendertest.Hotel{ID: key, Rooms: round + 1}
						action := models.MergeOrUploadAction(doc)
						if round%10 == 0 {
							action = models.UploadAction(doc)
						}
						assert.NoError(t, s.IndexDocuments(q.within(time.Hour), action))
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		wg.Wait()
		for _, s := range all {
			require.NoError(t, s.Flush(q.within(time.Minute), nil))
		}
		for i := range all {
			for k := range 20 {
				key := fmt.Sprintf("s%d-%d", i, k)
				assert.Equal(t, 50, q.rooms(key), key)
				last := 0
				for _, c := range q.service.History("hotels", key) {
					assert.Positive(t, c.Status)
					last++
				}
				assert.LessOrEqual(t, last, 50)
			}
		}
		for _, s := range all {
			require.NoError(t, s.Close(q.within(time.Minute)))
		}
		q.empty()
	})
}

func TestBreakerGivesBackWhatASenderHolds(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.down.Store(true)
		var failed atomic.Int64
		s := q.sender(sendertest.Options{
			Outage:   bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)},
			Handlers: sendertest.Handlers{ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) { failed.Add(1) }},
		})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(3000, 1)...))
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		assert.LessOrEqual(t, q.stats().Leased, int64(8), "one key for the probe, and keys of failed probes")
		assert.Zero(t, q.stats().Expired, "no lease has expired")
		assert.Less(t, q.requests.Load(), int64(100))
		assert.Zero(t, failed.Load(), "returned records have not failed")
		stats := s.Stats()
		assert.Equal(t, stats.Accepted, stats.Completed+stats.Failed+stats.Unsent+int64(stats.PendingActions))
		q.down.Store(false)
		require.NoError(t, s.Flush(q.within(time.Hour), nil))
		assert.Equal(t, int64(3000), q.service.DocumentCount("hotels"))
		require.NoError(t, s.Close(q.within(time.Minute)))
		q.empty()
	})
}

func TestCloseDuringAnOutageReturnsSoon(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.down.Store(true)
		s := q.sender(sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(3000, 1)...))
		time.Sleep(time.Minute)
		began := time.Now()
		require.NoError(t, s.Close(q.within(time.Hour)))
		assert.Less(t, time.Since(began), time.Minute)
		assert.Equal(t, int64(3000), s.Stats().Kept)
	})
}

func TestWhatTheServiceRefusesIsParkedOrADeadLetter(t *testing.T) {
	for name, letters := range map[string]bool{"parked": false, "a dead letter": true} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				var sink []deadletter.Letter
				opts := sendertest.Options{}
				if letters {
					opts.DeadLetters = sinkFunc(func(all []deadletter.Letter) error { sink = append(sink, all...); return nil })
				}
				s := q.sender(opts)
				require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 1)...))
				require.NoError(t, s.Raw().Add(q.within(time.Minute), models.RawAction{Key: "bad", Type: models.ActionTypeUpload, Document: []byte(`{"id":"bad","rooms":"many"}`)}))
				err := s.Flush(q.within(time.Hour), nil)
				var failed *bufferedsender.FlushError
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, 1, failed.Count)
				assert.Zero(t, failed.Parked, "this process parked the key")
				assert.Equal(t, int64(10), q.service.DocumentCount("hotels"))
				if letters {
					require.Len(t, sink, 1)
					assert.Equal(t, "bad", sink[0].Key)
				} else {
					parked, err := q.queue.Inspect(context.Background(), queue.Inspection{States: queue.Parked})
					require.NoError(t, err)
					require.Len(t, parked, 1)
					assert.Equal(t, "bad", parked[0].Key)
					assert.Contains(t, parked[0].Reason, "400")
					require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "bad", Rooms: 7}))
					require.NoError(t, s.Flush(q.within(time.Hour), nil))
					assert.Equal(t, 7, q.rooms("bad"), "a replacing change removes it")
				}
				require.NoError(t, s.Close(q.within(time.Minute)))
				q.empty()
			})
		})
	}
}

type sinkFunc func(all []deadletter.Letter) error

func (f sinkFunc) Write(_ context.Context, all []deadletter.Letter) error { return f(all) }

func TestAddersAndSendersMayBeDifferentProcesses(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		adder := q.adder(sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{KeyField: "id"}})
		require.NoError(t, adder.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		require.NoError(t, adder.DeleteDocumentsByKey(q.within(time.Minute), "k-7"))
		_, err := adder.IndexDocumentsAndWait(q.within(time.Minute), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "x"})}, nil)
		require.ErrorContains(t, err, "only adds")
		err = adder.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "x"}).WithCallback(func(models.Outcome) {}))
		require.ErrorContains(t, err, "only adds")
		err = adder.Flush(q.within(time.Hour), nil)
		require.ErrorIs(t, err, bufferedsender.ErrNobodySends)
		s := q.sender(sendertest.Options{})
		require.NoError(t, adder.Flush(q.within(time.Hour), nil), "Flush waits for the records of other senders")
		assert.Equal(t, int64(99), q.service.DocumentCount("hotels"))
		require.NoError(t, adder.Close(q.within(time.Minute)))
		require.NoError(t, s.Close(q.within(time.Minute)))
		q.empty()
	})
}

func TestCallersWaitForWhatTheyHaveAppended(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		began := time.Now()
		results, err := s.IndexDocumentsAndWait(q.within(time.Minute), []sendertest.Action{
			models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 1}), models.UploadAction(sendertest.Hotel{ID: "b", Rooms: 2}),
		}, nil)
		require.NoError(t, err)
		require.Len(t, results, 2)
		assert.Less(t, time.Since(began), time.Second, "no call waits for a full batch")
		assert.Equal(t, []bool{true, true}, []bool{results[0].Succeeded, results[1].Succeeded})
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestCallbacksOfReplacedChangesHearThatTheyAreSuperseded(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		synctest.Wait()
		var got []models.Outcome
		note := func(o models.Outcome) { got = append(got, o) }
		for i := range 5 {
			require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "hot", Rooms: i}).WithTag(i).WithCallback(note)))
		}
		s.Resume()
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		require.Len(t, got, 5)
		for _, o := range got {
			assert.True(t, o.Completed())
			if o.Tag == 4 {
				assert.Equal(t, models.ReasonNone, o.Reason)
			} else {
				assert.Equal(t, models.ReasonSuperseded, o.Reason, "%v", o.Tag)
			}
		}
		assert.Equal(t, 4, q.rooms("hot"))
		assert.Len(t, q.service.History("hotels", "hot"), 1, "one write for five changes")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestCallbackSaysWhenAnotherProcessHasSentIt(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		mine, other := q.sender(sendertest.Options{}), q.sender(sendertest.Options{})
		mine.Pause()
		synctest.Wait()
		var got []models.Outcome
		require.NoError(t, mine.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "x", Rooms: 3}).WithCallback(func(o models.Outcome) { got = append(got, o) })))
		q.drained()
		assert.Equal(t, 3, q.rooms("x"))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, got, 1)
		require.ErrorIs(t, got[0].Err, bufferedsender.ErrElsewhere)
		assert.True(t, got[0].Unknown)
		mine.Resume()
		require.NoError(t, mine.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}

func TestCallbackSaysWhenAnotherProcessHasSentWhatWasGivenBack(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		mine := q.sender(sendertest.Options{AutoFlushInterval: time.Hour})
		var got []models.Outcome
		require.NoError(t, mine.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "x", Rooms: 3}).WithCallback(func(o models.Outcome) { got = append(got, o) })))
		time.Sleep(time.Minute) // the change is in the buffer
		mine.Pause()
		synctest.Wait()
		other := q.sender(sendertest.Options{})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 3, q.rooms("x"))
		require.Len(t, got, 1)
		require.ErrorIs(t, got[0].Err, bufferedsender.ErrElsewhere)
		require.NoError(t, mine.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}

// The Loader fails for one document among others.
func TestLoaderThatFailsForAKeyDoesNotHoldTheOthers(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var calls atomic.Int64
		var broken atomic.Bool
		broken.Store(true)
		s := q.sender(sendertest.Options{Loader: func(_ context.Context, keys []string) (all []sendertest.Action, err error) {
			calls.Add(1)
			for _, key := range keys {
				if key == "k-500" && broken.Load() {
					return nil, errors.New("a column of k-500 cannot be read")
				}
				all = append(all, models.UploadAction(sendertest.Hotel{ID: key, Rooms: 3}))
			}
			return all, nil
		}})
		var keys []string
		for i := range 1000 {
			keys = append(keys, fmt.Sprint("k-", i))
		}
		require.NoError(t, s.IndexKeys(q.within(time.Minute), keys...))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 1, q.stats().Waiting)
		require.Equal(t, 3, q.rooms("k-999"))
		time.Sleep(time.Hour)
		require.Less(t, calls.Load(), int64(200), "the Loader gets the key at most once a minute")
		broken.Store(false)
		q.drained()
		require.Equal(t, 3, q.rooms("k-500"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// stopped is the queue of a stopped process: nothing reaches the real queue.
type stopped struct {
	*memqueue.Queue
	off atomic.Bool
}

var errStopped = errors.New("not now")

func (s *stopped) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) ([]queue.Lease, error) {
	if s.off.Load() {
		return nil, errStopped
	}
	return s.Queue.Extend(ctx, d, leases...)
}

func (s *stopped) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	if s.off.Load() {
		return nil, errStopped
	}
	return s.Queue.Reserve(ctx, want)
}

func (s *stopped) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	if s.off.Load() {
		return nil, nil, nil, errStopped
	}
	return s.Queue.Exchange(ctx, want, ends...)
}

func (s *stopped) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	if s.off.Load() {
		return nil, nil, errStopped
	}
	return s.Queue.Settle(ctx, ends...)
}

func TestSenderThatCannotExtendItsLeasesSendsNothingMore(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		gone := &stopped{Queue: q.queue}
		s := q.sender(sendertest.Options{Queue: gone, Limits: bufferedsender.Limits{MaxBatchActions: 10}, RequestTimeout: 10 * time.Second})
		q.slow.Store(int64(5 * time.Second))
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		time.Sleep(7 * time.Second)
		gone.off.Store(true)
		time.Sleep(20 * time.Second)
		before := q.requests.Load()
		time.Sleep(10 * time.Second)
		assert.Equal(t, before, q.requests.Load(), "no request after its leases have run out")
		q.slow.Store(0)
		other := q.sender(sendertest.Options{})
		q.drained()
		assert.Equal(t, int64(100), q.service.DocumentCount("hotels"))
		gone.off.Store(false)
		require.NoError(t, other.Close(q.within(time.Minute)))
		_ = s.Close(q.within(time.Minute))
		assert.Positive(t, s.Stats().Stale, "the sender has settled records whose leases it had lost")
		q.empty()
	})
}

func TestAppendThatGetsNoAnswerIsUnknownUntilItContinues(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		slow := &slowQueue{Queue: q.queue, wait: time.Minute}
		s := q.sender(sendertest.Options{Queue: slow})
		err := s.UploadDocuments(q.within(time.Second), hotels(10, 1)...)
		var added *bufferedsender.AddError
		require.ErrorAs(t, err, &added)
		assert.Equal(t, [...]int{0, 10}, [...]int{added.Accepted, added.Unknown})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = added.Continue(q.within(time.Second))
		require.Error(t, err)
		n, err := added.Continue(q.within(time.Hour))
		require.NoError(t, err)
		assert.Equal(t, 10, n)
		slow.wait = 0
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, int64(10), q.service.DocumentCount("hotels"))
		assert.Equal(t, int64(10), q.stats().Appended, "the record was appended once")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

type slowQueue struct {
	*memqueue.Queue
	wait time.Duration
}

func (s *slowQueue) Append(ctx context.Context, call queue.Call) (queue.Receipt, error) {
	time.Sleep(s.wait)
	return s.Queue.Append(ctx, call)
}

func TestFullQueueLetsCallersWaitOrSaysSo(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 100}, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 2)...), "these records need no additional room")
		err := s.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "more"}))
		require.ErrorIs(t, err, bufferedsender.ErrQueueFull)
		err = s.UploadDocuments(q.within(5500*time.Millisecond), sendertest.Hotel{ID: "more"})
		require.ErrorIs(t, err, bufferedsender.ErrQueueFull)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		waits := sendertest.Later(func() error {
			return s.UploadDocuments(q.within(time.Hour), sendertest.Hotel{ID: "more", Rooms: 5})
		})
		time.Sleep(10 * time.Second)
		s.Resume()
		require.NoError(t, <-waits)
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, 5, q.rooms("more"))
		assert.Equal(t, 2, q.rooms("k-3"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestParkedKeysAreNamedByHealthAndByWhoeverHasNoRoomForThem(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 2}, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		synctest.Wait()
		park := func(keys ...string) {
			for _, key := range keys {
				require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: key}), "parked keys have a share of their own")
			}
			n, err := q.queue.Park(t.Context(), "bad", keys...)
			require.NoError(t, err)
			require.Equal(t, len(keys), n)
		}
		park("a", "b")
		s.Resume()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "good"}))
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, s.Flush(q.within(time.Minute), nil), &failed)
		require.Equal(t, 2, failed.Parked)
		require.ErrorIs(t, s.Health().Err, queue.ErrFull)
		require.ErrorContains(t, s.Health().Err, "2 keys are parked")
		require.Contains(t, s.Health().Reason, "2 keys are parked")
		s.Pause()
		synctest.Wait()
		park("c", "d")
		err := s.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "e"}))
		require.ErrorIs(t, err, bufferedsender.ErrQueueFull)
		require.ErrorContains(t, err, "4 are parked")
		// Not at the moment of the next call to the queue, whose missing reply could be the error.
		err = s.UploadDocuments(q.within(5300*time.Millisecond), sendertest.Hotel{ID: "e"})
		require.ErrorIs(t, err, bufferedsender.ErrQueueFull)
		require.ErrorContains(t, err, "4 are parked")
		waits := sendertest.Later(func() error { return s.UploadDocuments(q.within(time.Hour), sendertest.Hotel{ID: "e"}) })
		time.Sleep(10 * time.Second)
		err = s.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "f"}))
		require.ErrorContains(t, err, "4 are parked", "a caller behind a waiting one gets the reason too")
		_, err = q.queue.Drop(t.Context(), "a", "b", "c", "d")
		require.NoError(t, err)
		require.NoError(t, <-waits)
		s.Resume()
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		require.NoError(t, s.Health().Err)
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestFlushSaysThatTheQueueIsPaused(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		require.NoError(t, q.queue.Pause(context.Background(), "maintenance"))
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(1, 1)...))
		err := s.Flush(q.within(time.Hour), nil)
		require.ErrorIs(t, err, bufferedsender.ErrPaused)
		require.ErrorContains(t, err, "maintenance")
		require.NoError(t, q.queue.Resume(context.Background()))
		require.NoError(t, s.Flush(q.within(time.Hour), nil))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestFlushOfTheWholeQueueSendsWhatWasThereBefore(t *testing.T) {
	whole := &bufferedsender.FlushOptions{WholeQueue: true}
	withQueue(t, nil, func(q *queued) {
		before := q.sender(sendertest.Options{})
		before.Pause()
		require.NoError(t, before.UploadDocuments(q.within(time.Minute), hotels(20, 1)...))
		require.NoError(t, before.Close(q.within(time.Second)))
		require.EqualValues(t, 20, q.stats().Waiting)
		parked, err := q.queue.Park(context.Background(), "somebody", "k-1")
		require.NoError(t, err)
		require.Equal(t, 1, parked)
		dead := queue.Want{Keys: 1, Bytes: 1 << 20, For: time.Minute, Holder: queue.NewID(), Token: queue.NewID()}
		leases, err := q.queue.Reserve(q.within(time.Minute), dead)
		require.NoError(t, err)
		require.Len(t, leases, 1, "a process that was killed has it")

		s := q.sender(sendertest.Options{AutoFlushInterval: time.Hour})
		s.Pause()
		began := time.Now()
		require.ErrorIs(t, s.Flush(q.within(time.Hour), whole), bufferedsender.ErrPaused)
		assert.Zero(t, time.Since(began))
		s.Resume()
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, s.Flush(q.within(time.Hour), whole), &failed)
		assert.Equal(t, []int{0, 1}, []int{failed.Count, failed.Parked}, failed.Error())
		assert.Equal(t, int64(19), q.service.DocumentCount("hotels"), "also the record of the killed process")
		assert.Zero(t, q.stats().Waiting+q.stats().Leased)
		_, err = q.queue.Unpark(context.Background(), "k-1")
		require.NoError(t, err)
		require.NoError(t, s.Flush(q.within(time.Hour), whole))
		assert.Equal(t, int64(20), q.service.DocumentCount("hotels"))
		require.NoError(t, s.Close(q.within(time.Minute)))
		require.ErrorIs(t, s.Flush(q.within(time.Minute), whole), bufferedsender.ErrClosed)
		q.empty()
	})
}

func TestFlushOfTheWholeQueueWithoutAQueueIsFlush(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s, err := bufferedsender.New(sendertest.NewClient(q, q.service), &sendertest.Options{AutoFlushInterval: time.Hour, Logger: sendertest.NoLog})
		require.NoError(t, err)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(3, 1)...))
		require.NoError(t, s.Flush(q.within(time.Minute), &bufferedsender.FlushOptions{WholeQueue: true}))
		assert.Equal(t, int64(3), q.service.DocumentCount("hotels"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestFlushThatGivesUpSaysWhatItWaitedFor(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var silent atomic.Bool
		broken := errors.New("connection refused")
		f := &faulty{Queue: q.queue, settled: func(_ queue.Position, next func() (bool, error)) (bool, error) {
			if silent.Load() {
				return false, broken
			}
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f})
		s.Pause()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(3, 1)...))
		leases, err := q.queue.Reserve(q.within(time.Minute), queue.Want{Keys: 1, Bytes: 1 << 20, For: time.Hour, Holder: queue.NewID(), Token: queue.NewID()})
		require.NoError(t, err)
		require.Len(t, leases, 1, "another process has the key")
		s.Resume()
		err = s.Flush(q.within(20*time.Second), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "while 0 keys of the queue wait and 1 are leased, by this process or others, the oldest of them since 2000-01-01T00:00:00Z")
		silent.Store(true)
		err = s.Flush(q.within(20*time.Second), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, broken)
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestLoaderIsAskedForTheTruthWhenKeysAreSent(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var database sync.Mutex
		truth := map[string]int{"a": 1, "b": 2}
		fail := errors.New("the database is down")
		s := q.sender(sendertest.Options{Loader: func(_ context.Context, keys []string) (actions []sendertest.Action, err error) {
			database.Lock()
			defer database.Unlock()
			for _, key := range keys {
				if rooms, ok := truth[key]; ok {
					actions = append(actions, models.UploadAction(sendertest.Hotel{ID: key, Rooms: rooms}))
				}
			}
			return actions, fail
		}})
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "a", "b", "gone"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Zero(t, q.service.DocumentCount("hotels"), "an error releases all")
		database.Lock()
		truth["a"], fail = 7, nil
		database.Unlock()
		time.Sleep(2 * time.Minute) // a back-off lasts up to a minute, and then it must be sent
		synctest.Wait()
		assert.Equal(t, [...]int{7, 2, -1}, [...]int{q.rooms("a"), q.rooms("b"), q.rooms("gone")})
		time.Sleep(time.Hour)
		synctest.Wait()
		parked, err := q.queue.Inspect(context.Background(), queue.Inspection{States: queue.Parked})
		require.NoError(t, err)
		require.Len(t, parked, 1)
		assert.Equal(t, "gone", parked[0].Key)
		database.Lock()
		truth["gone"] = 3
		database.Unlock()
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "gone"))
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, 3, q.rooms("gone"))
		require.NoError(t, s.Close(q.within(time.Minute)))
		q.empty()
	})
}

func TestKeysThatTheLoaderDoesNotKnowAreDeletedIfWanted(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{DeleteMissing: true, Loader: func(context.Context, []string) ([]sendertest.Action, error) { return nil, nil }})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(2, 1)...))
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "k-1"))
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, [...]int{1, -1}, [...]int{q.rooms("k-0"), q.rooms("k-1")})
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestMetricsSayHowTheQueueIs(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		reader := sdkmetric.NewManualReader()
		s := q.sender(sendertest.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(3, 1)...))
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(2, 2)...))
		_, err := q.queue.Park(context.Background(), "why", "k-2")
		require.NoError(t, err)
		one, err := q.queue.Reserve(context.Background(), queue.Want{Token: queue.NewID(), Keys: 1, Bytes: 1000, For: time.Second})
		require.NoError(t, err)
		time.Sleep(2 * time.Second) // the lease expires
		_, err = q.queue.Extend(context.Background(), time.Second, one...)
		require.NoError(t, err)
		_, err = q.queue.Reserve(context.Background(), queue.Want{Token: queue.NewID(), Keys: 1, Bytes: 1000, For: time.Second})
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{
			"waiting": 1, "leased": 1, "parked": 1, "bytes": float64(q.stats().Bytes), "oldest_age": 2,
			"appended": 5, "folded": 2, "expired": 1, "stale": 1,
		}, queueMetrics(t, reader))
		s.Resume()
		require.NoError(t, s.Close(q.within(time.Minute)))
		assert.Empty(t, queueMetrics(t, reader), "a closed sender reports nothing")
	})
}

func queueMetrics(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &all))
	got := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			name, ok := strings.CutPrefix(m.Name, "azsearch.queue.")
			if !ok {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Gauge[int64]:
				got[name] = float64(d.DataPoints[0].Value)
			case metricdata.Gauge[float64]:
				got[name] = d.DataPoints[0].Value
			case metricdata.Sum[int64]:
				got[name] = float64(d.DataPoints[0].Value)
			}
		}
	}
	return got
}

func TestNewRefusesOptionsThatAQueueCannotKeep(t *testing.T) {
	q, err := memqueue.New(nil)
	require.NoError(t, err)
	none := func(context.Context, []string) {}
	for want, opts := range map[string]sendertest.Options{
		"RequestTimeout is off":   {RequestTimeout: -1},
		"DisableAutoFlush":        {DisableAutoFlush: true},
		"Folding.Version":         {Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(sendertest.Hotel) int64 { return 0 }}},
		"FailSoon":                {Outage: bufferedsender.FailSoon{}},
		"purges accepted actions": {Outage: bufferedsender.Hold{WhenFull: bufferedsender.PurgeOldest(none)}},
		"the bounds are those of": {Outage: bufferedsender.Hold{WhenFull: bufferedsender.Reject()}},
	} {
		opts.Queue = q
		_, err := bufferedsender.New(sendertest.NewClient(t, searchtest.NewServer(nil)), &opts)
		require.ErrorContains(t, err, want)
	}
	_, err = bufferedsender.New(sendertest.NewClient(t, searchtest.NewServer(nil)), &sendertest.Options{DeleteMissing: true})
	require.ErrorContains(t, err, "require a Queue")
}

// A change behind a parked one is not in the index, and its waiters must get that outcome.
func TestWhatWaitsBehindAParkedChangeIsNotSaidToBeApplied(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Keys: []string{"a"}, Ratio: 1, Times: 1, Status: 400}}}}})
		var tags []any
		s := q.sender(sendertest.Options{Handlers: sendertest.Handlers{
			ActionCompleted: func(_ context.Context, e *events.ActionCompleted[sendertest.Hotel]) {
				tags = append(tags, e.Action.Tag)
			},
		}})
		add := func(rooms int) {
			require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.MergeOrUploadAction(sendertest.Hotel{ID: "a", Rooms: rooms}).WithTag(rooms)))
		}
		add(1)
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, s.Flush(q.within(time.Minute), nil), &failed)
		assert.Equal(t, []int{1, 0}, []int{failed.Count, failed.Parked})
		require.NoError(t, s.Flush(q.within(time.Minute), nil), "the failure was reported")

		add(2)
		var outcome models.Outcome
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.MergeAction(sendertest.Hotel{ID: "a", Rooms: 3}).WithCallback(func(o models.Outcome) { outcome = o })))
		require.ErrorAs(t, s.Flush(q.within(time.Minute), nil), &failed)
		assert.Equal(t, []int{0, 1}, []int{failed.Count, failed.Parked})
		require.NoError(t, s.Flush(q.within(time.Minute), nil), "the failure was reported")
		_, err := s.IndexDocumentsAndWait(q.within(time.Minute), []models.IndexDocumentsAction[sendertest.Hotel]{models.MergeAction(sendertest.Hotel{ID: "a", Rooms: 4})}, nil)
		require.ErrorIs(t, err, bufferedsender.ErrParked)
		require.ErrorIs(t, outcome.Err, bufferedsender.ErrParked)
		assert.False(t, outcome.Unknown)

		n, err := q.queue.Drop(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		q.drained()
		assert.Equal(t, 4, q.rooms("a"))
		assert.Contains(t, tags, 2, "an action without waiter ends when it is released")
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "b"}))
		n, err = q.queue.Park(t.Context(), "somebody", "b")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		s.Resume()
		require.ErrorAs(t, s.Flush(q.within(time.Minute), nil), &failed, "keys that were parked before the call count too")
		assert.Equal(t, []int{0, 1}, []int{failed.Count, failed.Parked})
		_ = s.Close(q.within(time.Minute))
	})
}

// An unanswered request is recorded when its documents go back to the queue, and when its holder dies.
func TestWhatMayHaveBeenAppliedBeforeItWentBackIsUnknown(t *testing.T) {
	for name, before := range map[string]func(q *queued){
		"the breaker opened": func(q *queued) {
			q.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{
				{Operation: searchtest.OpIndexDocuments, Count: 3, Cut: searchtest.CutAfterCommit},
				{Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{{Keys: []string{"a"}, Ratio: 1, Status: 400}}},
			}})
		},
		"a holder died": func(q *queued) {
			adder := q.sender(sendertest.Options{})
			adder.Pause()
			require.NoError(q, adder.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "a"}))
			require.NoError(q, adder.Close(q.within(time.Second)))
			leases, err := q.queue.Reserve(q.within(time.Minute), queue.Want{Keys: 1, Bytes: 1 << 20, For: time.Second, Holder: queue.NewID(), Token: queue.NewID()})
			require.NoError(q, err)
			require.Len(q, leases, 1)
			q.service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{
				{Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{{Keys: []string{"a"}, Ratio: 1, Status: 400}}},
			}})
			time.Sleep(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				before(q)
				var failed []*events.ActionFailed[sendertest.Hotel]
				s := q.sender(sendertest.Options{Handlers: events.Handlers[sendertest.Hotel]{
					ActionFailed: func(_ context.Context, e *events.ActionFailed[sendertest.Hotel]) { failed = append(failed, e) },
				}})
				require.NoError(q, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "b"}))
				if name == "the breaker opened" {
					require.NoError(q, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "a"}))
				}
				time.Sleep(5 * time.Minute)
				_ = s.Close(q.within(time.Minute))
				require.Len(q, failed, 1)
				assert.Equal(q, "a", failed[0].Key)
				assert.True(q, failed[0].Unknown)
			})
		})
	}
}

// Before Flush or Close returns, outcomes of other processes are reported.
func TestWhatAnotherProcessHasSentIsToldBeforeFlushAndCloseReturn(t *testing.T) {
	for name, end := range map[string]func(q *queued, s *bufferedsender.BufferedSender[sendertest.Hotel]) error{
		"Flush": func(q *queued, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.Flush(q.within(time.Minute), nil)
		},
		"Close": func(q *queued, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.Close(q.within(time.Minute))
		},
	} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				mine, other := q.sender(sendertest.Options{}), q.sender(sendertest.Options{})
				mine.Pause()
				synctest.Wait()
				var got []models.Outcome
				for i := range 100 {
					require.NoError(t, mine.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: fmt.Sprint(i)}).WithCallback(func(o models.Outcome) { got = append(got, o) })))
				}
				for s := q.stats(); s.Waiting+s.Leased > 0; s = q.stats() {
					time.Sleep(time.Millisecond)
				}
				require.NoError(t, end(q, mine))
				require.Len(t, got, 100)
				require.ErrorIs(t, got[99].Err, bufferedsender.ErrElsewhere)
				_ = mine.Close(q.within(time.Minute))
				_ = other.Close(q.within(time.Minute))
			})
		})
	}
}
