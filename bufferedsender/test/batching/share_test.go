package batching

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
)

// member joins a pool.
func member(t *testing.T, p *pool.Pool, name string) *pool.Member {
	t.Helper()
	m, err := p.Join(name)
	require.NoError(t, err)
	return m
}

func newPool(t *testing.T, s pool.Options) *pool.Pool {
	t.Helper()
	p, err := pool.New(&s)
	require.NoError(t, err)
	return p
}

// busyService delays its replies and records the order of requests.
type busyService struct {
	takes time.Duration

	mu    sync.Mutex
	open  int
	most  int
	order []string
}

func (s *busyService) indexer(name string) *sendertest.Indexer {
	return &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		s.mu.Lock()
		s.open++
		s.most = max(s.most, s.open)
		s.order = append(s.order, name)
		s.mu.Unlock()
		select {
		case <-time.After(s.takes):
		case <-ctx.Done():
		}
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
		return sendertest.AcceptAll(ctx, body)
	}}
}

func (s *busyService) served() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.order...)
}

// A sender with a handler between turn and request takes its slot in another way.
func withAndWithoutHandler(t *testing.T, test func(t *testing.T, handlers events.Handlers[sendertest.Hotel])) {
	t.Helper()
	for name, h := range map[string]events.Handlers[sendertest.Hotel]{
		"no handler": {},
		"a handler":  {ActionSent: func(context.Context, *events.ActionSent[sendertest.Hotel]) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, h) })
		})
	}
}

func sharing(t *testing.T, s *busyService, p *pool.Pool, name string, opts bufferedsender.Options[sendertest.Hotel]) *bufferedsender.BufferedSender[sendertest.Hotel] {
	t.Helper()
	opts.Share, opts.Logger = member(t, p, name), sendertest.NoLog
	sender, err := bufferedsender.New(s.indexer(name), &opts)
	require.NoError(t, err)
	sendertest.CloseAtEnd(t, sender)
	return sender
}

func TestSendersOfAPoolHaveAsManyRequestsAsItHasSlotsAndTurns(t *testing.T) {
	withAndWithoutHandler(t, func(t *testing.T, h events.Handlers[sendertest.Hotel]) {
		s, p := &busyService{takes: 500 * time.Millisecond}, newPool(t, pool.Options{Expedited: 2})
		var all []*bufferedsender.BufferedSender[sendertest.Hotel]
		for i := range 4 {
			sender := sharing(t, s, p, fmt.Sprint(i), bufferedsender.Options[sendertest.Hotel]{
				Handlers: h, Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 8},
			})
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 100)...))
			all = append(all, sender)
		}
		for _, sender := range all {
			require.NoError(t, sender.Flush(sendertest.Within(t, time.Hour), nil))
			assert.EqualValues(t, 100, sender.Stats().Completed)
		}
		assert.Equal(t, 2, s.most)
		order := s.served()
		require.Len(t, order, 40)
		had := map[string]int{}
		for _, name := range order[:32] {
			had[name]++
		}
		for name, n := range had { // a sender whose handler runs at its turn gets the next one
			assert.InDelta(t, 8, n, 2, "the first 32 requests of sender %s in %v", name, order)
		}
		for from := 8; from < 32 && h.ActionSent == nil; from += 4 { // each has its turn
			assert.ElementsMatch(t, []string{"0", "1", "2", "3"}, order[from:from+4], "requests from %d on of %v", from, order)
		}
		stats := p.Stats().Classes[models.ClassExpedited]
		assert.EqualValues(t, 40, stats.Ended, "a slot is one request")
		assert.Zero(t, stats.InUse+stats.Waiting)
	})
}

