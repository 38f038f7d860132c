package queue

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/memqueue"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// A later change replaces an accepted one in the queue, and its caller gives up.
func TestChangeIsNotLostBecauseTheCallerOfALaterOneGaveUp(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.down.Store(true)
		s := q.sender(sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "other"}))
		time.Sleep(time.Minute) // the breaker is open
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "x", Rooms: 1}), "accepted")
		_, err := s.IndexDocumentsAndWait(q.within(5*time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "x", Rooms: 2})}, nil)
		require.Error(t, err)
		q.down.Store(false)
		require.NoError(t, s.Flush(q.within(time.Hour), nil))
		assert.Contains(t, []int{1, 2}, q.rooms("x"), "the accepted upload or the one after it is in the index")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// A request in flight fails after the breaker has opened. Its actions go back to the queue and are sent again later.
func TestCallersHearOfWhatWentBackToTheQueueAndWasSentAgain(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.down.Store(true)
		var callbacks atomic.Int64
		s := q.sender(sendertest.Options{
			AutoFlushInterval: time.Second, Limits: bufferedsender.Limits{MaxInFlight: 4},
			Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)},
		})
		var wg sync.WaitGroup
		for i := range 40 {
			time.Sleep(50 * time.Millisecond) // so that requests overlap
			q.slow.Store(int64(time.Duration(i%7) * time.Second))
			wg.Go(func() {
				key := fmt.Sprint("k-", i)
				a := models.UploadAction(sendertest.Hotel{ID: key, Rooms: 1}).WithCallback(func(models.Outcome) { callbacks.Add(1) })
				_, err := s.IndexDocumentsAndWait(q.within(time.Hour), []sendertest.Action{a}, nil)
				assert.NoError(q, err, key)
				assert.Equal(q, 1, q.rooms(key), key)
			})
		}
		time.Sleep(2 * time.Minute)
		q.slow.Store(0)
		q.down.Store(false)
		wg.Wait()
		require.NoError(t, s.Close(q.within(time.Minute)))
		assert.Equal(t, int64(40), callbacks.Load())
		q.empty()
	})
}

func TestWaitingCallSaysWhatTheQueueMayHave(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{Queue: &slowQueue{Queue: q.queue, wait: time.Minute}})
		_, err := s.IndexDocumentsAndWait(q.within(time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "x", Rooms: 1})}, nil)
		var failed *bufferedsender.WaitError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, 1, failed.Unknown, "a request handler answers 504")
		assert.ErrorContains(t, err, "perhaps accepted")
		q.drained()
		time.Sleep(2 * time.Minute)
		assert.Equal(t, 1, q.rooms("x"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestCallbackHearsOfAnotherProcessAlsoWhileThisOneGoesOnAdding(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.slow.Store(int64(300 * time.Millisecond))
		mine, other := q.sender(sendertest.Options{}), q.sender(sendertest.Options{AutoFlushInterval: 200 * time.Millisecond})
		mine.Pause() // so that the other process sends them
		synctest.Wait()
		var first, all atomic.Int64
		add := func(i int, n *atomic.Int64) {
			require.NoError(t, mine.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("k-", i), Rooms: 1}).
				WithCallback(func(models.Outcome) { n.Add(1) })))
		}
		add(0, &first)
		for i := range 3000 { // five minutes
			add(i+1, &all)
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		assert.Equal(t, 1, q.rooms("k-0"))
		assert.Equal(t, int64(1), first.Load(), "the document was indexed five minutes ago")
		require.NoError(t, mine.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}

func TestHandlersAreNotToldOfWhatAnotherProcessHasSent(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var failed, completed atomic.Int64
		h := sendertest.Handlers{
			ActionFailed:    func(context.Context, *events.ActionFailed[sendertest.Hotel]) { failed.Add(1) },
			ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { completed.Add(1) },
		}
		mine, other := q.sender(sendertest.Options{Handlers: h}), q.sender(sendertest.Options{Handlers: h})
		mine.Pause()
		synctest.Wait()
		require.NoError(t, mine.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		q.drained()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, int64(100), completed.Load())
		assert.Zero(t, failed.Load(), "nothing has failed, everything is in the index")
		require.NoError(t, mine.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}

func TestCloseDoesNotWaitForALoaderThatDoesNotReturn(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		stuck := make(chan struct{})
		s := q.sender(sendertest.Options{Loader: func(context.Context, []string) ([]sendertest.Action, error) {
			<-stuck
			return nil, errors.New("too late")
		}})
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "a"))
		synctest.Wait()
		closed := sendertest.Later(func() error { return s.Close(q.within(time.Second)) })
		select {
		case err := <-closed:
			t.Log("Close has returned:", err)
			close(stuck)
		case <-time.After(time.Hour):
			t.Error("Close waits after an hour")
			close(stuck)
			t.Log(<-closed)
		}
	})
}

