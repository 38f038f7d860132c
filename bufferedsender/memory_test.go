//go:build !race

// The race detector has memory of its own.

package bufferedsender_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// conflicting is an index in which the documents whose keys end in "0" are in
// conflict with something, for ever.
func conflicting(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	answer, err := agree(ctx, body)
	for i := range answer.Results {
		if r := &answer.Results[i]; strings.HasSuffix(r.Key, "-0") {
			r.Succeeded, r.StatusCode = false, 409
		}
	}
	return answer, err
}

func TestWhatIsSentAgainKeepsNothingOfItsNeighbours(t *testing.T) {
	const (
		limit     = 4 << 20
		size      = 2500
		conflicts = limit / (size + 100) // nearly a full buffer
	)
	for name, opts := range map[string]hotelOptions{
		"nobody is told": {},
		"a handler":      {Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) {}}},
		"dead letters":   {DeadLetters: &letterbox{}},
		"both, several in flight": {
			Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) {}}, DeadLetters: &letterbox{}, Limits: bufferedsender.Limits{MaxInFlight: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Limits.MaxBufferedBytes, opts.Limits.MaxBatchBytes, opts.Logger = limit, limit/8, mute
				opts.Retry = retry.Options{Delay: 24 * time.Hour, MaxDelay: 24 * time.Hour, Jitter: -1}
				before := heapNow()
				s, err := bufferedsender.New[hotel](&fakeIndexer{conflicting}, &opts)
				require.NoError(t, err)
				closeAtLast(t, s)
				for i := range conflicts {
					docs := make([]hotel, 16)
					for j := range docs {
						docs[j] = sized(fmt.Sprint(i, "-", j), size)
					}
					require.NoError(t, s.UploadDocuments(t.Context(), docs...))
				}
				require.ErrorIs(t, s.Flush(within(t, time.Minute)), context.DeadlineExceeded)
				require.Equal(t, conflicts, s.PendingActionCount())
				kept := heapNow() - before
				t.Logf("%.1f MB, %.1f times the limit", float64(kept)/1e6, float64(kept)/limit)
				assert.Less(t, kept, int64(3*limit), "of the heap")
				runtime.KeepAlive(s)
			})
		})
	}
}

func TestASenderWhoseBufferWasFullKeepsLittleWhileItIsIdle(t *testing.T) {
	const senders, most = 10, 20 << 10
	for name, opts := range map[string]hotelOptions{
		"nobody is told": {},
		"a handler":      {Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) {}}},
		"dead letters":   {DeadLetters: &letterbox{}},
		"folding":        {Folding: &bufferedsender.Folding[hotel]{}},
		"in flight":      {Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Logger, opts.Limits.MaxBufferedActions = mute, 8000
				full := func() *bufferedsender.BufferedSender[hotel] {
					s, err := bufferedsender.New[hotel](&fakeIndexer{agree}, &opts)
					require.NoError(t, err)
					closeAtLast(t, s)
					s.Pause()
					for i := range opts.Limits.MaxBufferedActions {
						require.NoError(t, s.TryIndexDocuments(models.UploadAction(hotel{ID: fmt.Sprint("k-", i)})))
					}
					require.ErrorIs(t, s.TryIndexDocuments(models.UploadAction(hotel{ID: "k"})), bufferedsender.ErrBufferFull)
					s.Resume()
					require.NoError(t, s.Flush(t.Context()))
					synctest.Wait()
					return s
				}
				all := []*bufferedsender.BufferedSender[hotel]{full()} // what is made once is made now
				before := heapNow()
				for range senders {
					all = append(all, full())
				}
				each := (heapNow() - before) / senders
				t.Log(each, "bytes")
				assert.LessOrEqual(t, each, int64(most), "bytes of an idle sender")
				runtime.KeepAlive(all)
			})
		})
	}
}

// The callers have one document, so that only what they have encoded counts.
func TestCallsThatWaitForRoomHoldLittle(t *testing.T) {
	const limit, callers, size = 4 << 20, 400, 100_000
	for name, opts := range map[string]hotelOptions{
		"nobody is told": {},
		"a handler":      {Handlers: hotelHandlers{ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) {}}},
		"folding":        {Folding: &bufferedsender.Folding[hotel]{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts.Limits.MaxBufferedBytes, opts.Limits.MaxBatchBytes, opts.Logger = limit, limit/4, mute
				s, err := bufferedsender.New[hotel](&fakeIndexer{agree}, &opts)
				require.NoError(t, err)
				closeAtLast(t, s)
				name := strings.Repeat("x", size)
				before := heapNow()
				s.Pause()
				done := make(chan error, callers)
				for i := range callers {
					go func() {
						done <- s.UploadDocuments(context.Background(), hotel{ID: fmt.Sprint("k-", i), Name: name})
					}()
					if i <= limit/size {
						synctest.Wait() // the buffer is full before the many come
					}
				}
				synctest.Wait()
				require.Equal(t, callers-limit/size, s.Stats().BlockedAdders)
				held := heapNow() - before
				t.Logf("%.1f MB, %.1f times the limit; %.1f MB if all were encoded", float64(held)/1e6, float64(held)/limit, float64(callers*size)/1e6)
				assert.Less(t, held, int64(5*limit/2))
				s.Resume()
				for range callers {
					require.NoError(t, <-done)
				}
				require.NoError(t, s.Flush(t.Context()))
				assert.EqualValues(t, callers, s.Stats().Completed)
			})
		})
	}
}

// Letters of all that is given up would be another buffer, and more.
func TestGivingUpWithDeadLettersTakesLittleMoreThanTheBuffer(t *testing.T) {
	const limit, size = 8 << 20, 2000
	purge := func(t *testing.T, s *bufferedsender.BufferedSender[hotel], b *breaker.Breaker) {
		b.Disable()
		s.Resume()
		require.NoError(t, s.UploadDocuments(within(t, time.Minute), sized("new", size)))
		synctest.Wait()
		b.Enable()
	}
	for name, give := range map[string]func(*testing.T, *bufferedsender.BufferedSender[hotel], *breaker.Breaker){
		"Close": func(t *testing.T, s *bufferedsender.BufferedSender[hotel], _ *breaker.Breaker) {
			_, _ = closeWithin(t, s)
		},
		"PurgeIndex": purge,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := steadyBreaker(t, nil)
				d := &disk{}
				empty := heapNow()
				s := held(t, hotelOptions{
					DeadLetters: d, Outage: bufferedsender.Hold{Breaker: b, WhenFull: bufferedsender.PurgeAll(bufferedsender.AllowLoss)}, Limits: bufferedsender.Limits{MaxBufferedBytes: limit, MaxBatchBytes: limit / 4, MaxBufferedActions: limit / size},
				}, limit/size, size)
				full, peak := heapNow()-empty, int64(0)
				d.before = func() { peak = max(peak, heapNow()-empty) }
				give(t, s, b)
				t.Logf("full: %.1f MB, at most %.1f MB when it is given up", float64(full)/1e6, float64(peak)/1e6)
				written, _ := d.all()
				assert.Equal(t, limit/size, written)
				assert.Less(t, peak-full, int64(limit/2), "beyond what the full buffer takes")
				runtime.KeepAlive(s)
			})
		})
	}
}
