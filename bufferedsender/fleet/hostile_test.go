package fleet

import (
	"context"
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Drop in a handler of the index itself.
func TestADropThatIsRefusedInAHandlerChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, nil)
		first := true
		var dropErr error
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{Handlers: events.Handlers[hotel]{
			ActionCompleted: func(ctx context.Context, _ *events.ActionCompleted[hotel]) {
				if first {
					first = false
					dropErr = f.Drop(ctx, "a")
				}
			}}})
		upload(t, a, 1)
		_ = a.Flush(sendertest.Within(t, time.Minute), nil)
		require.ErrorIs(t, dropErr, bufferedsender.ErrInCallback)
		assert.Equal(t, []string{"a"}, f.Indexes())
		err := a.UploadDocuments(sendertest.Within(t, time.Minute), sendertest.Hotels("x", 1)...)
		assert.NoError(t, err, "add after a Drop that was refused with ErrInCallback")
		err = a.Flush(sendertest.Within(t, time.Hour), nil)
		assert.NoError(t, err, "flush after a Drop that was refused")
		_ = a.Close(sendertest.Within(t, time.Second))
	})
}

// PurgeAll in handlers of two indexes at the same time.
func TestPurgeAllInTwoHandlersEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.answers(sendertest.StatusError(503), "a", "b")
		set, err := hints.NewMemory(nil)
		require.NoError(t, err)
		f := newFleet(t, s, &Options{Hints: set, Breaker: steady()})
		back := make(chan string, 2)
		opts := func(name string) *bufferedsender.Options[hotel] {
			once := true
			return &bufferedsender.Options[hotel]{Outage: bufferedsender.Hold{OnPurged: func(context.Context, []string) {
				if once {
					once = false
					time.Sleep(time.Second)
					f.PurgeAll(sendertest.Within(t, time.Minute))
					back <- name
				}
			}}}
		}
		a, b := senderOf(t, f, "a", opts("a")), senderOf(t, f, "b", opts("b"))
		upload(t, a, 5)
		upload(t, b, 5)
		time.Sleep(2 * time.Minute)
		require.Len(t, f.sick(), 2)
		go a.Purge(context.Background(), 0)
		go b.Purge(context.Background(), 0)
		for range 2 {
			select {
			case <-back:
			case <-time.After(time.Hour):
				t.Error("PurgeAll in a handler has not returned within an hour")
			}
		}
	})
}

// A handler of one sender keeps the probe of the service.
func TestAHandlerOfOneIndexDoesNotKeepTheProbeOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.takes = time.Second
		s.answers(sendertest.StatusError(400), "a")
		f := newFleet(t, s, nil)
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{Outage: bufferedsender.Hold{OnPurged: func(context.Context, []string) { time.Sleep(time.Hour) }}})
		b := senderOf(t, f, "b", nil)
		p, err := f.Breaker().Allow()
		require.NoError(t, err)
		p.Done(breaker.Result{Outcome: breaker.Trip})
		upload(t, a, 5)
		go func() { _ = a.Flush(sendertest.Within(t, 3*time.Hour), nil) }()
		for f.Breaker().Status().Probe.IsZero() {
			time.Sleep(10 * time.Millisecond)
		}
		go a.Purge(context.Background(), 0)
		synctest.Wait()
		upload(t, b, 1)
		began := time.Now()
		_ = b.Flush(sendertest.Within(t, 2*time.Hour), nil)
		assert.Less(t, time.Since(began), time.Minute, "b waits for a handler of a")
		s.answers(nil, "a")
		time.Sleep(2 * time.Hour) // the handler ends
	})
}

// Two sick indexes and one that is well and adds one document now and then.
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
		assert.LessOrEqual(t, slow, 1, "the first, after two minutes of silence, may have to try whether the service works")
	})
}

// Close while an Indexer hangs.
type hanging struct{ *service }

func (h hanging) Indexer(index string) (bufferedsender.Indexer, error) {
	if index == "hangs" {
		time.Sleep(time.Hour)
	}
	return h.service.Indexer(index)
}

func TestCloseDoesNotWaitForAClientThatIsBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, hanging{newService()}, nil)
		go func() { _, _ = f.Raw("hangs") }()
		synctest.Wait()
		began := time.Now()
		_ = f.Close(sendertest.Within(t, time.Second))
		assert.Less(t, time.Since(began), time.Minute)
		time.Sleep(2 * time.Hour)
		assert.Zero(t, f.pool.Stats().Members, "whoever has made the sender has closed it")
	})
}

// BestEffort has slots, Expedited has none and waits.
func TestALessUrgentClassIsSeenWhileAnotherWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		f := newFleet(t, s, &Options{Pool: &pool.Options{Expedited: 1, Shared: 2}})
		other, err := f.Pool().Join("other")
		require.NoError(t, err)
		seat := other.Seat(func() {})
		slot, ok, err := seat.Ask(models.ClassExpedited, 1)
		require.True(t, ok)
		require.NoError(t, err)
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{AutoFlushInterval: time.Second})
		upload(t, a, 1)
		time.Sleep(10 * time.Second) // it waits for a slot
		ctx := models.WithClass(sendertest.Within(t, time.Hour), models.ClassBestEffort)
		require.NoError(t, a.UploadDocuments(ctx, sendertest.Hotels("low", 3)...))
		began := time.Now()
		for s.requests("a") == 0 && time.Since(began) < 10*time.Minute {
			time.Sleep(100 * time.Millisecond)
		}
		assert.Less(t, time.Since(began), 5*time.Second, "the interval is one second, and BestEffort has two free slots")
		slot.Release()
	})
}

// A slot in hand while a handler runs. The reader stands for a prepare that takes a while.
type slowRand struct{ n int }

func (r *slowRand) Read(b []byte) (int, error) {
	if r.n++; r.n == 2 {
		time.Sleep(2 * time.Second)
	}
	return rand.Read(b)
}

func TestASlotInHandIsGivenBackWhileAHandlerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uuid.SetRand(&slowRand{})
		defer uuid.SetRand(nil)
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

// What was accepted is lost, and Close says nil.
func TestCloseAfterARefusedDropLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newService(), nil)
		once := true
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Handlers: events.Handlers[hotel]{
			ActionCompleted: func(ctx context.Context, _ *events.ActionCompleted[hotel]) {
				if once {
					once = false
					_ = f.Drop(ctx, "a") // refused
				}
			}}})
		upload(t, a, 5)
		time.Sleep(time.Minute)
		err := f.Close(sendertest.Within(t, time.Hour))
		assert.False(t, err == nil && a.Stats().PendingActions > 0, "Close says nil and %d accepted actions were left", a.Stats().PendingActions)
		_ = a.Close(sendertest.Within(t, time.Second))
	})
}