func TestLoaderThatEndsItsGoroutineStopsNeitherTheFeedNorClose(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var calls atomic.Int64
		s := q.sender(sendertest.Options{Loader: func(_ context.Context, keys []string) (all []sendertest.Action, err error) {
			if calls.Add(1) == 1 {
				runtime.Goexit() // like FailNow in a test
			}
			for _, key := range keys {
				all = append(all, models.UploadAction(sendertest.Hotel{ID: key, Rooms: 4}))
			}
			return all, nil
		}})
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "a"))
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "b", Rooms: 1}))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Equal(t, [...]int{4, 1}, [...]int{q.rooms("a"), q.rooms("b")})
		closed := sendertest.Later(func() error { return s.Close(q.within(time.Second)) })
		select {
		case err := <-closed:
			t.Log("Close has returned:", err)
		case <-time.After(time.Hour):
			t.Error("Close waits after an hour")
		}
	})
}

func TestCallThatIsLargerThanTheQueueMayBeIsAppendedPieceByPiece(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 100}, func(q *queued) {
		s := q.sender(sendertest.Options{})
		require.NoError(t, s.UploadDocuments(q.within(time.Hour), hotels(101, 1)...), "the queue is empty and the service works")
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, int64(101), q.service.DocumentCount("hotels"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// Reserve returns after sending was suspended.
func TestWhatIsReservedWhileSendingComesToBeHeldIsGivenBack(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		slow := &faulty{Queue: q.queue}
		var pause func()
		slow.reserve = func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			leases, err := next()
			if len(leases) > 0 && pause != nil {
				pause()
				pause = nil
				time.Sleep(100 * time.Millisecond) // the reply is on its way
			}
			return leases, err
		}
		s := q.sender(sendertest.Options{Queue: slow})
		pause = s.Pause
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(1000, 1)...))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Zero(t, q.stats().Leased, "other processes can send these keys")
		s.Resume()
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestAppendThatMayHaveBeenAppliedIsNeverSaidNotToBeKept(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		n := 0
		f := &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			if n++; n == 1 {
				_, _ = next(call) // applied, and the reply is lost
				return queue.Receipt{}, queue.ErrUnknown
			}
			return queue.Receipt{}, fmt.Errorf("%w: connection refused", queue.ErrFailed)
		}}
		s := q.sender(sendertest.Options{Queue: f})
		err := s.UploadDocuments(q.within(time.Minute), hotels(3, 1)...)
		var added *bufferedsender.AddError
		require.ErrorAs(t, err, &added)
		assert.Equal(t, int64(3), q.stats().Appended)
		assert.Equal(t, [...]int{0, 3}, [...]int{added.Accepted, added.Unknown}, "all documents are in the queue")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// The first call waits for room after its caller has left with Unknown. The next call of that caller must not
