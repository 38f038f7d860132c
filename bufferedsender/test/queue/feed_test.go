package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
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
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// faulty is a queue whose replies a test can change.
type faulty struct {
	*memqueue.Queue
	reserve func(next func() ([]queue.Lease, error)) ([]queue.Lease, error)
	append  func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error)
	settle  func(ends []queue.End, next func() ([]queue.Lease, []queue.Lease, error)) ([]queue.Lease, []queue.Lease, error)
	settled func(at queue.Position, next func() (bool, error)) (bool, error)
	extend  func(leases []queue.Lease, next func() ([]queue.Lease, error)) ([]queue.Lease, error)
	watch   func(wake func()) (stop func())
	stats   func(next func() (queue.Stats, error)) (queue.Stats, error)
	fault   error
}

func (q *faulty) Stats(ctx context.Context) (queue.Stats, error) {
	next := func() (queue.Stats, error) { return q.Queue.Stats(ctx) }
	if q.stats == nil {
		return next()
	}
	return q.stats(next)
}

func (q *faulty) Fault() error { return q.fault }

func (q *faulty) Append(ctx context.Context, call queue.Call) (queue.Receipt, error) {
	next := func(c queue.Call) (queue.Receipt, error) { return q.Queue.Append(ctx, c) }
	if q.append == nil {
		return next(call)
	}
	return q.append(call, next)
}

func (q *faulty) Reserve(ctx context.Context, want queue.Want) ([]queue.Lease, error) {
	next := func() ([]queue.Lease, error) { return q.Queue.Reserve(ctx, want) }
	if q.reserve == nil {
		return next()
	}
	return q.reserve(next)
}

func (q *faulty) Extend(ctx context.Context, d time.Duration, leases ...queue.Lease) ([]queue.Lease, error) {
	next := func() ([]queue.Lease, error) { return q.Queue.Extend(ctx, d, leases...) }
	if q.extend == nil {
		return next()
	}
	return q.extend(leases, next)
}

func (q *faulty) Settle(ctx context.Context, ends ...queue.End) (stale, failed []queue.Lease, err error) {
	next := func() ([]queue.Lease, []queue.Lease, error) { return q.Queue.Settle(ctx, ends...) }
	if q.settle == nil {
		return next()
	}
	return q.settle(ends, next)
}

func (q *faulty) Exchange(ctx context.Context, want queue.Want, ends ...queue.End) (leases, stale, failed []queue.Lease, err error) {
	if stale, failed, err = q.Settle(ctx, ends...); err != nil {
		return nil, stale, failed, err
	}
	leases, err = q.Reserve(ctx, want)
	return leases, stale, nil, err
}

func (q *faulty) Settled(ctx context.Context, at queue.Position) (bool, error) {
	next := func() (bool, error) { return q.Queue.Settled(ctx, at) }
	if q.settled == nil {
		return next()
	}
	return q.settled(at, next)
}

func (q *faulty) Watch(wake func()) (stop func()) {
	if q.watch == nil {
		return q.Queue.Watch(wake)
	}
	return q.watch(wake)
}

func TestHealthHasWhatIsWrongWithTheQueue(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		f := &faulty{Queue: q.queue}
		s := q.sender(sendertest.Options{Queue: f})
		require.NoError(t, s.Health().Err)
		f.fault = errors.New("a segment is kept")
		h := s.Health()
		assert.Equal(t, events.HealthStateHealthy, h.State, "the sender sends")
		require.ErrorIs(t, h.Err, f.fault)
		assert.Equal(t, f.fault.Error(), h.Reason)
		s.Pause()
		require.ErrorIs(t, s.Health().Err, bufferedsender.ErrPaused, "the reason for not sending comes first")
		s.Resume()
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// Close releases what it does not send and returns nil, because nothing is lost. Flush promises more, so it must
// return an error.
func TestFlushReturnsNoNilForWhatCloseLeavesInTheQueue(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.down.Store(true)
		s := q.sender(sendertest.Options{})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(2, 1)...))
		flushed := sendertest.Later(func() error { return s.Flush(q.within(time.Hour), nil) })
		time.Sleep(30 * time.Second)
		require.NoError(t, s.Close(q.within(time.Second)))
		assert.ErrorIs(t, <-flushed, bufferedsender.ErrClosed)
		assert.ErrorIs(t, s.Flush(q.within(time.Minute), nil), bufferedsender.ErrClosed)
		q.down.Store(false)
		other := q.sender(sendertest.Options{})
		q.drained()
		require.NoError(t, other.Close(q.within(time.Minute)))
		require.NoError(t, other.Flush(q.within(time.Minute), nil), "the other sender has added nothing")
		assert.Equal(t, int64(2), q.service.DocumentCount("hotels"))
	})
}

// The server is reachable and never replies, also after the context has ended.
func TestCloseLeavesBehindAQueueThatDoesNotAnswer(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var silent atomic.Bool
		over := make(chan struct{})
		hang := func() {
			if silent.Load() {
				<-over
			}
		}
		f := &faulty{Queue: q.queue, reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) { hang(); return next() },
			settled: func(_ queue.Position, next func() (bool, error)) (bool, error) { hang(); return next() },
			watch:   func(wake func()) func() { stop := q.queue.Watch(wake); return func() { hang(); stop() } },
		}
		s := q.sender(sendertest.Options{Queue: f})
		silent.Store(true)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(2, 1)...))
		time.Sleep(time.Second)
		began := time.Now()
		_ = s.Close(q.within(time.Second))
		took := time.Since(began)
		close(over)
		assert.LessOrEqual(t, took, 5*time.Second)
		synctest.Wait()
	})
}

