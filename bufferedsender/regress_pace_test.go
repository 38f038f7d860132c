package bufferedsender_test

import (
	"context"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The handler of the first request is where the sender starts the others from.
func TestWhatAHandlerOfARequestDecidesHoldsForTheNext(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(*bufferedsender.BufferedSender[hotel]) error
		sent   [][]string // before Resume
	}{
		"Pause": {func(s *bufferedsender.BufferedSender[hotel]) error { s.Pause(); return nil }, nil}, // nor does this one leave
		"SetLimits": {func(s *bufferedsender.BufferedSender[hotel]) error {
			_, err := s.SetLimits(bufferedsender.Limits{MaxInFlight: 1, MaxBatchActions: 1})
			return err
		}, [][]string{{"k-0", "k-1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *rig
				var once sync.Once
				opts := hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 8}, DisableAutoFlush: true}
				opts.Handlers.ActionSent = func(context.Context, *events.ActionSent[hotel]) {
					once.Do(func() { assert.NoError(t, c.decide(r.sender)) })
				}
				r = newRig(t, &opts)
				r.respond(seconds(func(int, *exchange) float64 { return 1 }))
				r.upload(hotels("k", 8)...)
				flushed := later(r.flush)
				synctest.Wait()
				assert.Equal(t, c.sent, keysOf(r.requests()), "more started after %s has returned", name)
				assert.EqualValues(t, len(c.sent), r.sender.Stats().Requests)
				r.sender.Resume()
				require.NoError(t, <-flushed)
				for _, e := range r.seen("completed") {
					assert.Equal(t, 1, e.attempt, "what was taken back has used none")
				}
			})
		})
	}
}

func TestThePartsOfARefusedBatchKeepToNewLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 8}})
		r.faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 413})
		r.upload(hotels("k", 8)...)
		synctest.Wait()
		_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: 1})
		require.NoError(t, err)
		require.NoError(t, r.close())
		wire := r.requests()
		require.Len(t, wire, 9)
		for _, x := range wire[1:] {
			assert.Len(t, x.keys, 1)
		}
	})
}

// oneEach is a service that has time for the first document of each request.
type oneEach struct{}

func (oneEach) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
	time.Sleep(2 * time.Second)
	result, err := agree(ctx, body)
	for i := range result.Results {
		if i > 0 {
			result.Results[i].Succeeded, result.Results[i].StatusCode = false, 503
		}
	}
	return result, err
}

func TestThrottlingLosesNothingHoweverLongItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		sender, err := bufferedsender.New(oneEach{}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 150, MaxInFlight: 2}, Logger: mute})
		require.NoError(t, err)
		closeAtLast(t, sender)
		require.NoError(t, sender.UploadDocuments(t.Context(), hotels("k", 300)...))
		require.NoError(t, sender.Close(t.Context()), "nothing is wrong but the capacity")
		assert.EqualValues(t, 300, sender.Stats().Completed)
		assert.Greater(t, time.Since(began), 6*time.Minute, "longer than anybody waits for a service that does nothing")
	})
}

// Between two documents that get through, every other request is in vain.
func TestATrickleLosesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		perSecond       float64
		slots, batch, n int
		reply           int // 0: single documents are refused
	}{
		"two a second":                  {2, 16, 25, 400, 0},
		"one in two seconds":            {0.5, 8, 25, 200, 0},
		"one in half a minute":          {1.0 / 30, 4, 10, 40, 0},
		"requests are refused":          {10, 8, 10, 500, 429},
		"requests are refused with 503": {10, 8, 10, 500, 503},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: c.slots, MaxBatchActions: c.batch}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
				r.srv.SetFaults(&searchtest.Faults{
					Rules:    []searchtest.Fault{{Delay: searchtest.Duration(100 * time.Millisecond)}},
					Capacity: &searchtest.Capacity{DocumentsPerSecond: c.perSecond, Reply: c.reply},
				})
				r.upload(hotels("k", c.n)...)
				require.NoError(t, r.close(), "nothing is wrong but the capacity")
				assert.EqualValues(t, c.n, r.sender.Stats().Completed)
			})
		})
	}
}