// overtake it.
func TestAddingCallIsNotOvertakenByALaterOneWhileTheQueueIsFull(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 1}, func(q *queued) {
		ctx := context.Background()
		full := queue.Call{Adder: queue.NewID(), Number: 1, Records: []queue.Record{{Key: "full", Op: models.ActionTypeUpload, Body: []byte(`{"@search.action":"upload","id":"full"}`)}}}
		_, err := q.queue.Append(ctx, full)
		require.NoError(t, err)
		began := time.Now()
		f := &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			time.Sleep(2 * time.Second)
			return next(call)
		}}
		s := q.sender(sendertest.Options{Queue: f})
		s.Pause()
		time.AfterFunc(7500*time.Millisecond-time.Since(began), func() { // makes room
			_, _ = q.queue.Park(ctx, "away", "full")
			_, _ = q.queue.Drop(ctx, "full")
		})
		err = s.UploadDocuments(q.within(time.Second), sendertest.Hotel{ID: "k", Rooms: 1})
		var added *bufferedsender.AddError
		require.ErrorAs(t, err, &added)
		require.Equal(t, 1, added.Unknown)
		require.NoError(t, s.UploadDocuments(q.within(time.Hour), sendertest.Hotel{ID: "k", Rooms: 2}), "the upload of the newer value is accepted")
		_, _ = added.Continue(q.within(time.Hour))
		time.Sleep(time.Minute)
		s.Resume()
		require.NoError(t, s.Flush(q.within(time.Hour), nil))
		assert.Equal(t, 2, q.rooms("k"), "the index has the last value")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestHandlerThatEndsItsGoroutineKeepsNoOtherCallbackFromBeingCalled(t *testing.T) {
	for name, elsewhere := range map[string]bool{"sent by another process": true, "replaced in the queue": false} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				mine := q.sender(sendertest.Options{})
				mine.Pause()
				synctest.Wait()
				var called atomic.Int64
				for i := range 10 {
					key := "hot"
					if elsewhere {
						key = fmt.Sprint("k-", i)
					}
					require.NoError(t, mine.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: key, Rooms: i}).WithCallback(func(models.Outcome) {
						if called.Add(1) == 2 {
							runtime.Goexit()
						}
					})))
				}
				if elsewhere {
					other := q.sender(sendertest.Options{})
					q.drained()
					require.NoError(t, other.Close(q.within(time.Minute)))
				} else {
					mine.Resume()
				}
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				assert.Equal(t, int64(10), called.Load(), "each callback ran once")
				assert.Zero(t, q.stats().Leased, "the lease is settled")
				mine.Resume()
				require.NoError(t, mine.Close(q.within(time.Minute)))
			})
		})
	}
}

func TestLostAnswerOfAReservationDelaysNothing(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		lose := 2
		f := &faulty{Queue: q.queue}
		f.reserve = func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			leases, err := next()
			if len(leases) > 0 && lose > 0 {
				lose--
				return nil, errors.New("i/o timeout")
			}
			return leases, err
		}
		s := q.sender(sendertest.Options{Queue: f})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		assert.Equal(t, int64(100), q.service.DocumentCount("hotels"), "the call can be repeated with its token")
		time.Sleep(time.Hour)
		assert.Zero(t, q.stats().Expired, "no lease has expired")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestPausedQueueWithSuspectsCostsNothing(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		ctx := context.Background()
		_, err := q.queue.Append(ctx, queue.Call{Adder: queue.NewID(), Number: 1, Records: []queue.Record{{Key: "a", Op: models.ActionTypeUpload, Body: []byte(`{"@search.action":"upload","id":"a"}`)}}})
		require.NoError(t, err)
		for i := 1; i < queue.MaxDeaths; i++ {
			leases, err := q.queue.Reserve(ctx, queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Keys: 1, Bytes: 1000, For: time.Second})
			require.NoError(t, err)
			require.Len(t, leases, 1)
			leases[0].Requested = true
			_, err = q.queue.Extend(ctx, time.Second, leases...)
			require.NoError(t, err)
			time.Sleep(2 * time.Second)
		}
		require.NoError(t, q.queue.Pause(ctx, "maintenance"))
		calls := 0
		f := &faulty{Queue: q.queue}
		f.reserve = func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			if calls++; calls == 10_000 {
				time.Sleep(24 * time.Hour) // otherwise the test would not end
			}
			return next()
		}
		s := q.sender(sendertest.Options{Queue: f})
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Less(t, calls, 1000, "calls of Reserve in an hour in which nothing can be reserved")
		require.NoError(t, q.queue.Resume(ctx))
		_ = s.Close(q.within(time.Minute))
	})
}