// One document passes a backfill of its own index, although the sender may have only one request in flight.
func TestAnExpeditedDocumentGoesPastABackfillOfItsIndex(t *testing.T) {
	withAndWithoutHandler(t, func(t *testing.T, h events.Handlers[sendertest.Hotel]) {
		s, p := &busyService{takes: time.Second}, newPool(t, pool.Options{Expedited: 1, Shared: 1})
		sender := sharing(t, s, p, "hotels", bufferedsender.Options[sendertest.Hotel]{
			Handlers: h, Class: models.ClassBestEffort, Limits: bufferedsender.Limits{MaxBatchActions: 10}, AutoFlushInterval: 10 * time.Millisecond,
		})
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotels("old", 1000)...))
		time.Sleep(10500 * time.Millisecond)
		began := time.Now()
		var took time.Duration
		live := models.UploadAction(sendertest.Hotels("live", 1)[0])
		live.OnOutcome = func(models.Outcome) { took = time.Since(began) }
		require.NoError(t, sender.IndexDocuments(models.WithClass(t.Context(), models.ClassExpedited), live))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, 1010*time.Millisecond, took, "as fast as without a backfill")
		require.NoError(t, sender.Flush(sendertest.Within(t, time.Hour), nil))
		assert.Len(t, s.served(), 101)
		assert.Equal(t, 2, s.most)
	})
}

// The document waits for an older action of its key, which takes the document's class.
func TestAnExpeditedDocumentKeepsTheOrderOfItsKey(t *testing.T) {
	withAndWithoutHandler(t, func(t *testing.T, h events.Handlers[sendertest.Hotel]) {
		s, p := &busyService{takes: time.Second}, newPool(t, pool.Options{Expedited: 1, Shared: 1})
		sender := sharing(t, s, p, "hotels", bufferedsender.Options[sendertest.Hotel]{
			Handlers: h, Class: models.ClassBestEffort, Limits: bufferedsender.Limits{MaxBatchActions: 10}, AutoFlushInterval: 10 * time.Millisecond,
		})
		ends := make(chan string, 3)
		add := func(ctx context.Context, key string, tag string) {
			action := models.UploadAction(sendertest.Hotel{ID: key})
			if key == "k99" {
				action.OnOutcome = func(models.Outcome) { ends <- tag }
			}
			require.NoError(t, sender.IndexDocuments(ctx, action))
		}
		for i := range 100 {
			add(t.Context(), fmt.Sprint("k", i), "old")
		}
		add(t.Context(), "k99", "before")
		began := time.Now()
		add(models.WithClass(t.Context(), models.ClassExpedited), "k99", "live")
		order := []string{<-ends, <-ends, <-ends}
		assert.Less(t, time.Since(began), 5*time.Second, "the action waits for three requests, not for eleven")
		assert.Equal(t, []string{"old", "before", "live"}, order)
	})
}

func TestNobodyElseWaitsForASenderThatWaits(t *testing.T) {
	for name, hold := range map[string]struct {
		service func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error)
		sent    func()
		paused  bool
	}{
		"a sender whose breaker is open": {service: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, sendertest.StatusError(http.StatusForbidden)
		}},
		"a paused sender":                         {service: sendertest.AcceptAll, paused: true},
		"a sender whose ActionSent takes an hour": {service: sendertest.AcceptAll, sent: func() { time.Sleep(time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := &busyService{takes: time.Second}, newPool(t, pool.Options{Expedited: 1})
				opts := &bufferedsender.Options[sendertest.Hotel]{Share: member(t, p, "sick"), Logger: sendertest.NoLog, AutoFlushInterval: time.Second}
				if hold.sent != nil {
					opts.Handlers.ActionSent = func(context.Context, *events.ActionSent[sendertest.Hotel]) { hold.sent() }
				}
				sick, err := bufferedsender.New(&sendertest.Indexer{Index: hold.service}, opts)
				require.NoError(t, err)
				if hold.paused {
					sick.Pause()
				}
				require.NoError(t, sick.UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
				time.Sleep(2 * time.Second)
				synctest.Wait()
				assert.Zero(t, p.Stats().Classes[models.ClassExpedited].InUse)
				assert.Zero(t, p.Stats().Classes[models.ClassExpedited].Waiting)

				sound := sharing(t, s, p, "sound", bufferedsender.Options[sendertest.Hotel]{})
				require.NoError(t, sound.UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
				began := time.Now()
				require.NoError(t, sound.Flush(sendertest.Within(t, time.Hour), nil))
				assert.Equal(t, time.Second, time.Since(began))
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_ = sick.Close(ctx)
				time.Sleep(2 * time.Hour) // end of the handler
				synctest.Wait()
			})
		})
	}
}

