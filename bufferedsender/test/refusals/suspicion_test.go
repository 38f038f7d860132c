package refusals

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// A stream waits until the index is repaired. A call that waits for its own documents must return with the reason.
func TestACallOfWhichTheServiceRefusesEverythingEndsAndSaysWhy(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for _, bad := range []int{5, 20, 21, 200, 2000} {
			t.Run(fmt.Sprintf("%d documents, whole requests %v", bad, whole), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, sendertest.WithBreaker(t))
					r.Respond(refusesPoison(whole))
					results, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("poison", bad)), nil)
					t.Log(r.Now(), len(r.Requests()))
					assert.LessOrEqual(t, r.Now(), 15*time.Second)
					var failed *bufferedsender.WaitError
					require.ErrorAs(t, err, &failed)
					assert.Equal(t, bad, failed.Failed+failed.Withdrawn)
					assert.Len(t, results, bad)
					if bad > 20 {
						require.ErrorIs(t, failed.Err, bufferedsender.ErrCircuitOpen)
						assert.ErrorContains(t, failed.Err, "the index may be the cause")
						assert.LessOrEqual(t, failed.Failed, 20, "the index may be at fault")
					}
					_ = r.Flush()
					assert.Zero(t, r.Sender.Stats().PendingActions)

					began := r.Now()
					_, err = r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("poison", bad)), nil)
					require.ErrorAs(t, err, &failed)
					assert.LessOrEqual(t, r.Now()-began, 2*time.Minute, "the next action finds the breaker open")
					_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
				})
			})
		}
	}
}

// A document that arrives while the index is suspected is independent of the refused ones: it is tried at once, and
// if it is applied the others are the cause.
func TestADocumentThatComesInWhileTheIndexIsSuspectedIsTriedAtOnce(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for name, classes := range map[string][2]models.Class{
			"one class": {models.ClassExpedited, models.ClassExpedited}, "a less urgent class": {models.ClassExpedited, models.ClassBestEffort},
			"a more urgent class": {models.ClassBestEffort, models.ClassExpedited},
		} {
			t.Run(fmt.Sprintf("%s, whole requests %v", name, whole), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, sendertest.WithBreaker(t))
					r.Respond(refusesPoison(whole))
					require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), classes[0]), sendertest.Hotels("poison", 200)...))
					time.Sleep(10 * time.Minute)
					assert.LessOrEqual(t, r.Sender.Stats().Failed, int64(20))
					began := r.Now()
					_, err := r.Sender.IndexDocumentsAndWait(models.WithClass(t.Context(), classes[1]), sendertest.Uploads([]sendertest.Hotel{{ID: "live"}}), nil)
					require.NoError(t, err)
					assert.LessOrEqual(t, r.Now()-began, time.Second)
					assert.Equal(t, 200, sendertest.FlushFailures(t, r.Flush()))
				})
			})
		}
	}
}

// The index lacks a property. Documents with it are set apart, and a call that waits for them returns with the
// reason, while others are applied. A call after the repair of the index does not give up.
func TestACallOfWhichAllThatIsLeftIsHeldApartEndsAndSaysWhy(t *testing.T) {
	for _, bad := range []int{21, 200, 2000} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Limits.MaxBatchActions = 100
				r := sendertest.New(t, opts)
				mended := time.Hour
				r.Respond(sendertest.LackingUntil(func() bool { return r.Now() >= mended }))
				docs := append(sendertest.Hotels("new", bad), sendertest.RoomlessHotels("old", 300)...)
				_, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(docs), nil)
				assert.LessOrEqual(t, r.Now(), 15*time.Second)
				var failed *bufferedsender.WaitError
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, bad, failed.Failed+failed.Withdrawn, "the other documents are indexed")
				assert.LessOrEqual(t, failed.Failed, 21)
				assert.Zero(t, failed.Unknown)
				require.ErrorIs(t, failed.Err, bufferedsender.ErrCircuitOpen)
				assert.ErrorContains(t, failed.Err, "'rooms'")

				r.Upload(sendertest.Hotels("new-stream", 200)...)
				time.Sleep(time.Minute)
				began := r.Now()
				_, err = r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("new", bad)), nil)
				require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
				assert.LessOrEqual(t, r.Now()-began, 2*time.Second, "sending resumes with the next probe")

				mended = r.Now()
				_, err = r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(sendertest.Hotels("new", bad)), nil)
				require.NoError(t, err)
				_ = r.Flush()
				assert.Zero(t, r.Sender.Stats().PendingActions)
			})
		})
	}
}

// A call that also waits for other documents continues, and a probe withdraws nothing of it.
func TestACallOfWhichAPartIsHeldApartWaitsForTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mended, free = 2 * time.Minute, 3 * time.Minute // the next probe of the index comes in between
		opts := sendertest.WithBreaker(t)
		opts.Retry.MaxRetries = 1000
		r := sendertest.New(t, opts)
		lacking := sendertest.LackingUntil(func() bool { return r.Now() >= mended })
		busy := func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			return sendertest.Results(func(rs []sendertest.WireResult) []sendertest.WireResult {
				if i := slices.Index(x.Keys, "busy"); i >= 0 && r.Now() < free {
					rs[i]["status"], rs[i]["statusCode"] = false, 503
				}
				return rs
			})(n, x, req, next)
		}
		r.Respond(func(n int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			return lacking(n, x, req, func() (*http.Response, error) { return busy(n, x, req, next) })
		})
		_, err := r.Sender.IndexDocumentsAndWait(t.Context(), sendertest.Uploads(append(sendertest.Hotels("new", 60), sendertest.Hotel{ID: "busy"})), nil)
		var failed *bufferedsender.WaitError
		require.ErrorAs(t, err, &failed)
		require.NoError(t, failed.Err)
		assert.LessOrEqual(t, failed.Failed, 21)
		assert.Zero(t, failed.Withdrawn+failed.Unknown)
		assert.GreaterOrEqual(t, r.Now(), free)
	})
}

// The index is rarely probed for documents set apart, for any number of them.
func TestTheIndexIsAskedSeldomForWhatIsHeldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.AutoFlushInterval = time.Second
		r := sendertest.New(t, opts)
		r.Respond(sendertest.LackingUntil(func() bool { return false }))
		r.Upload(append(sendertest.Hotels("new", 200), sendertest.RoomlessHotels("old", 20)...)...)
		time.Sleep(time.Minute)
		before := len(r.Requests())
		for i := range 6000 { // ten minutes
			r.Upload(sendertest.Hotel{ID: fmt.Sprint("new-stream-", i)})
			time.Sleep(100 * time.Millisecond)
		}
		coming := len(r.Requests()) - before
		assert.LessOrEqual(t, coming, 200)
		time.Sleep(time.Hour)
		idle := len(r.Requests()) - before - coming
		assert.LessOrEqual(t, idle, 240)
		assert.GreaterOrEqual(t, idle, 60, "the key is probed, or a repair of the index would go undetected")
		_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
	})
}