func TestSlowLoaderCostsNoLeaseOfWhatIsSent(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.slow.Store(int64(time.Second))
		s := q.sender(sendertest.Options{Loader: func(_ context.Context, keys []string) (all []sendertest.Action, err error) {
			time.Sleep(10 * time.Minute)
			for _, key := range keys {
				all = append(all, models.UploadAction(sendertest.Hotel{ID: key, Rooms: 4}))
			}
			return all, nil
		}})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 1)...))
		synctest.Wait()
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "slow"))
		time.Sleep(5 * time.Minute)
		other := q.sender(sendertest.Options{})
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		assert.Zero(t, q.stats().Expired, "the lease has not expired")
		assert.Zero(t, s.Stats().Stale)
		assert.Len(t, q.service.History("hotels", "k-0"), 1, "the key was sent and reported once")
		require.NoError(t, s.Close(q.within(time.Hour)))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}

// Two changes of one key. Another process has the first one refused.
func TestChangeThatWasRefusedElsewhereIsNotToldAsCompleted(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		letters := sinkFunc(noLetters)
		mine, other := q.sender(sendertest.Options{DeadLetters: letters}), q.sender(sendertest.Options{DeadLetters: letters, AutoFlushInterval: 20 * time.Millisecond})
		mine.Pause()
		synctest.Wait()
		first := sendertest.Later(func() error {
			_, err := mine.IndexDocumentsAndWait(q.within(time.Hour), []sendertest.Action{models.MergeAction(sendertest.Hotel{ID: "x", Rooms: 3})}, nil)
			return err
		})
		for range 40 {
			time.Sleep(10 * time.Millisecond)
			if s := q.stats(); s.Appended == 1 && s.Waiting+s.Leased == 0 {
				break
			}
		}
		require.Zero(t, q.stats().Waiting+q.stats().Leased, "the other sender has the key in its dead letters: 404")
		other.Pause()
		mine.Resume()
		synctest.Wait()
		require.NoError(t, mine.IndexDocuments(q.within(time.Minute), models.MergeOrUploadAction(sendertest.Hotel{ID: "x", Rooms: 4})))
		require.Error(t, <-first, "the merge was refused with 404")
		other.Resume()
		require.NoError(t, mine.Close(q.within(time.Minute)))
		_ = other.Close(q.within(time.Minute))
	})
}

func TestCallbacksOfWhatCloseLeavesInTheQueueAreCalled(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		var called atomic.Int64
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "x"}).WithCallback(func(models.Outcome) { called.Add(1) })))
		_ = s.Close(q.within(time.Second))
		assert.Equal(t, int64(1), called.Load(), "the callback ran once for each accepted action")
	})
}