// Two senders with handlers want the one slot all the time. Both must continue.
func TestASenderWithAHandlerIsNotPassedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := &busyService{takes: time.Second}, newPool(t, pool.Options{Expedited: 1})
		slow := events.Handlers[sendertest.Hotel]{ActionSent: func(context.Context, *events.ActionSent[sendertest.Hotel]) { time.Sleep(300 * time.Millisecond) }}
		fast := sharing(t, s, p, "fast", bufferedsender.Options[sendertest.Hotel]{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 4}})
		slower := sharing(t, s, p, "slow", bufferedsender.Options[sendertest.Hotel]{Handlers: slow, Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 4}})
		require.NoError(t, fast.UploadDocuments(t.Context(), sendertest.Hotels("k", 100)...))
		require.NoError(t, slower.UploadDocuments(t.Context(), sendertest.Hotels("k", 20)...))
		require.NoError(t, slower.Flush(sendertest.Within(t, time.Hour), nil))
		assert.LessOrEqual(t, len(s.served()), 70, "every third request is its own; a turn during its handler goes to the other sender")
		assert.EqualValues(t, 20, slower.Stats().Requests)
	})
}

func TestASenderSaysThatItWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, pool.Options{Expedited: 1})
		r := sendertest.New(t, &sendertest.Options{Share: member(t, p, "hotels"), AutoFlushInterval: time.Second})
		release := make(chan struct{})
		go func() {
			assert.NoError(t, member(t, p, "export").Do(t.Context(), models.ClassExpedited, func(context.Context) error { <-release; return nil }))
		}()
		synctest.Wait()
		r.Upload(sendertest.Hotels("k", 1)...)
		time.Sleep(time.Minute)
		assert.Equal(t, events.HealthStateWaitingForSlot, r.Sender.Health().State)
		assert.NoError(t, r.Sender.Health().Err)
		close(release)
		require.NoError(t, r.Flush())
		assert.Equal(t, events.HealthStateHealthy, r.Sender.Health().State)
		assert.Equal(t, time.Minute-time.Second, p.Stats().Classes[models.ClassExpedited].QueueTime)
	})
}

func TestASenderOfAPoolThatWasShutDownSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, pool.Options{})
		r := sendertest.New(t, &sendertest.Options{Share: member(t, p, "hotels")})
		require.NoError(t, p.Shutdown(t.Context()))
		r.Upload(sendertest.Hotels("k", 1)...)
		require.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil), pool.ErrShutdown)
		require.ErrorIs(t, r.Sender.Health().Err, pool.ErrShutdown)
		closed := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second)))
		assert.EqualValues(t, 1, closed.Unsent)
	})
}

func TestAnUnknownClassIsServedAsExpeditedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, pool.Options{})
		r := sendertest.New(t, &sendertest.Options{Share: member(t, p, "hotels")})
		require.NoError(t, r.Sender.UploadDocuments(models.WithClass(t.Context(), 9), sendertest.Hotels("k", 3)...))
		require.NoError(t, r.Flush())
		assert.EqualValues(t, 1, p.Stats().Fallbacks)
		assert.EqualValues(t, 1, p.Stats().Classes[models.ClassExpedited].Ended)
	})
	_, err := bufferedsender.New(&sendertest.Indexer{}, &bufferedsender.Options[sendertest.Hotel]{Class: 9})
	assert.ErrorContains(t, err, "there is no class 9")
}

