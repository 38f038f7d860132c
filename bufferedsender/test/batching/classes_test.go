package batching

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

func ofClass(t *testing.T, c models.Class) context.Context {
	t.Helper()
	return models.WithClass(t.Context(), c)
}

func TestSteadyUrgentTrafficLeavesTurnsToTheOtherClasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBufferedActions: 400, MaxInFlight: 1}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 0.1 }))
		ctx, stop := context.WithCancel(ofClass(t, models.ClassExpedited))
		ended := sendertest.Later(func() (err error) {
			for i := 0; err == nil; i++ { // always more than the service takes
				err = r.Sender.UploadDocuments(ctx, sendertest.Hotels(fmt.Sprint("urgent-", i), 100)...)
			}
			return err
		})
		time.Sleep(time.Second)
		since, before := r.Now(), len(r.Requests())
		require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassBestEffort), sendertest.Hotels("backfill", 100)...))
		require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassAssured1), sendertest.Hotels("middle", 100)...))
		keys := slices.Concat(sendertest.IDs(sendertest.Hotels("backfill", 100)), sendertest.IDs(sendertest.Hotels("middle", 100)))
		require.NoError(t, r.Sender.Flush(t.Context(), &bufferedsender.FlushOptions{Keys: keys}))
		assert.LessOrEqual(t, r.Now()-since, 12*time.Second, "a quarter of 100 documents a second, for 200")
		others := 0
		for _, x := range r.Requests()[before:] {
			if !strings.HasPrefix(x.Keys[0], "urgent") {
				others++
			}
		}
		assert.InDelta(t, float64(len(r.Requests())-before)/4, others, 3)
		stop()
		require.Error(t, <-ended)
	})
}

func TestTheLeastUrgentIsPurgedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := sendertest.New(t, &sendertest.Options{
			Limits:   bufferedsender.Limits{MaxBatchActions: 4, MaxBufferedActions: 8, MaxInFlight: 1},
			Outage:   bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(l.OnPurged)},
			Retry:    sendertest.RetryAtOnce,
			Handlers: l.Handlers(),
		})
		r.OpenBreaker(sendertest.Hotels("urgent", 4)...)
		require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassBestEffort), sendertest.Hotels("least", 2)...))
		require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassAssured1), sendertest.Hotel{ID: "middle-0"}))
		synctest.Wait()
		require.Empty(t, l.Purged())
		// An urgent action purges the least urgent class first, and then the next one.
		require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassExpedited), sendertest.Hotels("new", 3)...))
		synctest.Wait()
		assert.Equal(t, []string{"least-0", "least-1"}, l.Purged())
		require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassExpedited), sendertest.Hotel{ID: "new-3"}))
		synctest.Wait()
		assert.Equal(t, []string{"least-0", "least-1", "middle-0"}, l.Purged())
		// A call of the least urgent class purges nothing more urgent.
		err := r.Sender.UploadDocuments(models.WithClass(sendertest.Within(t, time.Second), models.ClassBestEffort), sendertest.Hotel{ID: "backfill"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, l.Purged(), 3)
		// Urgent actions purge each other.
		require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassExpedited), sendertest.Hotel{ID: "new-4"}))
		synctest.Wait()
		assert.Equal(t, []string{"least-0", "least-1", "middle-0", "urgent-0"}, l.Purged())
		r.Respond(nil)
		require.Error(t, r.Flush())
	})
}

func TestABackfillDoesNotHaveUrgentDocumentsPurged(t *testing.T) {
	for name, policy := range map[string]func(func(context.Context, []string)) bufferedsender.WhenFull{
		"oldest": bufferedsender.PurgeOldest, "all": bufferedsender.PurgeAll,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				r := sendertest.New(t, &sendertest.Options{
					Limits:   bufferedsender.Limits{MaxBatchActions: 50, MaxBufferedActions: 100},
					Outage:   bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: policy(l.OnPurged)},
					Retry:    sendertest.RetryAtOnce,
					Handlers: l.Handlers(),
				})
				r.OpenBreaker(sendertest.Hotels("urgent", 50)...)
				for i := range 20 {
					require.NoError(t, r.Sender.UploadDocuments(ofClass(t, models.ClassBestEffort), sendertest.Hotels(fmt.Sprint("backfill-", i), 10)...))
				}
				synctest.Wait()
				assert.NotEmpty(t, l.Purged())
				for _, key := range l.Purged() {
					assert.NotContains(t, key, "urgent")
				}
				r.Respond(nil)
				require.Error(t, r.Flush())
				for _, key := range sendertest.IDs(sendertest.Hotels("urgent", 50)) {
					assert.Contains(t, r.Indexed(), key)
				}
			})
		})
	}
}