func TestHealthSaysThatTheQueueDoesNotAnswer(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var silent atomic.Bool
		refused := errors.New("connection refused")
		f := &faulty{Queue: q.queue, reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			if silent.Load() {
				return nil, refused
			}
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f})
		silent.Store(true)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "x"}))
		time.Sleep(10 * time.Minute)
		require.ErrorIs(t, s.Health().Err, refused)
		assert.Contains(t, s.Health().Reason, "the queue has not answered since 2000-01-01T00:00:00Z", "the time is that of the first failure")
		silent.Store(false)
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.NoError(t, s.Health().Err)
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// A queue that waits for its server does not reply. Only a cut check of the server has a reason.
func TestWhyAQueueDoesNotAnswerIsSaidToWhoWaitsForItAndInTheLog(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		refused := errors.New("READONLY You can't write against a read only replica")
		silent, over := atomic.Bool{}, make(chan struct{})
		wait := func() {
			if silent.Load() {
				<-over
			}
		}
		logged := new(sendertest.Buffer)
		s := q.sender(sendertest.Options{Logger: slog.New(slog.NewTextHandler(logged, nil)), Queue: &faulty{
			Queue: q.queue,
			append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
				wait()
				return next(call)
			},
			reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) { wait(); return next() },
			stats: func(next func() (queue.Stats, error)) (queue.Stats, error) {
				if silent.Load() {
					return queue.Stats{}, refused
				}
				return next()
			},
		}})
		silent.Store(true)
		err := s.UploadDocuments(q.within(8*time.Second), sendertest.Hotel{ID: "x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, refused)
		synctest.Wait()
		assert.NotContains(t, logged.String(), "queue does not answer", "a failover is not reported")
		time.Sleep(time.Minute)
		require.ErrorIs(t, s.Health().Err, refused)
		synctest.Wait()
		assert.Contains(t, logged.String(), "azsearch: queue does not answer")
		silent.Store(false)
		close(over)
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// Each error has another text, as those of connections have.
func TestAQueueThatIsLostForLongFillsNoLog(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		lost, n := atomic.Bool{}, atomic.Int64{}
		gone := func() error {
			if !lost.Load() {
				return nil
			}
			return fmt.Errorf("dial tcp 10.0.0.1:%d: connection refused", n.Add(1))
		}
		logged := new(sendertest.Buffer)
		s := q.sender(sendertest.Options{Logger: slog.New(slog.NewTextHandler(logged, nil)), Queue: &faulty{
			Queue: q.queue,
			reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
				if err := gone(); err != nil {
					return nil, err
				}
				return next()
			},
			settle: func(_ []queue.End, next func() ([]queue.Lease, []queue.Lease, error)) ([]queue.Lease, []queue.Lease, error) {
				if err := gone(); err != nil {
					return nil, nil, err
				}
				return next()
			},
			extend: func(_ []queue.Lease, next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
				if err := gone(); err != nil {
					return nil, err
				}
				return next()
			},
		}})
		q.slow.Store(int64(5 * time.Second))
		require.NoError(t, s.UploadDocuments(q.Context(), sendertest.Hotel{ID: "x"}))
		time.Sleep(time.Second)
		lost.Store(true)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		lines := strings.Count(logged.String(), "level=WARN")
		assert.GreaterOrEqual(t, lines, 10, "the condition is logged for as long as it lasts")
		assert.LessOrEqual(t, lines, 25)
		assert.Contains(t, logged.String(), "lines_left_out=")
		lost.Store(false)
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// The index lacks a property that all documents have.
func TestDocumentsThatTheIndexLacksAPropertyForAreHeldAndNotReservedInALoop(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		calls := 0
		f := &faulty{Queue: q.queue, reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			if calls++; calls == 1000 {
				time.Sleep(24 * time.Hour) // otherwise the test would not end
			}
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		var raw []models.RawAction
		for i := range testkit.Cases(1000, 3000, 3000) {
			raw = append(raw, models.RawAction{Key: fmt.Sprint("k-", i), Type: models.ActionTypeUpload, Document: fmt.Appendf(nil, `{"id":"k-%d","nosuch":1}`, i)})
		}
		require.NoError(t, s.Raw().Add(q.within(time.Minute), raw...))
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		t.Logf("reserve calls %d, requests %d, %+v; health %v; apart %d failed %d", calls, q.requests.Load(), q.stats(), s.Health(), s.Stats().HeldApart, s.Stats().Failed)
		assert.Less(t, calls, 1000, "calls of Reserve in half an hour")
		assert.LessOrEqual(t, q.stats().Parked, int64(40), "the index is the cause, not the documents")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = s.Close(ctx)
	})
}

func TestIndexKeysCountsWhatComesBeforeABadKey(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{Loader: func(_ context.Context, keys []string) (all []sendertest.Action, err error) {
			for _, key := range keys {
				all = append(all, models.UploadAction(sendertest.Hotel{ID: key, Rooms: 4}))
			}
			return all, nil
		}})
		err := s.IndexKeys(q.within(time.Minute), "good", "bad key!", "after")
		var added *bufferedsender.AddError
		require.ErrorAs(t, err, &added)
		assert.True(t, added.Rejected())
		assert.Equal(t, "bad key!", added.Key)
		assert.Equal(t, 1, added.Accepted, "Key is the key at position Accepted")
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		assert.Equal(t, 4, q.rooms("good"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestParkedPileSaysWhyItWasRefused(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		synctest.Wait()
		for range 2 {
			require.NoError(t, s.MergeDocuments(q.within(time.Minute), sendertest.Hotel{ID: "x", Rooms: 1})) // 404
		}
		s.Resume()
		_ = s.Flush(q.within(time.Minute), nil)
		entries, err := q.queue.Inspect(context.Background(), queue.Inspection{States: queue.Parked})
		require.NoError(t, err)
		require.Len(t, entries, 1)
		assert.Contains(t, entries[0].Reason, "404")
		_ = s.Close(q.within(time.Minute))
	})
}

// The document was refused with 429 and waits for its retry when the caller leaves.
func TestCallerWhoLeavesDuringABackOffIsNotToldThatItsChangeIsWithdrawn(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var busy atomic.Bool
		busy.Store(true)
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if busy.Load() && req.Method == http.MethodPost {
				return sendertest.Reply(req, http.StatusTooManyRequests, sendertest.ErrorBody("busy")), nil
			}
			return next(req)
		})
		s := q.sender(sendertest.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		waits := sendertest.Later(func() error {
			_, err := s.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "x", Rooms: 3})}, nil)
			return err
		})
		time.Sleep(1500 * time.Millisecond)
		cancel()
		err := <-waits
		busy.Store(false)
		time.Sleep(10 * time.Minute)
		if q.rooms("x") == 3 {
			assert.Zero(t, sendertest.WaitError(t, err).Withdrawn, "the document was applied, but reported as certainly not applied: %v", err)
		}
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestCloseLeavesBehindACallbackThatDoesNotReturn(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		stuck := make(chan struct{})
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "x"}).WithCallback(func(models.Outcome) { <-stuck })))
		closed := sendertest.Later(func() error { return s.Close(q.within(time.Second)) })
		select {
		case err := <-closed:
			assert.NoError(t, err, "the queue keeps unsent records")
		case <-time.After(time.Hour):
			t.Error("Close waits after an hour")
		}
		close(stuck)
		synctest.Wait()
	})
}