// The buffers of senders have a common bound. A failing sender keeps its floor, and takes nothing that the others
// need.
func TestASickSenderKeepsItsFloorAndTheOthersGoOn(t *testing.T) {
	withAndWithoutHandler(t, func(t *testing.T, h events.Handlers[sendertest.Hotel]) {
		s, p := &busyService{takes: time.Second}, newPool(t, pool.Options{Expedited: 2, BufferedActions: 100, FloorActions: 10})
		opts := bufferedsender.Options[sendertest.Hotel]{Handlers: h, Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 8}}
		down := false
		sickOpts := opts
		sickOpts.Share, sickOpts.Logger = member(t, p, "sick"), sendertest.NoLog
		sick, err := bufferedsender.New(&sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			if down {
				return models.IndexDocumentsResult{}, sendertest.StatusError(http.StatusForbidden)
			}
			return sendertest.AcceptAll(ctx, body)
		}}, &sickOpts)
		require.NoError(t, err)
		require.NoError(t, sick.UploadDocuments(t.Context(), sendertest.Hotels("k", 200)...)) // it has returned what it borrowed
		require.NoError(t, sick.Flush(t.Context(), nil))
		down = true
		require.NoError(t, sick.UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
		require.Error(t, sick.Flush(sendertest.Within(t, time.Second), nil))
		blocked := sendertest.Later(func() error { return sick.UploadDocuments(t.Context(), sendertest.Hotels("k", 300)...) })
		synctest.Wait()
		assert.Equal(t, 10, sick.Stats().PendingActions, "the failing sender keeps its floor")

		began := time.Now()
		sound := sharing(t, s, p, "sound", opts)
		require.NoError(t, sound.UploadDocuments(t.Context(), sendertest.Hotels("k", 200)...))
		require.NoError(t, sound.Flush(sendertest.Within(t, time.Hour), nil))
		assert.Equal(t, 11*time.Second, time.Since(began), "200 documents, 10 per request, two at a time after it has returned its loans")
		sendertest.StillRunning(t, blocked, "the failing sender")

		down = false
		sick.Breaker().Reset()
		require.NoError(t, <-blocked)
		require.NoError(t, sick.Flush(sendertest.Within(t, time.Hour), nil))
		require.NoError(t, sick.Close(t.Context()))
		synctest.Wait()
		assert.Zero(t, p.Stats().WaitingForRoom)
	})
}

// A suspended sender with an overload policy does not wait for room used by others: it purges its own documents.
func TestASickSenderPurgesItsOwnFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, pool.Options{BufferedActions: 100, FloorActions: 10})
		var purged, also []string
		r := sendertest.New(t, &sendertest.Options{
			Share: member(t, p, "hotels"),
			Outage: bufferedsender.Hold{
				Breaker:  sendertest.SteadyBreaker(t, nil),
				WhenFull: bufferedsender.PurgeOldest(func(_ context.Context, keys []string) { purged = append(purged, keys...) }),
				OnPurged: func(_ context.Context, keys []string) { also = append(also, keys...) },
			},
		})
		r.Respond(sendertest.Always(http.StatusForbidden, ""))
		r.Upload(sendertest.Hotels("first", 1)...)
		require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil))
		r.Upload(sendertest.Hotels("k", 12)...)
		synctest.Wait()
		assert.Equal(t, 10, r.Sender.Stats().PendingActions)
		assert.Equal(t, []string{"first-0", "k-0", "k-1"}, purged)
		assert.Equal(t, purged, also)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, r.Sender.Close(ctx))
	})
}

// When the sender gets a slot, its handler is running for a request of another class.
func TestASlotIsNotKeptForASenderWhoseHandlerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := &busyService{takes: time.Second}, newPool(t, pool.Options{Expedited: 1, Shared: 1})
		slow := events.Handlers[sendertest.Hotel]{ActionSent: func(context.Context, *events.ActionSent[sendertest.Hotel]) { time.Sleep(time.Hour) }}
		first := sharing(t, s, p, "first", bufferedsender.Options[sendertest.Hotel]{})
		slower := sharing(t, s, p, "slow", bufferedsender.Options[sendertest.Hotel]{Handlers: slow, AutoFlushInterval: 10 * time.Millisecond})
		sound := sharing(t, s, p, "sound", bufferedsender.Options[sendertest.Hotel]{})
		require.NoError(t, first.UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
		flushed := sendertest.Later(func() error { return first.Flush(sendertest.Within(t, time.Hour), nil) })
		synctest.Wait()
		require.NoError(t, slower.UploadDocuments(t.Context(), sendertest.Hotels("live", 1)...))
		require.NoError(t, slower.UploadDocuments(models.WithClass(t.Context(), models.ClassBestEffort), sendertest.Hotels("old", 1)...))
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, <-flushed)
		synctest.Wait()
		began := time.Now()
		require.NoError(t, sound.UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
		require.NoError(t, sound.Flush(sendertest.Within(t, 2*time.Hour), nil))
		assert.Equal(t, time.Second, time.Since(began))
		time.Sleep(3 * time.Hour)
	})
}
