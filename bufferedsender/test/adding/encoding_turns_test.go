package adding

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// While callers wait for room, few encode at once. A caller that needs an hour to encode must delay neither the
// others nor those that come when there is room again.
func TestOneCallerThatEncodesSlowlyHoldsNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 100, MaxBatchActions: 100}, Handlers: sendertest.Handlers{
			ActionAdded: func(_ context.Context, e *events.ActionAdded[sendertest.Hotel]) error {
				if slow.Load() && e.Key == "w-105" {
					time.Sleep(time.Hour)
				} else if slow.Load() {
					time.Sleep(time.Millisecond)
				}
				return nil
			},
		}})
		r.Sender.Pause()
		r.Upload(sendertest.Hotels("k", 100)...)
		go r.Upload(sendertest.Hotel{ID: "waits"})
		synctest.Wait()
		slow.Store(true)
		var added atomic.Int64
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if i != 5 {
					time.Sleep(time.Microsecond)
				}
				if assert.NoError(t, r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: fmt.Sprint("w-", 100+i)})) {
					added.Add(1)
				}
			})
		}
		time.Sleep(time.Second)
		r.Sender.Resume()
		time.Sleep(time.Minute)
		s := r.Sender.Stats()
		t.Log("added by 50 callers a minute after the buffer is empty:", added.Load(), "pending", s.PendingActions, "waiting", s.BlockedProducers)
		assert.EqualValues(t, 49, added.Load())
		late := sendertest.Later(func() error {
			return r.Sender.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotel{ID: "newcomer"})
		})
		assert.NoError(t, <-late, "a newcomer, with an empty buffer")
		wg.Wait()
	})
}

// After a full buffer has room again, callers encode concurrently again.
func TestCallersEncodeTogetherAgainWhenThereIsRoom(t *testing.T) {
	testkit.Long(t)
	synctest.Test(t, func(t *testing.T) {
		const callers = 300
		var slow atomic.Bool
		s, err := bufferedsender.New(&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			if slow.Load() {
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(time.Millisecond)
			return sendertest.AcceptAll(ctx, body)
		}}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 1000, MaxBatchActions: 100}, Handlers: sendertest.Handlers{
			ActionAdded: func(context.Context, *events.ActionAdded[sendertest.Hotel]) error {
				time.Sleep(20 * time.Millisecond) // for example to write a record
				return nil
			},
		}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		var added atomic.Int64
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for n := 0; ; n++ {
					if s.UploadDocuments(ctx, sendertest.Hotel{ID: fmt.Sprint("k-", i, "-", n)}) != nil {
						return
					}
					added.Add(1)
				}
			})
		}
		measure := func() int64 {
			before := added.Load()
			time.Sleep(time.Second)
			return added.Load() - before
		}
		before := measure()
		slow.Store(true)
		time.Sleep(5 * time.Second) // full by now
		slow.Store(false)
		time.Sleep(10 * time.Second)
		after := measure()
		st := s.Stats()
		cancel()
		wg.Wait()
		t.Log("in a second before:", before, "ten seconds after it was full:", after, "pending", st.PendingActions, "blocked", st.BlockedProducers)
		assert.Greater(t, after, before/2)
	})
}

// An ActionAdded handler may add to its sender with its own context.
func TestAddingInsideActionAddedWhileTheBufferIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *sendertest.Rig
		r = sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 10}, Handlers: sendertest.Handlers{
			ActionAdded: func(_ context.Context, e *events.ActionAdded[sendertest.Hotel]) error {
				if strings.HasPrefix(e.Key, "outer") {
					return r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), sendertest.Hotel{ID: "inner" + e.Key})
				}
				return nil
			},
		}})
		r.Sender.Pause()
		r.Upload(sendertest.Hotels("k", 10)...)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				assert.NoError(t, r.Sender.UploadDocuments(sendertest.Within(t, 2*time.Hour), sendertest.Hotel{ID: fmt.Sprint("outer-", i)}))
			})
		}
		synctest.Wait()
		r.Sender.Resume()
		wg.Wait()
		assert.Less(t, r.Now(), time.Minute)
	})
}

type slowDoc struct {
	ID   string `json:"id" search:"key"`
	Text slowText
}

type slowText string

func (s slowText) MarshalText() ([]byte, error) {
	time.Sleep(50 * time.Millisecond)
	return []byte(s), nil
}

// When the buffer is briefly empty, waiting calls do not all encode at once.
func TestTurnsBoundWhatWaitingCallsHold(t *testing.T) {
	testkit.Long(t)
	synctest.Test(t, func(t *testing.T) {
		const size, callers = 100 << 10, 500
		n := 0
		index := &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			if n++; n == 1 {
				time.Sleep(10 * time.Second)
			}
			time.Sleep(time.Millisecond)
			return sendertest.AcceptAll(ctx, body)
		}}
		s, err := bufferedsender.New(index, &bufferedsender.Options[*slowDoc]{Logger: sendertest.NoLog, Limits: bufferedsender.Limits{MaxBufferedBytes: 1 << 20, MaxBatchBytes: 1 << 20, MaxInFlight: 1}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		text := slowText(strings.Repeat("x", size))
		for i := range 12 { // until it is full
			go func() { _ = s.UploadDocuments(sendertest.Within(t, time.Hour), &slowDoc{fmt.Sprint("a-", i), text}) }()
		}
		time.Sleep(time.Second)
		for i := range callers {
			go func() { _ = s.UploadDocuments(sendertest.Within(t, time.Hour), &slowDoc{fmt.Sprint("b-", i), text}) }()
		}
		var most int64
		for range 60_000 {
			most = max(most, s.Stats().BlockedBytes)
			time.Sleep(time.Millisecond)
		}
		t.Logf("at most %d kB encoded and waiting for room in a buffer of 1024 kB; completed %d", most>>10, s.Stats().Completed)
		assert.LessOrEqual(t, most, int64(2<<20))
	})
}

// Calls that arrive together, before any of them waits, do not all encode at once.
func TestCallsThatComeAtOnceHoldLittle(t *testing.T) {
	const limit, callers, size = 4 << 20, 400, 100_000
	for name, full := range map[string]bool{"empty buffer": false, "full buffer, no call waits yet": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{}, &sendertest.Options{
					Limits: bufferedsender.Limits{MaxBufferedBytes: limit, MaxBatchBytes: limit / 4},
					Logger: sendertest.NoLog,
					Handlers: sendertest.Handlers{ActionAdded: func(context.Context, *events.ActionAdded[sendertest.Hotel]) error {
						time.Sleep(time.Millisecond) // for example to write a checkpoint
						return nil
					}},
				})
				require.NoError(t, err)
				sendertest.CloseAtEnd(t, s)
				name := strings.Repeat("x", size)
				before := sendertest.HeapNow()
				s.Pause()
				if full {
					for i := range limit / size {
						require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: fmt.Sprint("f-", i), Name: name}))
					}
				}
				for i := range callers {
					go func() {
						_ = s.UploadDocuments(context.Background(), sendertest.Hotel{ID: fmt.Sprint("k-", i), Name: name})
					}()
				}
				time.Sleep(time.Minute)
				held := sendertest.HeapNow() - before
				t.Logf("%.1f MB, %.1f times the limit; WaitingBytes by its own account %d", float64(held)/1e6, float64(held)/limit, s.Stats().BlockedProducers)
				assert.Less(t, held, int64(3*limit), "the buffer, its documents, and as much again")
				s.Resume()
			})
		})
	}
}