func TestCallbackThatEndsItsGoroutineDoesNotEndThatOfClose(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		s.Pause()
		var called atomic.Int64
		for i := range 5 {
			require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: fmt.Sprint(i)}).WithCallback(func(models.Outcome) {
				called.Add(1)
				runtime.Goexit()
			})))
		}
		returned := make(chan bool, 1)
		go func() {
			ok := false
			defer func() { returned <- ok }()
			_ = s.Close(q.within(time.Second))
			ok = true
		}()
		assert.True(t, <-returned, "Close has returned")
		assert.Equal(t, int64(5), called.Load(), "each callback ran once")
	})
}

func TestPausedSenderGivesBackAKeyThatComesForTheProbe(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		q.down.Store(true)
		var s *bufferedsender.BufferedSender[sendertest.Hotel]
		var pause atomic.Bool
		f := &faulty{Queue: q.queue, reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			leases, err := next()
			if len(leases) == 1 && pause.CompareAndSwap(true, false) {
				s.Pause()
				time.Sleep(100 * time.Millisecond) // the reply is on its way
			}
			return leases, err
		}}
		s = q.sender(sendertest.Options{Queue: f, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		pause.Store(true)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 1)...))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.False(t, pause.Load())
		assert.Zero(t, q.stats().Leased, "a paused sender returns its records")
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		_ = s.Close(ctx)
		assert.Less(t, time.Since(began), time.Minute)
	})
}

// More records of a key than fit into the buffer.
func TestPausedSenderGivesBackAPileThatDoesNotFitIntoItsBuffer(t *testing.T) {
	for name, closes := range map[string]bool{"paused": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				q.slow.Store(int64(10 * time.Second))
				s := q.sender(sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 10, MaxBatchActions: 5}})
				s.Pause()
				synctest.Wait()
				for i := range 50 {
					require.NoError(t, s.MergeOrUploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "x", Rooms: i}))
				}
				s.Resume()
				time.Sleep(5 * time.Second) // the first one is in flight
				s.Pause()
				time.Sleep(10 * time.Minute)
				if closes {
					began := time.Now()
					ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
					defer cancel()
					_ = s.Close(ctx)
					assert.Less(t, time.Since(began), time.Minute, "Close releases the other records at once")
					return
				}
				assert.Zero(t, q.stats().Leased, "a paused sender returns its records")
				s.Resume()
				require.NoError(t, s.Flush(q.within(time.Hour), nil))
				require.NoError(t, s.Close(q.within(time.Hour)))
				assert.Equal(t, 49, q.rooms("x"))
			})
		})
	}
}

// Dead letters are configured, and nothing is sent for a while.
func TestMemoryDoesNotGrowWithTheChangesOfAKey(t *testing.T) {
	testkit.Long(t)
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{DeadLetters: sinkFunc(noLetters), Limits: bufferedsender.Limits{MaxBufferedActions: 1000}})
		s.Pause()
		synctest.Wait()
		add := func(rounds int) {
			for range rounds {
				require.NoError(t, s.UploadDocuments(q.within(time.Hour), hotels(100, 1)...))
			}
		}
		add(10)
		before := sendertest.HeapNow()
		add(2000) // 200,000 changes of 100 keys
		grown := sendertest.HeapNow() - before
		t.Logf("%d kB for 200,000 changes of 100 keys", grown>>10)
		assert.Less(t, grown, int64(4<<20))
		s.Resume()
		require.NoError(t, s.Close(q.within(time.Hour)))
	})
}

