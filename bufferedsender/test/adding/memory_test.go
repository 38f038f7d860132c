//go:build !race

// The race detector uses memory itself, and makes sync.Pool drop entries at random.

package adding

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
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
	"github.com/go-azsearch/azsearch/retry"
)

// conflicting is an index in which documents whose keys end in "0" always conflict.
func conflicting(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	answer, err := sendertest.AcceptAll(ctx, body)
	for i := range answer.Results {
		if r := &answer.Results[i]; strings.HasSuffix(r.Key, "-0") {
			r.Succeeded, r.StatusCode = false, 409
		}
	}
	return answer, err
}

func TestWhatIsSentAgainKeepsNothingOfItsNeighbours(t *testing.T) {
	testkit.Long(t)
	const (
		limit     = 4 << 20
		size      = 2500
		conflicts = limit / (size + 100) // nearly a full buffer
	)
	for name, opts := range map[string]sendertest.Options{
		"without handlers": {},
		"a handler":        {Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {}}},
		"dead letters":     {DeadLetters: &sendertest.DeadLetters{}},
		"both, several in flight": {
			Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {}}, DeadLetters: &sendertest.DeadLetters{}, Limits: bufferedsender.Limits{MaxInFlight: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Limits.MaxBufferedBytes, opts.Limits.MaxBatchBytes, opts.Logger = limit, limit/8, sendertest.NoLog
				opts.Retry = retry.Options{Delay: 24 * time.Hour, MaxDelay: 24 * time.Hour, Jitter: -1}
				before := sendertest.HeapNow()
				s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: conflicting}, &opts)
				require.NoError(t, err)
				sendertest.CloseAtEnd(t, s)
				for i := range conflicts {
					docs := make([]sendertest.Hotel, 16)
					for j := range docs {
						docs[j] = sendertest.HotelOfSize(fmt.Sprint(i, "-", j), size)
					}
					require.NoError(t, s.UploadDocuments(t.Context(), docs...))
				}
				require.ErrorIs(t, s.Flush(sendertest.Within(t, time.Minute), nil), context.DeadlineExceeded)
				require.Equal(t, conflicts, s.Stats().PendingActions)
				kept := sendertest.HeapNow() - before
				t.Logf("%.1f MB, %.1f times the limit", float64(kept)/1e6, float64(kept)/limit)
				assert.Less(t, kept, int64(3*limit), "heap in use")
				runtime.KeepAlive(s)
			})
		})
	}
}

func TestASenderWhoseBufferWasFullKeepsLittleWhileItIsIdle(t *testing.T) {
	testkit.Long(t)
	const senders, most = 10, 20 << 10
	for name, opts := range map[string]sendertest.Options{
		"without handlers": {},
		"a handler":        {Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {}}},
		"dead letters":     {DeadLetters: &sendertest.DeadLetters{}},
		"folding":          {Folding: &bufferedsender.Folding[sendertest.Hotel]{}},
		"in flight":        {Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Logger, opts.Limits.MaxBufferedActions = sendertest.NoLog, 8000
				full := func() *bufferedsender.BufferedSender[sendertest.Hotel] {
					s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{}, &opts)
					require.NoError(t, err)
					sendertest.CloseAtEnd(t, s)
					s.Pause()
					for i := range opts.Limits.MaxBufferedActions {
						require.NoError(t, s.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: fmt.Sprint("k-", i)})))
					}
					require.ErrorIs(t, s.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "k"})), bufferedsender.ErrBufferFull)
					s.Resume()
					require.NoError(t, s.Flush(t.Context(), nil))
					synctest.Wait()
					return s
				}
				all := []*bufferedsender.BufferedSender[sendertest.Hotel]{full()} // so that one-time allocations happen now
				before := sendertest.HeapNow()
				for range senders {
					all = append(all, full())
				}
				each := (sendertest.HeapNow() - before) / senders
				t.Log(each, "bytes")
				assert.LessOrEqual(t, each, int64(most), "bytes of an idle sender")
				runtime.KeepAlive(all)
			})
		})
	}
}

// The callers share one document, so that only encoded copies count.
func TestCallsThatWaitForRoomHoldLittle(t *testing.T) {
	testkit.Long(t)
	const limit, callers, size = 4 << 20, 400, 100_000
	for name, opts := range map[string]sendertest.Options{
		"without handlers": {},
		"a handler":        {Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {}}},
		"folding":          {Folding: &bufferedsender.Folding[sendertest.Hotel]{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Limits.MaxBufferedBytes, opts.Limits.MaxBatchBytes, opts.Logger = limit, limit/4, sendertest.NoLog
				s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{}, &opts)
				require.NoError(t, err)
				sendertest.CloseAtEnd(t, s)
				name := strings.Repeat("x", size)
				before := sendertest.HeapNow()
				s.Pause()
				done := make(chan error, callers)
				for i := range callers {
					go func() {
						done <- s.UploadDocuments(context.Background(), sendertest.Hotel{ID: fmt.Sprint("k-", i), Name: name})
					}()
					if i <= limit/size {
						synctest.Wait() // the buffer is full before the callers come
					}
				}
				synctest.Wait()
				require.Equal(t, callers-limit/size, s.Stats().BlockedProducers)
				held := sendertest.HeapNow() - before
				t.Logf("%.1f MB, %.1f times the limit; %.1f MB if all were encoded", float64(held)/1e6, float64(held)/limit, float64(callers*size)/1e6)
				assert.Less(t, held, int64(5*limit/2))
				s.Resume()
				for range callers {
					require.NoError(t, <-done)
				}
				require.NoError(t, s.Flush(t.Context(), nil))
				assert.EqualValues(t, callers, s.Stats().Completed)
			})
		})
	}
}

// Without providers, telemetry must not cost an allocation per document.
func TestTelemetryWithoutProvidersAllocatesNothingPerDocument(t *testing.T) {
	const docs = 1000
	fixed := models.IndexDocumentsResult{StatusCode: 200}
	batch := make([]sendertest.Hotel, docs)
	for i := range batch {
		batch[i].ID = fmt.Sprint("k-", i)
		fixed.Results = append(fixed.Results, models.IndexingResult{Key: batch[i].ID, Succeeded: true, StatusCode: 200})
	}
	perDocument := func(opts *sendertest.Options) float64 {
		s, err := bufferedsender.New[sendertest.Hotel](&sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) { return fixed, nil }}, opts)
		require.NoError(t, err)
		defer s.Close(t.Context())
		ctx := t.Context()
		return testing.AllocsPerRun(20, func() {
			if err := s.UploadDocuments(ctx, batch...); err != nil {
				t.Error(err)
			}
			if err := s.Flush(ctx, nil); err != nil {
				t.Error(err)
			}
		}) / docs
	}
	// One for the encoded document, one for its place in the queue, and a share of the request. A third per document
	// would be telemetry.
	assert.Less(t, perDocument(&sendertest.Options{Logger: sendertest.NoLog}), 2.5)
}
