package outages

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const ages = "9223372036" // seconds: 292 years

func TestARetryAfterHoldsForTenMinutesAtTheMost(t *testing.T) {
	for _, status := range []int{429, 503} {
		for name, opts := range map[string]func(*testing.T) *sendertest.Options{
			"without a breaker": func(*testing.T) *sendertest.Options { return &sendertest.Options{} }, "with a breaker": sendertest.WithBreaker,
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, opts(t))
					r.Respond(sendertest.First(1, sendertest.Always(status, sendertest.ErrorBody("busy"), "Retry-After", ages)))
					r.Upload(sendertest.Hotels("k", 3)...)
					require.NoError(t, r.Flush())
					assert.Equal(t, 10*time.Minute, r.Now())
					assert.Len(t, r.Requests(), 2)
				})
			})
			t.Run(name+", and Resume ends it", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, opts(t))
					r.Respond(sendertest.First(1, sendertest.Always(status, sendertest.ErrorBody("busy"), "Retry-After", ages)))
					r.Upload(sendertest.Hotels("k", 3)...)
					flushed := sendertest.Later(r.Flush)
					time.Sleep(time.Minute)
					sendertest.StillRunning(t, flushed, "Flush")
					assert.Equal(t, events.HealthStateThrottled, r.Sender.Health().State)
					r.Sender.Resume()
					synctest.Wait()
					require.NoError(t, <-flushed)
					assert.Equal(t, time.Minute, r.Now())
					assert.Equal(t, events.HealthStateHealthy, r.Sender.Health().State)
				})
			})
		}
	}
}

func TestARetryAfterOfNothingIsNoPermission(t *testing.T) {
	for _, header := range []string{"0", "Fri, 31 Dec 1999 00:00:00 GMT", ""} {
		t.Run(header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Retry = retry.Options{Jitter: -1}
				r := sendertest.New(t, opts)
				r.Respond(sendertest.First(3, sendertest.Always(503, sendertest.ErrorBody("busy"), "Retry-After", header)))
				r.Upload(sendertest.Hotels("k", 3)...)
				require.NoError(t, r.Flush())
				xs := r.Requests()
				for i, gap := range r.RequestGaps()[:3] {
					assert.GreaterOrEqual(t, gap, 400*time.Millisecond, "after request %d", i+1)
					assert.LessOrEqual(t, gap, max(time.Second, xs[i].End), "after request %d", i+1)
				}
			})
		})
	}
}

// A Retry-After that arrives while a request is prepared delays that request too.
func TestARequestThatWasPreparedWhenAPauseBeganIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 2}, Handlers: sendertest.Handlers{
			ActionSent: func(_ context.Context, e *events.ActionSent[sendertest.Hotel]) {
				if e.Key == "k-2" && e.Attempt == 1 {
					time.Sleep(2 * time.Second)
				}
			},
		}}
		r := sendertest.New(t, opts)
		r.Faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 429, RetryAfter: searchtest.Duration(time.Minute)})
		r.Upload(sendertest.Hotels("k", 4)...)
		time.Sleep(30 * time.Second)
		assert.Len(t, r.Requests(), 1)
		var unsent []events.Batch
		for _, e := range r.Events("batch") {
			if e.Batch.StatusCode == 0 {
				unsent = append(unsent, e.Batch)
			}
		}
		require.Len(t, unsent, 1)
		assert.ErrorIs(t, unsent[0].Err, bufferedsender.ErrNotSent)
		assert.Equal(t, 2, unsent[0].Retried)
		assert.EqualValues(t, 1, r.Sender.Stats().Requests)
		require.NoError(t, r.Flush())
		assert.Equal(t, 1, r.Outcome("k-3").Attempt, "the attempt was given back")
		assert.Equal(t, 2, r.Outcome("k-0").Attempt)
		assert.GreaterOrEqual(t, r.Requests()[1].At, time.Minute+time.Second)
		assert.LessOrEqual(t, r.Requests()[1].At, time.Minute+2*time.Second)
	})
}

// throttled is a 503 with a Retry-After.
type throttled time.Duration

func (throttled) Error() string { return "too busy" }

func (throttled) HTTPStatus() int { return 503 }

func (t throttled) RetryAfter() (time.Duration, bool) { return time.Duration(t), true }

func (throttled) ServiceRequestID() string { return "" }

func TestAPauseIsCutShortByNobody(t *testing.T) {
	for name, hurry := range map[string]func(*bufferedsender.BufferedSender[sendertest.Hotel]){
		"a producer that waits": func(s *bufferedsender.BufferedSender[sendertest.Hotel]) {
			_ = s.UploadDocuments(context.Background(), sendertest.Hotel{ID: "c"})
		},
		"a full buffer": func(s *bufferedsender.BufferedSender[sendertest.Hotel]) {
			_ = s.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: "c"}))
		},
		"Flush": func(s *bufferedsender.BufferedSender[sendertest.Hotel]) { _ = s.Flush(context.Background(), nil) },
		"Close": func(s *bufferedsender.BufferedSender[sendertest.Hotel]) { _ = s.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				good, calls := &sendertest.Indexer{}, 0
				sender, err := bufferedsender.New(&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					if calls++; calls == 1 {
						return models.IndexDocumentsResult{}, throttled(5 * time.Minute)
					}
					return good.IndexDocumentsRaw(ctx, body)
				}}, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxBufferedActions: 2}, AutoFlushInterval: time.Second})
				require.NoError(t, err)
				require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
				synctest.Wait()
				require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "b"}))
				go hurry(sender)
				time.Sleep(5*time.Minute - time.Second)
				assert.Zero(t, good.Requests())
				time.Sleep(time.Minute)
				assert.GreaterOrEqual(t, good.Requests(), int64(2))
				require.NoError(t, sender.Close(t.Context()))
			})
		})
	}
}
