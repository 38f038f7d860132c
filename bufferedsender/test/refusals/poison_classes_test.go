package refusals

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// completeWithin waits until the given number of actions are completed.
func completeWithin(t *testing.T, r *sendertest.Rig, want int64, d time.Duration) {
	t.Helper()
	for since := r.Now(); r.Sender.Stats().Completed < want && r.Now()-since < d; {
		time.Sleep(100 * time.Millisecond)
	}
	require.Equal(t, want, r.Sender.Stats().Completed, "after %v", r.Now())
}

func TestUrgentDocumentsThatAreRefusedDoNotHoldTheOtherClasses(t *testing.T) {
	for _, whole := range []bool{true, false} {
		t.Run(fmt.Sprint("whole requests ", whole), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, sendertest.WithBreaker(t))
				r.Respond(refusesPoison(whole))
				require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), models.ClassExpedited), sendertest.Hotels("poison", 40)...))
				require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), models.ClassBestEffort), sendertest.Hotels("k", 500)...))
				completeWithin(t, r, 500, 30*time.Second)
				// They may have been sent before the twentieth bad one was refused: then another one is needed.
				for i := 0; r.Sender.Stats().Failed < 40 && i < 300; i++ {
					require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), models.ClassBestEffort), sendertest.Hotel{ID: fmt.Sprint("late-", i)}))
					time.Sleep(time.Second)
				}
				assert.Equal(t, 40, sendertest.FlushFailures(t, r.Flush()))
			})
		})
	}
}

func TestAnUrgentDocumentThatCutsItsConnectionDoesNotHoldTheOtherClassesAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, sendertest.WithBreaker(t))
		r.Respond(sendertest.When(sendertest.Before(20*time.Second), sendertest.Failing))
		require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), models.ClassBestEffort), sendertest.Hotels("k", 500)...))
		time.Sleep(10 * time.Second)
		require.Error(t, r.Sender.Health().Err)
		cuts := sendertest.When(sendertest.Carrying("killer"), sendertest.BreakConnection)
		r.Respond(sendertest.When(sendertest.Before(20*time.Second), sendertest.Failing))
		require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), models.ClassExpedited), sendertest.Hotel{ID: "killer"}))
		time.Sleep(10 * time.Second)
		r.Respond(cuts)
		completeWithin(t, r, 500, time.Minute)
	})
}

// Each bad document that comes is tried at once, as the first proof that the index is not at fault. The good ones that
// wait must be tried too.
func TestBadDocumentsThatKeepComingDoNotHoldTheGoodOnes(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for _, class := range []models.Class{models.ClassExpedited, models.ClassBestEffort} {
			for _, every := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second} {
				for _, n := range []struct{ bad, good, batch int }{{20, 1, 20}, {140, 500, 100}} {
					t.Run(fmt.Sprintf("%v, a bad one every %v, %d good, whole requests %v", class, every, n.good, whole), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							opts := sendertest.WithBreaker(t)
							opts.Limits.MaxBatchActions = n.batch
							r := sendertest.New(t, opts)
							r.Respond(refusesPoison(whole))
							add := func(class models.Class, key string, n int) {
								require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), class), sendertest.Hotels(key, n)...))
							}
							r.Sender.Pause()
							add(models.ClassExpedited, "poison", n.bad)
							add(class, "good", n.good)
							r.Sender.Resume()
							for i := 0; r.Sender.Stats().Completed < int64(n.good) && r.Now() < time.Hour; i++ {
								add(models.ClassExpedited, fmt.Sprint("poison-", i), 1)
								time.Sleep(every)
							}
							t.Log(r.Now(), len(r.Requests()))
							assert.Less(t, r.Now(), 30*time.Second)
							assert.EqualValues(t, n.good, r.Sender.Stats().Completed)
							r.Respond(nil)
							_ = r.Flush()
						})
					})
				}
			}
		}
	}
}