// The queue has not answered about the second one, so the sender does not know whether it keeps that.
func TestACallbackDoesNotSayThatTheQueueKeepsWhatItHasNotAnsweredAbout(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var silent atomic.Bool
		f := &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			if silent.Load() {
				return queue.Receipt{}, queue.ErrUnknown
			}
			return next(call)
		}}
		s := q.sender(sendertest.Options{Queue: f})
		s.Pause()
		said := make(map[string]string)
		add := func(ctx context.Context, key string) error {
			return s.IndexDocuments(ctx, models.UploadAction(sendertest.Hotel{ID: key}).WithCallback(func(o models.Outcome) {
				assert.ErrorIs(t, o.Err, bufferedsender.ErrClosed)
				assert.True(t, o.Unknown)
				said[o.Key] = o.Err.Error()
			}))
		}
		require.NoError(t, add(q.within(time.Minute), "kept"))
		silent.Store(true)
		var added *bufferedsender.AddError
		require.ErrorAs(t, add(q.within(time.Second), "perhaps"), &added)
		assert.Equal(t, 1, added.Unknown)
		_ = s.Close(q.within(time.Second))
		assert.Contains(t, said["kept"], "the queue keeps it")
		assert.Contains(t, said["perhaps"], "the queue has not confirmed it")
	})
}

func TestLoaderThatFailsIsNotCalledInALoop(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var calls atomic.Int64
		s := q.sender(sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 1}, Loader: func(context.Context, []string) ([]sendertest.Action, error) {
			calls.Add(1)
			return nil, errors.New("the database is down")
		}})
		var keys []string
		for i := range 2000 {
			keys = append(keys, fmt.Sprint("k-", i))
		}
		require.NoError(t, s.IndexKeys(q.within(time.Minute), keys...))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Less(t, calls.Load(), int64(200), "calls of a Loader that fails, in a minute")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestDocumentOfTheLoaderThatCannotBeEncodedIsSetAside(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var calls atomic.Int64
		s := q.sender(sendertest.Options{Loader: func(_ context.Context, keys []string) (all []sendertest.Action, err error) {
			calls.Add(1)
			for _, key := range keys {
				a := models.UploadAction(sendertest.Hotel{ID: key, Rooms: 4})
				if key == "bad" {
					a.Type = "nonsense" // or a NaN, or a failing Encoder
				}
				all = append(all, a)
			}
			return all, nil
		}})
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "bad"))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		assert.Less(t, calls.Load(), int64(1000), "calls of the Loader for one bad key in a day")
		assert.Equal(t, int64(1), q.stats().Parked, "the parked key waits for an operator")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// A caller of IndexDocumentsAndWait leaves at the moment when sending is suspended.
func TestSenderGivesBackWhatItHoldsAlsoWhenACallerLeavesAtThatMoment(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.slow.Store(int64(time.Second))
		var s *bufferedsender.BufferedSender[sendertest.Hotel]
		gone, cancel := context.WithCancel(context.Background())
		defer cancel()
		var once sync.Once
		s = q.sender(sendertest.Options{
			Limits: bufferedsender.Limits{MaxInFlight: 1},
			Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {
				once.Do(func() {
					cancel()
					time.Sleep(time.Second) // meanwhile the caller leaves
					s.Pause()
				})
			}},
		})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "a"}))
		time.Sleep(100 * time.Millisecond)
		flushed := sendertest.Later(func() error { return s.Flush(q.within(time.Hour), nil) })
		synctest.Wait()
		require.Equal(t, int64(1), q.requests.Load())
		done := sendertest.Later(func() error {
			_, err := s.IndexDocumentsAndWait(gone, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "w"})}, nil)
			return err
		})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(50, 1)...))
		synctest.Wait()
		require.Error(t, <-done)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Equal(t, int64(1), q.requests.Load())
		assert.Zero(t, q.stats().Leased, "a paused sender returns its records")
		s.Resume()
		require.NoError(t, <-flushed)
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestCallerIsNotToldThatNothingWasAppliedWhenAnotherProcessHasTheKey(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var busy atomic.Bool
		busy.Store(true)
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if busy.Load() && req.Method == http.MethodPost {
				return sendertest.Reply(req, http.StatusTooManyRequests, sendertest.ErrorBody("busy")), nil
			}
			return next(req)
		})
		s := q.sender(sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		ctx, cancel := context.WithCancel(context.Background())
		waits := sendertest.Later(func() error {
			_, err := s.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "x", Rooms: 3})}, nil)
			return err
		})
		time.Sleep(3 * time.Second)
		s.Pause() // its reserved keys go back
		time.Sleep(time.Second)
		busy.Store(false)
		other := q.sender(sendertest.Options{AutoFlushInterval: 10 * time.Millisecond})
		for q.rooms("x") != 3 {
			time.Sleep(time.Millisecond)
		}
		cancel() // before any request here has asked
		err := <-waits
		assert.Zero(t, sendertest.WaitError(t, err).Withdrawn, "the document is in the index, but was reported as certainly not applied: %v", err)
		s.Resume()
		require.NoError(t, s.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}