func TestMemoryOfAnAdderDoesNotGrowWithWhatWaits(t *testing.T) {
	testkit.Long(t)
	withQueue(t, nil, func(q *queued) {
		s := q.adder(sendertest.Options{Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {}}, Documents: bufferedsender.Documents[sendertest.Hotel]{KeyField: "id"}})
		add := func(rounds int) {
			for range rounds {
				require.NoError(t, s.UploadDocuments(q.within(time.Hour), hotels(100, 1)...))
			}
		}
		add(10)
		before := sendertest.HeapNow()
		add(2000)
		grown := sendertest.HeapNow() - before
		t.Logf("%d kB for 200,000 changes of 100 keys", grown>>10)
		assert.Less(t, grown, int64(4<<20))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// A call with an unknown result is repeated, but not forever if the server has lost its keys.
func TestCallsThatTheServerHasLostReturn(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		f := &faulty{Queue: q.queue, append: func(queue.Call, func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			return queue.Receipt{}, fmt.Errorf("%w: %w: key k was deleted", queue.ErrUnknown, queue.ErrLost)
		}}
		s := q.sender(sendertest.Options{Queue: f})
		err := s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "a"})
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, queue.ErrLost)
		require.ErrorContains(t, err, "key k was deleted")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// The server has lost acknowledged records once.
func TestCallbacksAreCalledAfterTheServerHasLostSomething(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var lost atomic.Pointer[queue.Position]
		f := &faulty{Queue: q.queue, settled: func(at queue.Position, next func() (bool, error)) (bool, error) {
			if p := lost.Load(); p != nil && at <= *p {
				return false, queue.ErrLost
			}
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f})
		s.Pause()
		synctest.Wait()
		var first, second atomic.Int64
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "a"}).WithCallback(func(models.Outcome) { first.Add(1) })))
		time.Sleep(10 * time.Second)
		_, err := q.queue.Park(context.Background(), "lost", "a")
		require.NoError(t, err)
		_, err = q.queue.Drop(context.Background(), "a")
		require.NoError(t, err)
		at := queue.Position("1")
		lost.Store(&at)
		_, _ = q.queue.Settled(context.Background(), at)
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "b"}).WithCallback(func(models.Outcome) { second.Add(1) })))
		other := q.sender(sendertest.Options{})
		q.drained()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, [...]int64{1, 1}, [...]int64{first.Load(), second.Load()}, "callbacks of the lost change, and of a change that another process sent an hour ago")
		s.Resume()
		_ = s.Close(q.within(time.Minute))
		require.NoError(t, other.Close(q.within(time.Minute)))
	})
}

// The next process may send the records of such a queue; this one cannot learn their outcome.
func TestCallbacksAreCalledWhenTheQueueHasEnded(t *testing.T) {
	for _, end := range []error{queue.ErrFailed, queue.ErrClosed} {
		withQueue(t, nil, func(q *queued) {
			var ended atomic.Bool
			s := q.sender(sendertest.Options{Queue: &faulty{Queue: q.queue, settled: func(_ queue.Position, next func() (bool, error)) (bool, error) {
				if ended.Load() {
					return false, fmt.Errorf("the disk: %w", end)
				}
				return next()
			}}})
			s.Pause()
			synctest.Wait()
			var outcome atomic.Pointer[models.Outcome]
			require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "a"}).WithCallback(func(o models.Outcome) { outcome.Store(&o) })))
			ended.Store(true)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			require.NotNil(t, outcome.Load())
			require.ErrorIs(t, outcome.Load().Err, end)
			s.Resume()
			_ = s.Close(q.within(time.Minute))
		})
	}
}

// brief is a queue that replies for fewer keys than requested.
type brief struct{ *memqueue.Queue }

func (brief) Contains(context.Context, ...string) ([]bool, error) { return []bool{false}, nil }

func TestKeysOfWhichTheQueueDoesNotAnswerMayBeInIt(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{Queue: brief{q.queue}})
		assert.Equal(t, []bool{false}, s.Contains("a"))
		assert.Equal(t, []bool{true, true}, s.Contains("a", "b"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// While Close waits for its last settle, the sender learns what other processes have sent.
func TestCallbackIsNotLostWhenCloseIsAlmostDone(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var slow atomic.Bool
		f := &faulty{Queue: q.queue}
		f.settle = func(_ []queue.End, next func() ([]queue.Lease, []queue.Lease, error)) ([]queue.Lease, []queue.Lease, error) {
			if slow.Load() {
				time.Sleep(time.Minute)
			}
			return next()
		}
		var sent atomic.Bool
		f.settled = func(_ queue.Position, next func() (bool, error)) (bool, error) {
			if !sent.Load() {
				return false, nil
			}
			return true, nil
		}
		mine := q.sender(sendertest.Options{Queue: f})
		mine.Pause()
		synctest.Wait()
		var called atomic.Int64
		require.NoError(t, mine.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "x"}).WithCallback(func(models.Outcome) { called.Add(1) })))
		other := q.sender(sendertest.Options{})
		q.drained()
		require.NoError(t, other.Close(q.within(time.Minute)))
		mine.Resume()
		slow.Store(true)
		require.NoError(t, mine.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "y"}))
		time.Sleep(6 * time.Second) // it is sent, and being settled
		closed := sendertest.Later(func() error { return mine.Close(q.within(2 * time.Minute)) })
		time.Sleep(20 * time.Second) // the publisher is closed
		sent.Store(true)
		require.NoError(t, <-closed)
		synctest.Wait()
		assert.Equal(t, int64(1), called.Load(), "once")
	})
}

