package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Request handlers with nothing but calls that fail fast: one of them is the probe,
// waits for its outcome, and opens the way for the others.
func TestASenderWhoseWaitersFailFastRecoversByOneOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Retry:   atOnce, Outage: bufferedsender.Hold{Breaker: newBreaker(t, &breaker.Options{Failures: 1, OpenFor: 10 * time.Second, Jitter: -1})},
		})
		call := func(key string) error {
			_, err := r.sender.IndexDocumentsAndWait(within(t, time.Minute), models.UploadAction(hotel{ID: key}))
			return err
		}
		r.respond(sick)
		waiting := later(func() error { return call("first") })
		synctest.Wait()
		time.Sleep(time.Second)
		err := <-waiting
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen, "while it waits")
		var failed *bufferedsender.WaitError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, 1, failed.Unknown, "its request was answered 500")
		began := r.now()
		require.ErrorIs(t, call("second"), bufferedsender.ErrCircuitOpen, "at once")
		assert.Equal(t, began, r.now())

		r.respond(func(_ int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return next()
		})
		time.Sleep(10 * time.Second)
		var calls []<-chan error
		for i := range 5 {
			calls = append(calls, later(func() error { return call(fmt.Sprint("k", i)) }))
		}
		succeeded := 0
		for _, c := range calls {
			if err := <-c; err == nil {
				succeeded++
			} else {
				assert.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			}
		}
		assert.Positive(t, succeeded, "the probe")
		assert.NoError(t, call("last"))
	})
}

// The action of the call is the probe, which fails: the state of the breaker is the
// same before and after.
func TestWaitFailsFastWhenItsOwnProbeFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Retry:   atOnce, Outage: bufferedsender.Hold{Breaker: newBreaker(t, &breaker.Options{Failures: 1, OpenFor: 10 * time.Second, Jitter: -1})},
		})
		call := func(key string) error {
			_, err := r.sender.IndexDocumentsAndWait(within(t, time.Hour), models.UploadAction(hotel{ID: key}))
			return err
		}
		r.respond(sick)
		require.ErrorIs(t, call("first"), bufferedsender.ErrCircuitOpen)
		require.Less(t, r.now(), time.Second)
		r.respond(func(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return reply(req, 500, refusal("out of order")), nil
		})
		time.Sleep(11 * time.Second) // half-open: this one is the probe
		began := r.now()
		require.Error(t, call("probe"))
		assert.Less(t, r.now()-began, 2*time.Second, "it burns its deadline")
	})
}

// The breaker opens while the action of the call is in another request, which fails
// afterwards.
func TestWaitFailsFastWhenItsRequestFailsAfterTheBreakerOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Retry:   atOnce, Limits: bufferedsender.Limits{MaxInFlight: 2}, Outage: bufferedsender.Hold{Breaker: newBreaker(t, &breaker.Options{Failures: 1, OpenFor: 30 * time.Minute, Jitter: -1, MaxOpenFor: time.Hour})},
		})
		call := func(key string) error {
			_, err := r.sender.IndexDocumentsAndWait(within(t, 10*time.Minute), models.UploadAction(hotel{ID: key}))
			return err
		}
		r.respond(func(_ int, x *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			if x.keys[0] == "slow" {
				time.Sleep(5 * time.Second)
			} else {
				time.Sleep(time.Second)
			}
			return reply(req, 500, refusal("out of order")), nil
		})
		slow := later(func() error { return call("slow") })
		time.Sleep(100 * time.Millisecond)
		require.ErrorIs(t, call("fast"), bufferedsender.ErrCircuitOpen)
		require.ErrorIs(t, <-slow, bufferedsender.ErrCircuitOpen)
		assert.Less(t, r.now(), 10*time.Second, "it burns its deadline")
	})
}

// The breaker opens while the call waits for room.
func TestWaitFailsFastWhileItWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{
			Waiting: bufferedsender.Waiting{FailFast: true},
			Limits:  bufferedsender.Limits{MaxBufferedActions: 10, MaxBatchActions: 10}, Retry: atOnce,
			Outage: bufferedsender.Hold{Breaker: newBreaker(t, &breaker.Options{Failures: 1, OpenFor: 30 * time.Minute, Jitter: -1, MaxOpenFor: time.Hour})},
		})
		r.respond(func(_ int, _ *exchange, req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(time.Second)
			return reply(req, 500, refusal("out of order")), nil
		})
		r.upload(hotels("k", 10)...)
		time.Sleep(100 * time.Millisecond)
		_, err := r.sender.IndexDocumentsAndWait(within(t, 10*time.Minute), models.UploadAction(hotel{ID: "w"}))
		require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
		assert.Less(t, r.now(), 10*time.Second, "it burns its deadline")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.sender.Close(ctx)
	})
}

// The breaker is told of a request before the reply is landed: whichever is first, the
// call that waits for it returns.
func TestWaitFailsFastWhicheverIsToldFirst(t *testing.T) {
	burnt := 0
	const runs = 2000
	for range runs {
		s, err := bufferedsender.New(&fakeIndexer{index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			return models.IndexDocumentsResult{}, statusError(500)
		}}, &hotelOptions{Waiting: bufferedsender.Waiting{FailFast: true, Interval: -1}, Retry: atOnce, Logger: mute, Outage: bufferedsender.Hold{Breaker: newBreaker(t, &breaker.Options{Failures: 1, OpenFor: time.Hour, MaxOpenFor: time.Hour})}})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err = s.IndexDocumentsAndWait(ctx, models.UploadAction(hotel{ID: "k"}))
		if errors.Is(err, context.DeadlineExceeded) {
			burnt++
		}
		cancel()
		_ = s.Close(ctx)
	}
	t.Log(burnt, "of", runs, "calls burnt their deadline")
	assert.Zero(t, burnt)
}

// A good document is not turned away because bad ones of others are held apart.
func TestGoodDocumentsPassWhileAllThatWaitsIsHeldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := guarded(t)
		opts.Waiting.FailFast = true
		r := newRig(t, opts)
		r.respond(drifted(func() bool { return false }))
		r.upload(append(hotels("new", 100), roomless("old", 100)...)...)
		time.Sleep(time.Minute)
		ok := 0
		for i := range 20 {
			_, err := r.sender.IndexDocumentsAndWait(within(t, 10*time.Second), models.UploadAction(hotel{ID: fmt.Sprint("good-", i)}))
			if err == nil {
				ok++
			} else if i == 0 {
				t.Log(err)
			}
			time.Sleep(3 * time.Second)
		}
		t.Logf("%d of 20 good documents accepted", ok)
		assert.NotZero(t, ok)
		_ = r.sender.Close(within(t, time.Millisecond))
	})
}

// Sending stops while the call waits for room.
func TestWaitFailsFastWhenSendingStopsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := bufferedsender.New(&fakeIndexer{index: func(ctx context.Context, _ io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			<-ctx.Done()
			return models.IndexDocumentsResult{}, ctx.Err()
		}}, &hotelOptions{Logger: mute, Waiting: bufferedsender.Waiting{FailFast: true}, Limits: bufferedsender.Limits{MaxBufferedActions: 1, MaxBatchActions: 1}})
		require.NoError(t, err)
		closeAtLast(t, s)
		require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: "a"}))
		go func() { time.Sleep(time.Second); s.Pause() }()
		began := time.Now()
		_, err = s.IndexDocumentsAndWait(within(t, 10*time.Second), models.UploadAction(hotel{ID: "k"}))
		assert.ErrorIs(t, err, bufferedsender.ErrPaused)
		assert.Equal(t, time.Second, time.Since(began))
	})
}
