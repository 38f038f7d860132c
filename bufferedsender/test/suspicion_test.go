package test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stream waits until somebody mends the index. A call that waits for its documents has nothing
// to wait for.
func TestACallOfWhichTheServiceRefusesEverythingEndsAndSaysWhy(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for _, bad := range []int{5, 20, 21, 200, 2000} {
			t.Run(fmt.Sprintf("%d documents, whole requests %v", bad, whole), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, sendertest.WithBreaker(t))
					r.Respond(refusesPoison(whole))
					results, err := r.Sender.IndexDocumentsAndWait(t.Context(), uploads(sendertest.Hotels("poison", bad)), nil)
					t.Log(r.Now(), len(r.Requests()))
					assert.LessOrEqual(t, r.Now(), 15*time.Second)
					var failed *bufferedsender.WaitError
					require.ErrorAs(t, err, &failed)
					assert.Equal(t, bad, failed.Failed+failed.Withdrawn)
					assert.Len(t, results, bad)
					if bad > 20 {
						require.ErrorIs(t, failed.Err, bufferedsender.ErrCircuitOpen)
						assert.ErrorContains(t, failed.Err, "the index may be the cause")
						assert.LessOrEqual(t, failed.Failed, 20, "it may be the index")
					}
					_ = r.Flush()
					assert.Zero(t, r.Sender.Stats().PendingActions)

					began := r.Now()
					_, err = r.Sender.IndexDocumentsAndWait(t.Context(), uploads(sendertest.Hotels("poison", bad)), nil)
					require.ErrorAs(t, err, &failed)
					assert.LessOrEqual(t, r.Now()-began, 2*time.Minute, "the next one finds the breaker open")
					_ = r.Sender.Close(sendertest.Within(t, time.Millisecond))
				})
			})
		}
	}
}

// A document that comes in while the index is suspected has nothing to do with those that were
// refused: it is tried at once, and if it is applied the others are the cause.
func TestADocumentThatComesInWhileTheIndexIsSuspectedIsTriedAtOnce(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for name, classes := range map[string][2]models.Class{
			"one class": {models.ClassExpedited, models.ClassExpedited}, "a less urgent one": {models.ClassExpedited, models.ClassBestEffort},
			"a more urgent one": {models.ClassBestEffort, models.ClassExpedited},
		} {
			t.Run(fmt.Sprintf("%s, whole requests %v", name, whole), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := sendertest.New(t, sendertest.WithBreaker(t))
					r.Respond(refusesPoison(whole))
					require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), classes[0]), sendertest.Hotels("poison", 200)...))
					time.Sleep(10 * time.Minute)
					assert.LessOrEqual(t, r.Sender.Stats().Failed, int64(20))
					began := r.Now()
					_, err := r.Sender.IndexDocumentsAndWait(models.WithClass(t.Context(), classes[1]), uploads([]sendertest.Hotel{{ID: "live"}}), nil)
					require.NoError(t, err)
					assert.LessOrEqual(t, r.Now()-began, time.Second)
					assert.Equal(t, 200, sendertest.FlushFailures(t, r.Flush()))
				})
			})
		}
	}
}