// The queue keeps a part of a call, because one of its servers is full.
func TestCallOfWhichAPartIsKeptIsRepeatedUntilThereIsRoom(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var room atomic.Bool
		kept := map[string]bool{}
		var last uint64
		f := &faulty{Queue: q.queue}
		other := queue.NewID()
		n := uint64(0)
		f.append = func(call queue.Call, _ func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			if call.Number != last {
				last, kept = call.Number, map[string]bool{}
			}
			put := func(which func(string) bool) (r queue.Receipt) {
				for _, rec := range call.Records {
					if !kept[rec.Key] && which(rec.Key) {
						n++
						var err error
						r, err = q.queue.Append(context.Background(), queue.Call{Adder: other, Number: n, Records: []queue.Record{rec}})
						require.NoError(t, err)
						kept[rec.Key] = true
					}
				}
				return r
			}
			put(func(key string) bool { return key != "full" })
			if !room.Load() {
				if len(kept) == 0 {
					return queue.Receipt{}, queue.ErrFull
				}
				return queue.Receipt{}, fmt.Errorf("%w: %w", queue.ErrUnknown, queue.ErrFull)
			}
			return put(func(string) bool { return true }), nil
		}
		s := q.sender(sendertest.Options{Queue: f})
		time.AfterFunc(time.Minute, func() { room.Store(true) })
		err := s.UploadDocuments(q.within(time.Hour), sendertest.Hotel{ID: "a", Rooms: 1}, sendertest.Hotel{ID: "full", Rooms: 1})
		require.NoError(t, err, "there is room after a minute, and the caller waits for an hour")
		q.drained()
		require.NoError(t, s.Close(q.within(time.Minute)))
		assert.Equal(t, 1, q.rooms("full"))
	})
}

// A second Continue after one that gave up.
func TestContinueReturnsAlsoAfterOneThatGaveUpWaitingForRoom(t *testing.T) {
	withQueue(t, &memqueue.Options{MaxKeys: 100}, func(q *queued) {
		var slow atomic.Bool
		s := q.sender(sendertest.Options{Queue: &faulty{Queue: q.queue, append: func(call queue.Call, next func(queue.Call) (queue.Receipt, error)) (queue.Receipt, error) {
			if slow.Load() {
				time.Sleep(2 * time.Second)
			}
			return next(call)
		}}})
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		slow.Store(true)
		err := s.UploadDocuments(q.within(time.Second), sendertest.Hotel{ID: "late", Rooms: 1})
		var added *bufferedsender.AddError
		require.ErrorAs(t, err, &added)
		require.Equal(t, 1, added.Unknown)
		_, err = added.Continue(q.within(4500 * time.Millisecond)) // waits for room
		require.Error(t, err)
		t.Log(err)
		time.Sleep(time.Minute)
		done := sendertest.Later(func() error { _, err := added.Continue(context.Background()); return err })
		select {
		case err := <-done:
			t.Log(err)
		case <-time.After(time.Hour):
			t.Error("after an hour Continue still waits for a call that is not made")
			s.Resume()
			_ = s.Close(q.within(time.Minute))
			panic("else the test would not end")
		}
		s.Resume()
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// Pause and Resume are called while a handler blocks the publisher.
func TestResumeWakesTheFeedAlsoIfThePublisherHasNotSeenThePause(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var slow atomic.Bool
		s := q.sender(sendertest.Options{Handlers: sendertest.Handlers{HealthChanged: func(context.Context, *events.HealthChange) {
			if slow.Load() {
				time.Sleep(time.Second)
			}
		}}})
		s.Pause()
		synctest.Wait()
		slow.Store(true)
		s.Resume()
		synctest.Wait() // the handler runs
		s.Pause()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "x", Rooms: 1}))
		synctest.Wait()
		s.Resume()
		time.Sleep(time.Hour)
		assert.Equal(t, 1, q.rooms("x"))
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

func TestPauseAndResumeAtOnceLeaveNothingInTheQueue(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{})
		for i := range 200 {
			s.Pause()
			require.NoError(t, s.UploadDocuments(q.within(time.Hour), sendertest.Hotel{ID: "x", Rooms: i}))
			s.Resume()
			time.Sleep(10 * time.Minute)
			require.Equal(t, i, q.rooms("x"))
		}
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// A Loader returns large documents.
func TestBufferBoundsWhatTheLoaderIsAskedFor(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var most, alive atomic.Int64
		s := q.sender(sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxBufferedActions: 1000},
			Loader: func(_ context.Context, keys []string) (all []sendertest.Action, err error) {
				most.Store(max(most.Load(), int64(len(keys))))
				alive.Add(int64(len(keys)))
				for _, key := range keys {
					all = append(all, models.UploadAction(sendertest.Hotel{ID: key, Rooms: 4}))
				}
				return all, nil
			},
		})
		var keys []string
		for i := range 5000 {
			keys = append(keys, fmt.Sprint("k-", i))
		}
		require.NoError(t, s.IndexKeys(q.within(time.Minute), keys...))
		require.NoError(t, s.Flush(q.within(time.Hour), nil))
		t.Log("keys in one call of the Loader:", most.Load())
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