// Several callers wait for room at once.
func TestEachCallerThatWaitsForRoomInVainIsToldThatTheQueueIsFull(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 100}, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		var all []<-chan error
		for i := range 20 {
			all = append(all, sendertest.Later(func() error {
				return s.UploadDocuments(q.within(10*time.Second+time.Duration(i)*time.Millisecond+333*time.Microsecond), sendertest.Hotel{ID: fmt.Sprint("more-", i)}) // at no moment at which the queue is asked
			}))
		}
		unknown := 0
		for _, c := range all {
			var added *bufferedsender.AddError
			err := <-c
			require.ErrorAs(t, err, &added)
			if unknown += added.Unknown; added.Unknown == 0 {
				assert.ErrorIs(t, err, bufferedsender.ErrQueueFull)
			}
		}
		assert.Zero(t, unknown, "the queue has refused them, which is known")
		s.Resume()
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// Merges do not replace each other, and the queue returns only the first ones of a long list.
func TestKeyThatIsMergedAllTheTimeDoesNotGrow(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.adder(sendertest.Options{})
		for n := range 30 {
			var actions []sendertest.Action
			for i := range 1000 {
				actions = append(actions, models.MergeOrUploadAction(sendertest.Hotel{ID: fmt.Sprint("hot-", i%3), Rooms: 1 + n*1000 + i}))
			}
			require.NoError(t, s.IndexDocuments(q.within(time.Minute), actions...))
		}
		assert.Equal(t, int64(30_000), s.Stats().Appended)
		all, err := q.queue.Inspect(context.Background(), queue.Inspection{})
		require.NoError(t, err)
		require.Len(t, all, 3)
		for i := range all {
			assert.Less(t, len(all[i].Waiting), 2*queue.PileLimit, "records of a key that has changed ten thousand times")
		}
		sends := q.sender(sendertest.Options{})
		q.drained()
		assert.Equal(t, [...]int{30_000, 29_998, 29_999}, [...]int{q.rooms("hot-0"), q.rooms("hot-1"), q.rooms("hot-2")})
		require.NoError(t, sends.Close(q.within(time.Minute)))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// The caller has left with Unknown while its call was running.
func TestCallWhoseCallerHasLeftDoesNotWaitForRoom(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 100}, func(q *queued) {
		s := q.sender(sendertest.Options{Queue: &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			time.Sleep(2 * time.Second)
			return next(call)
		}}})
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		err := s.UploadDocuments(q.within(time.Second), sendertest.Hotel{ID: "late", Rooms: 1})
		var added *bufferedsender.AddError
		require.ErrorAs(t, err, &added)
		require.Equal(t, 1, added.Unknown)
		time.Sleep(time.Minute) // the queue has refused it
		began := time.Now()
		n, err := added.Continue(q.within(time.Hour))
		require.ErrorIs(t, err, bufferedsender.ErrQueueFull)
		assert.Zero(t, n)
		assert.Less(t, time.Since(began), time.Second, "the answer was there")
		s.Resume()
		require.NoError(t, s.Flush(q.within(time.Hour), nil))
		assert.Equal(t, -1, q.rooms("late"), "no document is added after its call has returned")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// The caller of the first call has left, and the next call reuses its memory before the queue has copied it.
