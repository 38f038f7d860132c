package bufferedsender_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// throttled is a 503 that asks to come back later.
type throttled time.Duration

func (throttled) Error() string                       { return "too busy" }
func (throttled) HTTPStatus() int                     { return 503 }
func (t throttled) RetryAfter() (time.Duration, bool) { return time.Duration(t), true }
func (throttled) ServiceRequestID() string            { return "" }

func TestAPauseIsCutShortByNobody(t *testing.T) {
	for name, hurry := range map[string]func(*bufferedsender.BufferedSender[modelDoc]){
		"an adder that waits": func(s *bufferedsender.BufferedSender[modelDoc]) {
			_ = s.UploadDocuments(context.Background(), modelDoc{ID: "c"})
		},
		"a full buffer": func(s *bufferedsender.BufferedSender[modelDoc]) {
			_ = s.TryIndexDocuments(models.UploadAction(modelDoc{ID: "c"}))
		},
		"Flush": func(s *bufferedsender.BufferedSender[modelDoc]) { _ = s.Flush(context.Background()) },
		"Close": func(s *bufferedsender.BufferedSender[modelDoc]) { _ = s.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				good, calls := &slowIndex{}, 0
				sender, err := bufferedsender.New(indexerFunc(func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					if calls++; calls == 1 {
						return models.IndexDocumentsResult{}, throttled(5 * time.Minute)
					}
					return good.IndexDocumentsRaw(ctx, body)
				}), &docOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxBufferedActions: 2}, AutoFlushInterval: time.Second})
				require.NoError(t, err)
				require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
				synctest.Wait()
				require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "b"}))
				go hurry(sender)
				time.Sleep(5*time.Minute - time.Second)
				assert.Zero(t, good.requests.Load())
				time.Sleep(time.Minute)
				assert.GreaterOrEqual(t, good.requests.Load(), int64(2))
				require.NoError(t, sender.Close(t.Context()))
			})
		})
	}
}

// The reply to the first request arrives while the Sent handler of the second
// keeps the loop, and with it Close, which gives up.
func TestAReplyBehindAStuckHandlerIsToldAsUnknown(t *testing.T) {
	for range 20 { // the loop may look at the reply first, or at Close
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			completed, unknown := 0, 0
			sender, err := bufferedsender.New(&slowIndex{delay: time.Second}, &docOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Handlers: docHandlers{
				ActionSent: func(_ context.Context, e *events.ActionSent[modelDoc]) {
					if e.Key == "b" {
						<-release
					}
				},
				ActionCompleted: func(context.Context, *events.ActionCompleted[modelDoc]) { completed++ },
				ActionFailed: func(_ context.Context, e *events.ActionFailed[modelDoc]) {
					if e.Unknown {
						unknown++
					}
				},
			}})
			require.NoError(t, err)
			require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
			synctest.Wait()
			require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "b"}))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			require.Error(t, sender.Close(ctx))
			close(release)
			synctest.Wait()
			assert.Zero(t, completed, "Close has said that nobody knows")
			assert.EqualValues(t, 2, sender.Stats().Unsent)
			assert.GreaterOrEqual(t, unknown, 1)
		})
	}
}