// A handler blocks beyond the end of Close's context, and returns later.
func TestCallbacksAreCalledOnceAlsoAfterACloseThatCouldNotWait(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		stuck := make(chan struct{})
		var calls [3]atomic.Int64
		s := q.sender(sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Handlers: sendertest.Handlers{
			ActionCompleted: func(_ context.Context, e *events.ActionCompleted[sendertest.Hotel]) {
				if e.Key == "stuck" {
					<-stuck
				}
			},
		}})
		s.Pause()
		synctest.Wait()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "stuck", Rooms: 1}))
		time.Sleep(10 * time.Millisecond)
		for i := range calls[:2] { // the second one replaces the first
			require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "x", Rooms: i}).WithCallback(func(models.Outcome) { calls[i].Add(1) })))
		}
		require.NoError(t, s.IndexDocuments(q.within(time.Minute), models.UploadAction(sendertest.Hotel{ID: "y"}).WithCallback(func(models.Outcome) { calls[2].Add(1) })))
		s.Resume()
		synctest.Wait()
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := s.Close(ctx)
		t.Log(err)
		close(stuck)
		time.Sleep(time.Hour)
		synctest.Wait()
		for i := range calls {
			assert.Equal(t, int64(1), calls[i].Load(), "callback %d", i)
		}
	})
}

// Leases end while extending them fails, with folding.
func TestFoldedActionsOfALostLeaseDoNotSpin(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		gone := &stopped{Queue: q.queue}
		s := q.sender(sendertest.Options{
			Queue: gone, RequestTimeout: 10 * time.Second, AutoFlushInterval: 5 * time.Minute, Folding: &bufferedsender.Folding[sendertest.Hotel]{},
		})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 1)...))
		synctest.Wait()
		gone.off.Store(true)
		time.Sleep(time.Minute)
		gone.off.Store(false)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(10, 2)...))
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		assert.Equal(t, 2, q.rooms("k-3"))
		t.Logf("%+v %d", q.stats(), q.requests.Load())
		require.NoError(t, s.Close(q.within(time.Minute)))
		q.empty()
	})
}

// One server of several is down, and keys of it were sent.
func TestEndsThatFailDoNotKeepOtherKeysFromBeingSent(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var down atomic.Bool
		s := q.sender(sendertest.Options{Queue: &faulty{Queue: q.queue, settle: func(ends []queue.End, next func() ([]queue.Lease, []queue.Lease, error)) ([]queue.Lease, []queue.Lease, error) {
			for i := range ends {
				if ends[i].Lease.Key == "a" && down.Load() {
					return nil, []queue.Lease{ends[i].Lease}, errors.New("a shard is down")
				}
			}
			return next()
		}}})
		down.Store(true)
		require.NoError(t, s.UploadDocuments(q.Context(), sendertest.Hotel{ID: "a"}))
		time.Sleep(time.Minute)
		_, err := s.IndexDocumentsAndWait(q.within(30*time.Second), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "b"})}, nil)
		require.NoError(t, err)
		down.Store(false)
		require.NoError(t, s.Close(q.within(time.Minute)))
		q.empty()
	})
}

// A Loader fails while many keys wait.
func TestLoaderThatFailsDoesNotChurnTheQueue(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		calls, ends := 0, 0
		f := &faulty{Queue: q.queue, reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			calls++
			return next()
		}, settle: func(e []queue.End, next func() ([]queue.Lease, []queue.Lease, error)) ([]queue.Lease, []queue.Lease, error) {
			ends += len(e)
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f, Limits: bufferedsender.Limits{MaxBatchActions: 100}, Loader: func(context.Context, []string) ([]sendertest.Action, error) {
			return nil, errors.New("the database is down")
		}})
		keys := make([]string, 2000)
		for i := range keys {
			keys[i] = fmt.Sprint("k-", i)
		}
		require.NoError(t, s.IndexKeys(q.within(time.Minute), keys...))
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Less(t, calls, 3600, "one a second")
		assert.Less(t, ends, 120*len(keys), "each key is tried twice a minute")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}

var _ deadletter.Sink = sinkFunc(nil)

// The oldest key makes the service fail, and there was an outage.
func TestAKeyThatTheServiceCannotDigestDoesNotKeepTheBreakerOpen(t *testing.T) {
	for _, outage := range []time.Duration{time.Minute, 10 * time.Minute, 2 * time.Hour} {
		for _, ping := range []bool{true, false} {
			t.Run(fmt.Sprint(outage, ping), func(t *testing.T) {
				withQueue(t, nil, func(q *queued) {
					var broken atomic.Bool
					q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
						if broken.Load() && !ping {
							return nil, errors.New("connection refused")
						}
						if req.Method == http.MethodPost {
							if q.requests.Add(1); broken.Load() {
								return nil, errors.New("connection refused")
							}
							all, err := io.ReadAll(req.Body)
							require.NoError(t, err)
							req = req.Clone(req.Context())
							req.Body = io.NopCloser(bytes.NewReader(all))
							if bytes.Contains(all, []byte(`"k-0"`)) {
								return sendertest.Reply(req, http.StatusInternalServerError, sendertest.ErrorBody("oops")), nil
							}
						}
						return next(req)
					})
					broken.Store(true)
					s := q.sender(sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
					require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
					time.Sleep(outage)
					broken.Store(false)
					time.Sleep(30 * time.Minute)
					synctest.Wait()
					assert.Equal(t, int64(99), q.service.DocumentCount("hotels"), "all other keys, half an hour after the outage")
					t.Logf("%d requests, %+v, %v", q.requests.Load(), q.stats(), s.Health())
					_ = s.Close(q.within(time.Minute))
				})
			})
		}
	}
}

