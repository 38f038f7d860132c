package test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetryAfterLengthensTheOpening(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		opts    breaker.Options
		probe   time.Duration
	}{
		"none":                           {nil, breaker.Options{}, 30 * time.Second},
		"shorter than OpenFor":           {[]string{"Retry-After", "7"}, breaker.Options{}, 30 * time.Second},
		"longer than OpenFor":            {[]string{"Retry-After", "90"}, breaker.Options{}, 90 * time.Second},
		"in milliseconds":                {[]string{"retry-after-ms", "45500"}, breaker.Options{}, 45500 * time.Millisecond},
		"in Azure's milliseconds":        {[]string{"x-ms-retry-after-ms", "45500"}, breaker.Options{}, 45500 * time.Millisecond},
		"longer than an OpenFor of 10 s": {[]string{"Retry-After", "20"}, breaker.Options{OpenFor: 10 * time.Second}, 20 * time.Second},
		"a date":                         {[]string{"Retry-After", "DATE"}, breaker.Options{}, 2 * time.Minute},
	} {
		for _, status := range []int{500, 502, 401, 404} {
			t.Run(fmt.Sprint(name, " of a ", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c.opts.Failures = 1
					b := sendertest.SteadyBreaker(t, &c.opts)
					r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, Breaker: b, Retry: sendertest.RetryAtOnce})
					headers := append([]string(nil), c.headers...)
					if len(headers) > 0 && headers[1] == "DATE" {
						headers[1] = time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat)
					}
					r.Respond(sendertest.First(1, sendertest.Always(status, sendertest.ErrorBody("later"), headers...)))
					r.Upload(sendertest.Hotels("k", 3)...)
					_ = r.Flush()
					require.Greater(t, len(r.Requests()), 1)
					assert.Equal(t, c.probe, r.Requests()[1].At)
					assert.Equal(t, breaker.Closed, b.Status().State)
				})
			})
		}
	}
}

func TestFUSEDisableDominatesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, Breaker: b, Retry: sendertest.RetryAtOnce})
		b.Disable()
		r.Upload(sendertest.Hotels("k", 3)...)
		sendertest.RequireCircuitOpen(t, r.Sender.Flush(sendertest.Within(t, time.Hour)))
		b.Reset()
		b.Disable()
		synctest.Wait()
		assert.Empty(t, r.Requests(), "nothing for an hour, and Reset does not end it")
		assert.Equal(t, events.CircuitOpen, r.Sender.Health().State)
		b.Enable()
		require.NoError(t, r.Flush())
		assert.Equal(t, time.Hour, r.Now(), "Enable wakes the sender at once")
		assert.Len(t, r.Indexed(), 3)
	})
	t.Run("but not a request under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, Breaker: b, Retry: sendertest.RetryAtOnce})
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
	t.Run("and Enable closes one that was open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, Breaker: b, Retry: sendertest.RetryAtOnce})
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

func TestFUSEResetClosesAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, Breaker: b, Retry: retry.Options{Delay: -1, MaxRetries: 10}})
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
		assert.Equal(t, breaker.Closed, b.Status().State, "the timer of the opening changes nothing any more")
	})
	t.Run("also while the probe is under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, MaxInFlight: 3, Breaker: b, Retry: sendertest.RetryAtOnce})
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
			assert.Len(t, r.Indexed(), 5, "the others do not wait for it")
			require.NoError(t, r.Flush())
			assert.Equal(t, 50*time.Second, r.Now())
			assert.Equal(t, breaker.Closed, b.Status().State, "and its failure is ignored")
		})
	})
}

func TestFUSEOneBreakerForTwoSendersOfOneIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 5, MaxInFlight: 4, Breaker: b, Retry: sendertest.RetryAtOnce})
		second, err := bufferedsender.New(r.Client, &sendertest.Options{Logger: sendertest.NoLog, MaxBatchActions: 5, MaxInFlight: 4, Breaker: b, Retry: sendertest.RetryAtOnce})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, second)
		assert.Same(t, b, second.Breaker())
		r.AllowInFlight(4 + 4) // the rig watches the requests of both
		r.OpenBreaker(sendertest.Hotels("first", 5)...)
		require.NoError(t, second.UploadDocuments(t.Context(), sendertest.Hotels("second", 25)...))
		r.Upload(sendertest.Hotels("third", 20)...)
		synctest.Wait()
		// The third time one of them goes ahead alone; the others follow if it is not
		// back before they could.
		before := len(r.Requests())
		assert.Contains(t, []int{3, 4}, before)
		for _, x := range r.Requests() {
			assert.Contains(t, sendertest.IDs(sendertest.Hotels("first", 5)), x.Keys[0], "what the one has learned the other knows")
		}
		time.Sleep(45 * time.Second)
		assert.Len(t, r.Requests(), before+1, "one probe for both")
		sendertest.RequireCircuitOpen(t, second.Flush(sendertest.Within(t, time.Second)))
		r.Respond(nil)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		assert.Len(t, r.Indexed(), 50, "both wake when the probe of one succeeds")
		assert.Len(t, r.RequestsSince(time.Minute), 1+10)
		assert.NoError(t, second.Close(t.Context()))
	})
	t.Run("and one that is closed leaves it to the other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 1, MaxInFlight: 2, Breaker: b, Retry: sendertest.RetryAtOnce})
			second, err := bufferedsender.New(r.Client, &sendertest.Options{Logger: sendertest.NoLog, MaxBatchActions: 1, Breaker: b, Retry: sendertest.RetryAtOnce, RequestTimeout: -1})
			require.NoError(t, err)
			r.Respond(sendertest.Failing)
			require.NoError(t, second.UploadDocuments(t.Context(), sendertest.Hotels("second", 2)...))
			synctest.Wait()
			r.Respond(sendertest.Hang)
			time.Sleep(31 * time.Second)
			require.Len(t, r.Requests(), 4, "its probe is under way, and hangs")
			r.Upload(sendertest.Hotels("first", 2)...)
			require.Error(t, second.Close(sendertest.Within(t, time.Second)))
			r.Respond(nil)
			require.NoError(t, r.Sender.Flush(sendertest.Within(t, time.Hour)), "a probe that Close has cut off does not keep the breaker")
			assert.Len(t, r.Indexed(), 2)
		})
	})
}

func TestPressureASickIndexNeverStopsAHealthyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		senders := map[string]*bufferedsender.BufferedSender[sendertest.Hotel]{}
		for _, name := range []string{"sick", "healthy"} {
			require.NoError(t, srv.CreateIndex(fmt.Sprintf(`{"name":%q,"fields":[{"name":"id","type":"Edm.String","key":true},{"name":"rooms","type":"Edm.Int32"}]}`, name)))
			client, err := search.NewClientWithKey(srv.URL(), name, azcore.NewKeyCredential(searchtest.AdminKey),
				&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
			require.NoError(t, err)
			senders[name], err = bufferedsender.New(client, &sendertest.Options{MaxBatchActions: 10, MaxBufferedActions: 40, Logger: sendertest.NoLog})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, senders[name])
		}
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Index: "sick", Status: 500}}})
		full := sendertest.Within(t, 10*time.Minute)
		blocked := sendertest.Later(func() error { return senders["sick"].UploadDocuments(full, sendertest.Hotels("k", 50)...) })
		for i := range 50 {
			require.NoError(t, senders["healthy"].UploadDocuments(t.Context(), sendertest.Hotels(fmt.Sprint("k", i), 10)...))
			time.Sleep(100 * time.Millisecond)
		}
		require.NoError(t, senders["healthy"].Flush(t.Context()))
		assert.EqualValues(t, 500, srv.DocumentCount("healthy"))
		assert.Equal(t, breaker.Closed, senders["healthy"].Breaker().Status().State)
		assert.Equal(t, breaker.Open, senders["sick"].Breaker().Status().State)
		sendertest.RequireCircuitOpen(t, <-blocked)
		srv.SetFaults(nil)
		require.NoError(t, senders["sick"].Flush(sendertest.Within(t, time.Hour)))
		assert.EqualValues(t, 40, srv.DocumentCount("sick"))
	})
}

func TestFUSECallsThatEndSayThatTheBreakerIsOpen(t *testing.T) {
	cause := errors.New("my own cause")
	for name, call := range map[string]func(context.Context, *bufferedsender.BufferedSender[sendertest.Hotel]) error{
		"Flush": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			return s.Flush(ctx)
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
			})
		},
		"IndexDocumentsAndWait": func(ctx context.Context, s *bufferedsender.BufferedSender[sendertest.Hotel]) error {
			_, err := s.IndexDocumentsAndWait(ctx, models.UploadAction(sendertest.Hotel{ID: "new"}))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 3, MaxBufferedActions: 3, Breaker: sendertest.SteadyBreaker(t, nil), Retry: sendertest.RetryAtOnce})
				r.OpenBreaker(sendertest.Hotels("k", 3)...)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 70*time.Second, cause)
				defer cancel()
				err := call(ctx, r.Sender)
				assert.Equal(t, 70*time.Second, r.Now(), "it waits, through two probes in vain")
				require.ErrorIs(t, err, cause)
				sendertest.RequireCircuitOpen(t, err)
				var answer *search.Error
				require.ErrorAs(t, err, &answer, "what the service said is there too")
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
	t.Run("but not when something else is the reason to wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 3, MaxBufferedActions: 3, Breaker: sendertest.SteadyBreaker(t, nil)})
			r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 30 }))
			r.Upload(sendertest.Hotels("k", 3)...)
			for _, err := range []error{r.Sender.Flush(sendertest.Within(t, time.Second)), r.Sender.UploadDocuments(sendertest.Within(t, time.Second), sendertest.Hotel{ID: "new"})} {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			}
		})
	})
}

func TestFUSECloseWithAnOpenBreakerSettlesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l sendertest.Ledger
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 2, Breaker: sendertest.SteadyBreaker(t, nil), Retry: sendertest.RetryAtOnce, Handlers: l.Handlers()})
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
		assert.Equal(t, err, r.Sender.Close(t.Context()), "every call gets the same answer")
		assert.Equal(t, "closed", l.Notes()[len(l.Notes())-1], "the last thing that is told of %v", l.Notes())
		time.Sleep(time.Hour)
		assert.Len(t, r.Requests(), 1, "nothing is left behind")
	})
	t.Run("one that heals in time loses nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 2, Breaker: sendertest.SteadyBreaker(t, nil), Retry: sendertest.RetryAtOnce})
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
	t.Run("with a probe under way that is one of unknown outcome", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 2, Breaker: sendertest.SteadyBreaker(t, nil), Retry: sendertest.RetryAtOnce})
			r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 5)...)
			r.Respond(sendertest.Hang)
			answer := sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, 40*time.Second)))
			assert.Equal(t, 4, answer.Unsent)
			assert.Equal(t, 1, answer.Unknown)
		})
	})
}

func TestFUSETheChainHoldsTheDetailsOfTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{MaxBatchActions: 3, MaxBufferedActions: 3, Breaker: sendertest.SteadyBreaker(t, nil), Retry: sendertest.RetryAtOnce})
		r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 3)...)
		for name, f := range map[string]func() error{
			"Flush": func() error { return r.Sender.Flush(sendertest.Within(t, time.Second)) },
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