func TestCallWhoseCallerHasLeftKeepsItsDocuments(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{Queue: &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			time.Sleep(2 * time.Second)
			return next(call)
		}}})
		for i := range 20 { // under the race detector the pool drops some memory
			err := s.UploadDocuments(q.within(time.Second), sendertest.Hotel{ID: fmt.Sprint("first-", i), Rooms: 1000 + i})
			var added *bufferedsender.AddError
			require.ErrorAs(t, err, &added)
			require.Equal(t, 1, added.Unknown)
			require.NoError(t, s.UploadDocuments(q.within(time.Hour), sendertest.Hotel{ID: fmt.Sprint("other-", i), Rooms: 2000 + i}))
		}
		require.NoError(t, s.Flush(q.within(time.Hour), nil))
		for i := range 20 {
			assert.Equal(t, [...]int{1000 + i, 2000 + i}, [...]int{q.rooms(fmt.Sprint("first-", i)), q.rooms(fmt.Sprint("other-", i))})
		}
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestTryIndexDocumentsDoesNotWaitBehindThoseWhoWaitForRoom(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 100}, func(q *queued) {
		f := &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			time.Sleep(100 * time.Millisecond)
			return next(call)
		}}
		s := q.sender(sendertest.Options{Queue: f})
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		ctx, cancel := context.WithCancel(context.Background())
		first := sendertest.Later(func() error { return s.UploadDocuments(ctx, sendertest.Hotel{ID: "k-0"}) }) // fits
		time.Sleep(10 * time.Millisecond)                                                                      // in flight: the next ones gather
		var all []<-chan error
		for i := range 20 {
			all = append(all, sendertest.Later(func() error { return s.UploadDocuments(ctx, sendertest.Hotel{ID: fmt.Sprint("more-", i)}) }))
		}
		time.Sleep(10 * time.Millisecond)
		began := time.Now()
		err := s.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "try"}))
		require.ErrorIs(t, err, bufferedsender.ErrQueueFull)
		assert.Less(t, time.Since(began), 5*time.Second)
		cancel()
		for _, c := range append(all, first) {
			t.Log(<-c)
		}
		s.Resume()
		_ = s.Close(q.within(time.Minute))
	})
}

func TestChangeThatWasCompletedIsNotParkedBehindOneThatWasRefused(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		synctest.Wait()
		var second atomic.Int64
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.MergeAction(sendertest.Hotel{ID: "x", Rooms: 1}))) // 404
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.MergeOrUploadAction(sendertest.Hotel{ID: "x", Rooms: 2}).WithCallback(func(o models.Outcome) {
			if o.Completed() {
				second.Add(1)
			}
		})))
		s.Resume()
		_ = s.Flush(q.within(time.Minute), nil)
		entries, err := q.queue.Inspect(context.Background(), queue.Inspection{States: queue.Parked})
		require.NoError(t, err)
		require.Len(t, entries, 1)
		assert.Equal(t, int(1+1-second.Load()), len(entries[0].Parked), "an action reported as completed is not parked")
		_ = s.Close(q.within(time.Minute))
	})
}

func TestFlushReportsWhatOthersHaveParkedBesideWhatThisProcessHas(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		synctest.Wait()
		for range 2 { // one key, two records
			require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.MergeAction(sendertest.Hotel{ID: "x", Rooms: 1})))
		}
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "y"}))
		flushed := sendertest.Later(func() error { return s.Flush(q.within(time.Hour), nil) })
		synctest.Wait()
		n, err := q.queue.Park(context.Background(), "somebody", "y")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		s.Resume()
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, <-flushed, &failed)
		assert.Equal(t, []int{1, 2}, []int{failed.Count, failed.Parked}, "the first record of x is refused, the second waits behind it, and y is parked")
		_ = s.Close(q.within(time.Minute))
	})
}

func noLetters(_ []deadletter.Letter) error { return nil }