// Bad documents come first, good ones after them.
func TestDocumentsPassThoseThatAreHeldApart(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		calls := 0
		f := &faulty{Queue: q.queue, reserve: func(next func() ([]queue.Lease, error)) ([]queue.Lease, error) {
			if calls++; calls == 3000 {
				time.Sleep(24 * time.Hour) // otherwise the test would not end
			}
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		var raw []models.RawAction
		for i := range testkit.Cases(500, 3000, 3000) {
			raw = append(raw, models.RawAction{Key: fmt.Sprint("bad-", i), Type: models.ActionTypeUpload, Document: fmt.Appendf(nil, `{"id":"bad-%d","nosuch":1}`, i)})
		}
		require.NoError(t, s.Raw().Add(q.within(time.Minute), raw...))
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(1000, 1)...))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, int64(1000), q.service.DocumentCount("hotels"))
		t.Logf("%d calls, %d requests, %+v, %v %+v", calls, q.requests.Load(), q.stats(), s.Health(), s.Stats())
		_ = s.Close(q.within(time.Minute))
	})
}

// silent is an Indexer without Ping.
type silent struct{ bufferedsender.Indexer }

func (s silent) KeyFieldName(context.Context) (string, error) { return "id", nil }

func TestAnOutageFailsNothingThatAQueueKeeps(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var failed atomic.Int64
		s, err := bufferedsender.New(silent{sendertest.NewClient(t, q.service)}, &sendertest.Options{
			Queue: q.queue, Logger: sendertest.NoLog, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)},
			Handlers: sendertest.Handlers{ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) { failed.Add(1) }},
		})
		require.NoError(t, err)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(1, 1)...))
		require.NoError(t, s.Flush(q.within(time.Minute), nil))
		q.down.Store(true)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 2)...))
		time.Sleep(12 * time.Hour)
		synctest.Wait()
		assert.Zero(t, failed.Load(), "an outage of twelve hours")
		assert.Zero(t, q.stats().Parked)
		q.down.Store(false)
		assert.NoError(t, s.Flush(q.within(time.Hour), nil))
		_ = s.Close(q.within(time.Minute))
	})
}

// A key is changed two hundred thousand times while sending is suspended, and each change has a callback. The test
// limits the stack to a small size, which stands for millions of changes.
func TestManyChangesOfAKeyDoNotOverflowTheStack(t *testing.T) {
	testkit.Long(t)
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20))
	for name, elsewhere := range map[string]bool{"sent here": false, "sent by another": true} {
		t.Run(name, func(t *testing.T) {
			withQueue(t, nil, func(q *queued) {
				s := q.sender(sendertest.Options{})
				s.Pause()
				synctest.Wait()
				var called atomic.Int64
				actions := make([]sendertest.Action, 2000)
				for i := range actions {
					actions[i] = models.UploadAction(sendertest.Hotel{ID: "hot", Rooms: i}).WithCallback(func(models.Outcome) { called.Add(1) })
				}
				const calls = 100
				for range calls {
					require.NoError(t, s.IndexDocuments(q.within(time.Hour), actions...))
				}
				if elsewhere {
					other := q.sender(sendertest.Options{})
					q.drained()
					require.NoError(t, other.Close(q.within(time.Minute)))
					time.Sleep(time.Hour)
				}
				s.Resume()
				time.Sleep(time.Hour)
				assert.Equal(t, int64(calls*2000), called.Load())
				require.NoError(t, s.Close(q.within(time.Minute)))
			})
		})
	}
}

// Ping works and writing does not.
func TestAnOutageOfWritingFailsNothingThatAQueueKeeps(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var broken atomic.Bool
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if broken.Load() && strings.HasSuffix(req.URL.Path, "/docs/search.index") {
				return sendertest.Reply(req, http.StatusInternalServerError, sendertest.ErrorBody("oops")), nil
			}
			return next(req)
		})
		var failed atomic.Int64
		s := q.sender(sendertest.Options{
			Outage:   bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)},
			Handlers: sendertest.Handlers{ActionFailed: func(context.Context, *events.ActionFailed[sendertest.Hotel]) { failed.Add(1) }},
		})
		broken.Store(true)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(100, 2)...))
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		t.Log(q.requests.Load(), s.Health().State, q.stats().Leased)
		assert.Zero(t, failed.Load(), "an outage of six hours")
		assert.Zero(t, q.stats().Parked)
		broken.Store(false)
		assert.NoError(t, s.Flush(q.within(time.Hour), nil))
		_ = s.Close(q.within(time.Minute))
	})
}

