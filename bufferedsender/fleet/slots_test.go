package fleet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// Two failing indexes, and a healthy one that adds an occasional document.
func TestTwoSickIndexesDoNotDelayOneThatIsIdleForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.answers(sendertest.StatusError(503), "a", "b")
		f := newFleet(t, s, nil)
		a, b, c := senderOf(t, f, "a", nil), senderOf(t, f, "b", nil), senderOf(t, f, "c", nil)
		upload(t, a, 5)
		upload(t, b, 5)
		time.Sleep(2 * time.Minute)
		slow := 0
		for i := range 300 {
			time.Sleep(time.Duration(1000+i*7) * time.Millisecond)
			began := time.Now()
			upload(t, c, 1)
			_ = c.Flush(sendertest.Within(t, time.Minute), nil)
			if d := time.Since(began); d > 100*time.Millisecond {
				slow++
			}
		}
		assert.LessOrEqual(t, slow, 1, "after two minutes of silence the first request may be a probe of the service")
	})
}

// BestEffort has free slots, while Expedited has none and waits.
func TestALessUrgentClassIsSeenWhileAnotherWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, &Options{Pool: &pool.Options{Expedited: 1, Shared: 2}})
		other, err := f.Pool().Join("other")
		require.NoError(t, err)
		ended := make(chan struct{})
		go func() {
			_ = other.Do(t.Context(), models.ClassExpedited, func(context.Context) error { <-ended; return nil })
		}()
		synctest.Wait()
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{AutoFlushInterval: time.Second})
		upload(t, a, 1)
		time.Sleep(10 * time.Second) // the Expedited document waits for a slot
		ctx := models.WithClass(sendertest.Within(t, time.Hour), models.ClassBestEffort)
		require.NoError(t, a.UploadDocuments(ctx, sendertest.Hotels("low", 3)...))
		began := time.Now()
		for s.requests("a") == 0 && time.Since(began) < 10*time.Minute {
			time.Sleep(100 * time.Millisecond)
		}
		assert.Less(t, time.Since(began), 5*time.Second, "slots renew after one second, and BestEffort has two free slots")
		close(ended)
	})
}

func TestASlotInHandIsGivenBackWhileAHandlerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uuid.SetRand(&slowRand{})
		t.Cleanup(func() { uuid.SetRand(nil) }) // after the fleet is closed
		s := newService()
		s.takes = time.Second
		f := newFleet(t, s, &Options{Pool: &pool.Options{Expedited: 2, Shared: 2}})
		once := true
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: 2}, Handlers: events.Handlers[hotel]{
			ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) {
				if once {
					once = false
					time.Sleep(time.Hour)
				}
			}}})
		upload(t, a, 10)
		time.Sleep(10 * time.Minute)
		assert.Zero(t, f.Pool().Stats().Classes[models.ClassExpedited].InUse, "slots in use while a handler runs and no request is under way")
		time.Sleep(2 * time.Hour)
	})
}