// Each action that waits in a queue during an outage has an outcome with its tag, also if the document is not kept.
func TestEachActionThatWaitsInAQueueHasItsEnd(t *testing.T) {
	for _, keys := range []int{10, 500} {
		withQueue(t, nil, func(q *queued) {
			const n = 500
			ends, blank := map[any]int{}, 0
			opts := sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 100}, Handlers: sendertest.Handlers{
				ActionCompleted: func(_ context.Context, e *events.ActionCompleted[sendertest.Hotel]) {
					ends[e.Action.Tag]++
					if e.Action.Document.ID == "" {
						blank++
					}
				},
			}}
			s := q.sender(opts)
			s.Pause()
			synctest.Wait()
			for i := range n {
				require.NoError(q, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: fmt.Sprint(i % keys)}).WithTag(i)))
			}
			s.Resume()
			require.NoError(q, s.Flush(q.within(time.Minute), nil))
			assert.Len(q, ends, n)
			for tag, times := range ends {
				assert.Equal(q, 1, times, tag)
			}
			assert.Equal(q, n-100, blank)
			require.NoError(q, s.Close(q.within(time.Minute)))
		})
	}
}

// laggingQueue takes wait for each call that settles records.
type laggingQueue struct {
	*memqueue.Queue
	wait atomic.Int64
}

func (l *laggingQueue) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	time.Sleep(time.Duration(l.wait.Load()))
	return l.Queue.Settle(ctx, ends...)
}

func (l *laggingQueue) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	time.Sleep(time.Duration(l.wait.Load()))
	return l.Queue.Exchange(ctx, want, ends...)
}

// A context without a deadline gives the queue as long as leases last, and its end is still obeyed.
func TestCloseWithoutADeadlineWaitsForASlowQueue(t *testing.T) {
	for name, c := range map[string]struct{ wait, ends, atMost time.Duration }{
		"a queue that takes two seconds":      {2 * time.Second, time.Hour, 10 * time.Second},
		"a context that ends":                 {time.Hour, 3 * time.Second, 7 * time.Second},
		"a queue that does not answer at all": {time.Hour, 2 * time.Hour, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				lagging := &laggingQueue{Queue: q.queue}
				s := q.sender(sendertest.Options{Queue: lagging})
				q.slow.Store(int64(time.Second))
				require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 1)...))
				time.Sleep(500 * time.Millisecond)
				lagging.wait.Store(int64(c.wait))
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				defer time.AfterFunc(c.ends, cancel).Stop()
				began := time.Now()
				_ = s.Close(ctx)
				assert.Less(t, time.Since(began), c.atMost)
				if c.wait < time.Minute {
					q.empty()
				}
				time.Sleep(3 * time.Hour) // the calls end
			})
		})
	}
}

// slowInspection takes a millisecond for each key.
type slowInspection struct{ *memqueue.Queue }

func (q slowInspection) Inspect(ctx context.Context, what queue.Inspection) ([]queue.Entry, error) {
	select {
	case <-time.After(time.Duration(len(what.Keys)) * time.Millisecond):
		return q.Queue.Inspect(ctx, what)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestCallersAreToldWhatOthersHaveSentHoweverSlowlyTheQueueIsInspected(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		const n = 12000
		mine, other := q.sender(sendertest.Options{Queue: slowInspection{q.queue}}), q.sender(sendertest.Options{})
		mine.Pause()
		synctest.Wait()
		var told atomic.Int64
		for i := range n {
			a := models.UploadAction(sendertest.Hotel{ID: fmt.Sprint(i)}).WithCallback(func(models.Outcome) { told.Add(1) })
			require.NoError(t, mine.IndexDocuments(q.within(time.Minute), a))
		}
		q.drained()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.EqualValues(t, n, told.Load())
		mine.Resume()
		require.NoError(t, mine.Close(q.within(time.Minute)))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}