func TestFlushWithAQueueEndsSoonAfterAnOutage(t *testing.T) {
	for _, outage := range []time.Duration{20 * time.Second, 40 * time.Second, 95 * time.Second, 20 * time.Minute} {
		for n := range 5 {
			t.Run(fmt.Sprint(outage, " with ", n+1), func(t *testing.T) {
				withQueue(t, nil, func(q *queued) {
					s := q.sender(sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
					q.down.Store(true)
					require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(n+1, 1)...))
					time.Sleep(outage)
					q.down.Store(false)
					began := time.Now()
					require.NoError(t, s.Flush(q.within(time.Hour), nil))
					assert.LessOrEqual(t, time.Since(began), 31*time.Second, "GUARANTEES.md says 30 s")
					require.NoError(t, s.Close(q.within(time.Minute)))
					q.empty()
				})
			})
		}
	}
}

// Only this process cannot reach the service. It must leave its keys to another one.
func TestSenderThatIsCutOffKeepsFewKeysFromOthers(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		tried := map[string]bool{}
		q.service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			if req.Method != http.MethodPost {
				return next(req)
			}
			if all, err := io.ReadAll(req.Body); assert.NoError(t, err) && bytes.Count(all, []byte(`"k-`)) == 1 {
				tried[string(all)] = true
			}
			return nil, errors.New("connection refused")
		})
		cut := q.sender(sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		require.NoError(t, cut.UploadDocuments(q.within(time.Minute), hotels(100, 1)...))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.LessOrEqual(t, q.stats().Leased, int64(8))
		assert.GreaterOrEqual(t, len(tried), 4, "the tried keys change")
		all := map[string]bool{}
		for range 20 {
			leases, err := q.queue.Reserve(q.within(time.Minute), queue.Want{Keys: 100, Bytes: 1 << 20, For: time.Hour, Holder: queue.NewID(), Token: queue.NewID()})
			require.NoError(t, err)
			for _, l := range leases {
				all[l.Key] = true
			}
			time.Sleep(time.Minute)
		}
		assert.GreaterOrEqual(t, len(all), 97, "all keys except the next probe and the last one")
		_ = cut.Close(q.within(time.Minute))
	})
}

// Another process may get the key as soon as the lease ends, while the service may still be working on a request
// without a reply.
func TestAKeyWhoseRequestWasCutRestsWhenItHasBeenCompleted(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		var commits []queue.End
		f := &faulty{Queue: q.queue, settle: func(ends []queue.End, next func() ([]queue.Lease, []queue.Lease, error)) ([]queue.Lease, []queue.Lease, error) {
			for _, e := range ends {
				if e.Fate == queue.Commit {
					commits = append(commits, e)
				}
			}
			return next()
		}}
		s := q.sender(sendertest.Options{Queue: f})
		q.down.Store(true)
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "cut"}))
		for q.requests.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		q.down.Store(false)
		q.drained()
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), sendertest.Hotel{ID: "well"}))
		q.drained()
		require.NoError(t, s.Close(q.within(time.Minute)))
		require.Len(t, commits, 2)
		assert.Equal(t, bufferedsender.DefaultUnknownWait, commits[0].Uncertain, commits[0].Lease.Key)
		assert.Zero(t, commits[1].Uncertain)
	})
}

// A process that has died holds the leases of all keys. It is named while this one waits for them.
func TestAProcessThatHasLeasedEverythingIsNamed(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.adder(sendertest.Options{})
		require.NoError(t, s.UploadDocuments(q.within(time.Minute), hotels(3, 1)...))
		require.NoError(t, s.Close(q.within(time.Minute)))
		leases, err := q.queue.Reserve(t.Context(), queue.Want{Token: queue.NewID(), Holder: queue.NewID(), Name: "process 7 on dead", Keys: 10, Bytes: 1 << 20, For: time.Minute})
		require.NoError(t, err)
		require.Len(t, leases, 3)
		var log strings.Builder
		other := q.sender(sendertest.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		time.Sleep(31 * time.Second)
		h := other.Health()
		require.NoError(t, h.Err)
		assert.Contains(t, h.Reason, "is leased by process 7 on dead until")
		require.ErrorContains(t, other.Flush(q.within(time.Second), &bufferedsender.FlushOptions{WholeQueue: true}), "is leased by process 7 on dead until")
		q.drained()
		time.Sleep(time.Minute)
		assert.Empty(t, other.Health().Reason)
		require.NoError(t, other.Close(q.within(time.Minute)))
		assert.Equal(t, 1, strings.Count(log.String(), "another process has leased"))
	})
}
func TestADocumentOfTheLoaderThatFitsInNoRequestIsParked(t *testing.T) {
	withQueue(t, nil, func(q *queued) {
		s := q.sender(sendertest.Options{
			Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxBatchBytes: 1000},
			Loader: func(_ context.Context, keys []string) (all []sendertest.Action, err error) {
				for _, key := range keys {
					size := 100
					if key == "large" {
						size = 5000
					}
					all = append(all, models.UploadAction(sendertest.HotelOfSize(key, size)))
				}
				return all, nil
			},
		})
		require.NoError(t, s.IndexKeys(q.within(time.Minute), "a", "large", "b"))
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, s.Flush(q.within(24*time.Hour), nil), &failed)
		assert.Equal(t, 1, failed.Parked)
		assert.EqualValues(t, 2, q.service.DocumentCount("hotels"))
		parked, err := q.queue.Inspect(t.Context(), queue.Inspection{States: queue.Parked})
		require.NoError(t, err)
		require.Len(t, parked, 1)
		assert.Equal(t, "large", parked[0].Key)
		assert.Contains(t, parked[0].Reason, "1000")
		require.NoError(t, s.Close(q.within(time.Minute)))
	})
}