// Its retries travel alone: nothing in its requests tells that others go through.
func TestADocumentThatIsThrottledInQuietTimesIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, AutoFlushInterval: time.Second, Retry: retry.Options{Delay: 30 * time.Second}})
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"bad"}, Status: 503}}})
		r.upload(hotel{ID: "bad"})
		for _, doc := range hotels("k", 360) {
			r.upload(doc)
			time.Sleep(10 * time.Second)
		}
		assert.EqualValues(t, 1, r.sender.Stats().Failed, "an hour, and it is still tried")
		assert.Less(t, r.failure("bad").Attempts, 100)
	})
}

// The service is not busy if all the others get through.
func TestADocumentThatAloneIsThrottledIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, AutoFlushInterval: time.Millisecond})
		r.faults(searchtest.Fault{Delay: searchtest.Duration(20 * time.Millisecond), Documents: []searchtest.DocumentFault{{Keys: []string{"bad"}, Status: 503}}})
		r.upload(hotel{ID: "bad"})
		for _, doc := range hotels("k", 3000) {
			r.upload(doc)
			time.Sleep(100 * time.Millisecond)
		}
		require.EqualValues(t, 1, r.sender.Stats().Failed, "within five minutes")
		assert.GreaterOrEqual(t, r.outcome("bad").at, time.Minute, "chance is given a minute")
		assert.LessOrEqual(t, r.failure("bad").Attempts, 30)
		require.Equal(t, 1, flushFailures(t, r.flush()))
	})
}

// leaver ends the goroutine that it is called on.
type leaver struct{}

func (leaver) New(tuning.Bounds) tuning.Controller { return leaver{} }
func (leaver) Limits() tuning.Limits               { return tuning.Limits{} }
func (leaver) Observe(tuning.Observation) tuning.Limits {
	runtime.Goexit()
	return tuning.Limits{}
}

func TestAControllerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Tuning: leaver{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}})
		r.upload(hotels("k", 5)...)
		require.NoError(t, r.close())
		assert.EqualValues(t, 5, r.sender.Stats().Completed)
		assert.Len(t, r.indexed(), 5)
	})
}

// Whoever pauses from outside a handler that hangs is believed at once.
func TestAPauseIsSeenWhileAHandlerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var opts hotelOptions
		opts.Handlers.ActionCompleted = func(context.Context, *events.ActionCompleted[hotel]) { <-release }
		r := newRig(t, &opts)
		r.upload(hotel{ID: "k"})
		flushed := later(r.flush)
		synctest.Wait()
		time.Sleep(time.Minute)
		r.sender.Pause()
		health := r.sender.Health()
		assert.Equal(t, events.Paused, health.State)
		assert.ErrorIs(t, health.Err, bufferedsender.ErrPaused)
		assert.Equal(t, time.Now(), health.Since)
		assert.ErrorIs(t, r.sender.Flush(within(t, time.Second)), bufferedsender.ErrPaused)
		close(release)
		require.NoError(t, <-flushed)
		assert.Equal(t, health, r.sender.Health(), "since Pause, not since the sender has noticed")
		r.sender.Resume()
		assert.Equal(t, bufferedsender.Health{State: events.Healthy, Since: time.Now()}, r.sender.Health())
	})
}

// resizing is a controller that could forget something.
type resizing struct {
	leaver
	made, resized *int
}

func (c resizing) New(tuning.Bounds) tuning.Controller {
	*c.made++
	return c
}

func (resizing) Observe(tuning.Observation) tuning.Limits { return tuning.Limits{} }

func (c resizing) Resize(tuning.Bounds) tuning.Limits {
	*c.resized++
	return tuning.Limits{}
}

func TestAControllerKeepsWhatItHasLearnedWhenLimitsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, resized := 0, 0
		r := newRig(t, &hotelOptions{Tuning: resizing{made: &made, resized: &resized}})
		_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: 7})
		require.NoError(t, err)
		r.upload(hotels("k", 20)...)
		require.NoError(t, r.close())
		assert.Equal(t, 1, made)
		assert.Equal(t, 1, resized)
	})
}
