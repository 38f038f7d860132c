package outages

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
)

func TestDisablingTheBreakerOverridesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
		b.Disable()
		r.Upload(sendertest.Hotels("k", 3)...)
		sendertest.RequireCircuitOpen(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil))
		b.Reset()
		b.Disable()
		synctest.Wait()
		assert.Empty(t, r.Requests(), "nothing is sent for an hour, and Reset does not change that")
		assert.Equal(t, events.HealthStateCircuitOpen, r.Sender.Health().State)
		b.Enable()
		require.NoError(t, r.Flush())
		assert.Equal(t, time.Hour, r.Now(), "Enable wakes the sender at once")
		assert.Len(t, r.Indexed(), 3)
	})
	t.Run("a request in flight is not cut off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
			r.Upload(sendertest.Hotels("k", 2)...)
			time.Sleep(time.Second)
			b.Disable()
			time.Sleep(time.Minute)
			assert.Equal(t, "completed", r.Outcome("k-0").Kind)
			assert.Len(t, r.Requests(), 1)
			b.Enable()
			require.NoError(t, r.Flush())
		})
	})
	t.Run("Enable closes a breaker that was open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
			r.OpenBreaker(sendertest.Hotels("k", 5)...)
			r.Respond(nil)
			b.Disable()
			time.Sleep(10 * time.Second)
			b.Enable()
			synctest.Wait()
			assert.Equal(t, 10*time.Second, r.Now())
			assert.Len(t, r.Indexed(), 5)
		})
	})
}

func TestResetClosesTheBreakerAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: -1, MaxRetries: 10}})
		r.OpenBreaker(sendertest.Hotel{ID: "k"})
		for reset := range 3 {
			b.Reset()
			synctest.Wait()
			assert.Len(t, r.Requests(), 3+3*(reset+1), "closed, with no failures left from before")
			assert.Equal(t, breaker.Open, b.Status().State)
		}
		assert.Zero(t, r.Now())
		r.Respond(nil)
		b.Reset()
		synctest.Wait()
		assert.Equal(t, "completed", r.Outcome("k").Kind)
		time.Sleep(time.Hour)
		assert.Equal(t, breaker.Closed, b.Status().State, "the timer of the opening no longer changes anything")
	})
	t.Run("the breaker stays disabled when its probe ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 3}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
			r.OpenBreaker(sendertest.Hotels("k", 6)...)
			r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if x.At == 30*time.Second {
					time.Sleep(20 * time.Second)
					return sendertest.Reply(req, 500, ""), nil
				}
				return next()
			})
			time.Sleep(35 * time.Second)
			require.Len(t, r.RequestsSince(1), 1)
			b.Reset()
			synctest.Wait()
			assert.Len(t, r.Indexed(), 5, "the other actions do not wait for the probe")
			require.NoError(t, r.Flush())
			assert.Equal(t, 50*time.Second, r.Now())
			assert.Equal(t, breaker.Closed, b.Status().State, "the failure of the earlier probe is ignored")
		})
	})
}

func TestCallsThatEndSayThatTheBreakerIsOpen(t *testing.T) {
	cause := errors.New("my own cause")
	for name, call := range map[string]func(context.Context, *bufferedsender.BufferedSender[sendertest.Hotel]) error{
		"Flush": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.Flush(ctx, nil)
		},
		"UploadDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.UploadDocuments(ctx, sendertest.Hotel{ID: "new"})
		},
		"MergeDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.MergeDocuments(ctx, sendertest.Hotel{ID: "new"})
		},
		"MergeOrUploadDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.MergeOrUploadDocuments(ctx, sendertest.Hotel{ID: "new"})
		},
		"DeleteDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.DeleteDocuments(ctx, sendertest.Hotel{ID: "new"})
		},
		"DeleteDocumentsByKey": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.DeleteDocumentsByKey(ctx, "new")
		},
		"IndexDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.IndexDocuments(ctx, models.UploadAction(sendertest.Hotel{ID: "new"}))
		},
		"IndexSeq": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.IndexSeq(ctx, func(yield func(sendertest.Action, error) bool) {
				yield(models.UploadAction(sendertest.Hotel{ID: "new"}), nil)
			}, nil)
		},
		"IndexDocumentsAndWait": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			_, err := s.IndexDocumentsAndWait(ctx, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "new"})}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
				r.OpenBreaker(sendertest.Hotels("k", 3)...)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 70*time.Second, cause)
				defer cancel()
				err := call(ctx, r.Sender)
				assert.Equal(t, 70*time.Second, r.Now(), "the call waits through two failed probes")
				require.ErrorIs(t, err, cause)
				sendertest.RequireCircuitOpen(t, err)
				var answer *search.Error
				require.ErrorAs(t, err, &answer, "the service's message is there, too")
				assert.ErrorContains(t, err, "out of order")
				if name != "Flush" {
					sendertest.RequireAccepted(t, err, 0)
				}
				r.Respond(nil)
				require.NoError(t, r.Flush())
				assert.Len(t, r.Indexed(), 3)
			})
		})
	}
	t.Run("another reason to wait is not reported as an open circuit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 30 }))
			r.Upload(sendertest.Hotels("k", 3)...)
			for _, err := range []error{r.Sender.Flush(sendertest.Within(t, time.Second), nil), r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.Hotel{ID: "new"})} {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			}
		})
	})
}

func TestCloseWithAnOpenBreakerSettlesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce, Handlers: l.Handlers()})
		r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 5)...)
		err := r.Sender.Close(sendertest.Within(t, 10*time.Second))
		assert.Equal(t, 10*time.Second, r.Now())
		sendertest.RequireCircuitOpen(t, err)
		answer := sendertest.CloseError(t, err)
		assert.Equal(t, 5, answer.Unsent, "no request was cut off, so nothing is unknown")
		assert.Zero(t, answer.Unknown+answer.Failed)
		require.Len(t, answer.Errors, 5)
		require.Len(t, l.Endings(""), 5)
		for _, e := range l.Endings("") {
			assert.True(t, e.Unsent)
			require.ErrorIs(t, e.Err, bufferedsender.ErrClosed)
			sendertest.RequireCircuitOpen(t, e.Err)
		}
		assert.Equal(t, err, r.Sender.Close(t.Context()), "every call returns the same error")
		assert.Equal(t, "closed", l.Notes()[len(l.Notes())-1], "the last of the states %v", l.Notes())
		time.Sleep(time.Hour)
		assert.Len(t, r.Requests(), 1, "no action is left")
	})
	t.Run("a breaker that closes in time loses nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
			r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 5)...)
			closed := sendertest.Later(r.Close)
			time.Sleep(45 * time.Second)
			sendertest.StillRunning(t, closed, "Close")
			r.Respond(nil)
			require.NoError(t, <-closed)
			assert.Equal(t, time.Minute, r.Now())
			assert.Len(t, r.Indexed(), 5)
		})
	})
	t.Run("an action in a probe has an unknown outcome", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
			r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 5)...)
			r.Respond(sendertest.Hang)
			answer := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, 40*time.Second)))
			assert.Equal(t, 4, answer.Unsent)
			assert.Equal(t, 1, answer.Unknown)
		})
	})
}

func TestErrorsHoldTheDetailsOfTheOpenBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce})
		r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 3)...)
		for name, f := range map[string]func() error{
			"Flush": func() error { return r.Sender.Flush(sendertest.Within(t, time.Second), nil) },
			"UploadDocuments": func() error {
				return r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.Hotel{ID: "new"})
			},
			"Health": func() error { return r.Sender.Health().Err },
		} {
			var open *breaker.OpenError
			require.ErrorAs(t, f(), &open, name)
			assert.Equal(t, breaker.Open, open.Status.State)
			assert.NotZero(t, open.Status.Until)
		}
		var open *breaker.OpenError
		require.ErrorAs(t, r.Sender.Close(sendertest.Within(t, time.Second)), &open)
		require.ErrorAs(t, r.Failure("k-0"), &open)
	})
}

func TestAResumeDoesNotHideAnOpenBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: b}, Handlers: sendertest.Handlers{HealthChanged: func(_ context.Context, h *events.HealthChange) {
			if h.To == events.HealthStatePaused {
				<-release
			}
		}}})
		b.Disable()
		synctest.Wait()
		require.Equal(t, events.HealthStateCircuitOpen, r.Sender.Health().State)
		r.Sender.Pause()
		synctest.Wait()
		r.Sender.Resume() // while the handler hangs
		assert.Equal(t, events.HealthStateCircuitOpen, r.Sender.Health().State)
		assert.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil), bufferedsender.ErrCircuitOpen)
		close(release)
		b.Enable()
	})
}
