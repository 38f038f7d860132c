package bufferedsender_test

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
					b := steadyBreaker(t, &c.opts)
					r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
					headers := append([]string(nil), c.headers...)
					if len(headers) > 0 && headers[1] == "DATE" {
						headers[1] = time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat)
					}
					r.respond(onlyFirst(1, always(status, refusal("later"), headers...)))
					r.upload(hotels("k", 3)...)
					_ = r.flush()
					require.Greater(t, len(r.requests()), 1)
					assert.Equal(t, c.probe, r.requests()[1].at)
					assert.Equal(t, breaker.Closed, b.Status().State)
				})
			})
		}
	}
}

func TestFUSEDisableDominatesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
		b.Disable()
		r.upload(hotels("k", 3)...)
		heldOpen(t, r.sender.Flush(within(t, time.Hour)))
		b.Reset()
		b.Disable()
		synctest.Wait()
		assert.Empty(t, r.requests(), "nothing for an hour, and Reset does not end it")
		assert.Equal(t, events.CircuitOpen, r.sender.Health().State)
		b.Enable()
		require.NoError(t, r.flush())
		assert.Equal(t, time.Hour, r.now(), "Enable wakes the sender at once")
		assert.Len(t, r.indexed(), 3)
	})
	t.Run("but not a request under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
			r.respond(seconds(func(int, *exchange) float64 { return 10 }))
			r.upload(hotels("k", 2)...)
			time.Sleep(time.Second)
			b.Disable()
			time.Sleep(time.Minute)
			assert.Equal(t, "completed", r.outcome("k-0").kind)
			assert.Len(t, r.requests(), 1)
			b.Enable()
			require.NoError(t, r.flush())
		})
	})
	t.Run("and Enable closes one that was open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
			r.sicken(hotels("k", 5)...)
			r.respond(nil)
			b.Disable()
			time.Sleep(10 * time.Second)
			b.Enable()
			synctest.Wait()
			assert.Equal(t, 10*time.Second, r.now())
			assert.Len(t, r.indexed(), 5)
		})
	})
}

func TestFUSEResetClosesAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: retry.Options{Delay: -1, MaxRetries: 10}})
		r.sicken(hotel{ID: "k"})
		for reset := range 3 {
			b.Reset()
			synctest.Wait()
			assert.Len(t, r.requests(), 3+3*(reset+1), "closed, with no failures left from before")
			assert.Equal(t, breaker.Open, b.Status().State)
		}
		assert.Zero(t, r.now())
		r.respond(nil)
		b.Reset()
		synctest.Wait()
		assert.Equal(t, "completed", r.outcome("k").kind)
		time.Sleep(time.Hour)
		assert.Equal(t, breaker.Closed, b.Status().State, "the timer of the opening changes nothing any more")
	})
	t.Run("also while the probe is under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 3}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
			r.sicken(hotels("k", 6)...)
			r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if x.at == 30*time.Second {
					time.Sleep(20 * time.Second)
					return reply(req, 500, ""), nil
				}
				return next()
			})
			time.Sleep(35 * time.Second)
			require.Len(t, r.since(1), 1)
			b.Reset()
			synctest.Wait()
			assert.Len(t, r.indexed(), 5, "the others do not wait for it")
			require.NoError(t, r.flush())
			assert.Equal(t, 50*time.Second, r.now())
			assert.Equal(t, breaker.Closed, b.Status().State, "and its failure is ignored")
		})
	})
}

func TestFUSEOneBreakerForTwoSendersOfOneIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steadyBreaker(t, nil)
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
		second, err := bufferedsender.New(r.client, &hotelOptions{Logger: mute, Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
		require.NoError(t, err)
		closeAtLast(t, second)
		assert.Same(t, b, second.Breaker())
		r.opts.Limits.MaxInFlight = 4 + 4 // the rig watches the requests of both
		r.sicken(hotels("first", 5)...)
		require.NoError(t, second.UploadDocuments(t.Context(), hotels("second", 25)...))
		r.upload(hotels("third", 20)...)
		synctest.Wait()
		// The third time one of them goes ahead alone; the others follow if it is not
		// back before they could.
		before := len(r.requests())
		assert.Contains(t, []int{3, 4}, before)
		for _, x := range r.requests() {
			assert.Contains(t, ids(hotels("first", 5)), x.keys[0], "what the one has learned the other knows")
		}
		time.Sleep(45 * time.Second)
		assert.Len(t, r.requests(), before+1, "one probe for both")
		heldOpen(t, second.Flush(within(t, time.Second)))
		r.respond(nil)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		assert.Len(t, r.indexed(), 50, "both wake when the probe of one succeeds")
		assert.Len(t, r.since(time.Minute), 1+10)
		assert.NoError(t, second.Close(t.Context()))
	})
	t.Run("and one that is closed leaves it to the other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := steadyBreaker(t, nil)
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce})
			second, err := bufferedsender.New(r.client, &hotelOptions{Logger: mute, Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: atOnce, RequestTimeout: -1})
			require.NoError(t, err)
			r.respond(sick)
			require.NoError(t, second.UploadDocuments(t.Context(), hotels("second", 2)...))
			synctest.Wait()
			r.respond(hang)
			time.Sleep(31 * time.Second)
			require.Len(t, r.requests(), 4, "its probe is under way, and hangs")
			r.upload(hotels("first", 2)...)
			require.Error(t, second.Close(within(t, time.Second)))
			r.respond(nil)
			require.NoError(t, r.sender.Flush(within(t, time.Hour)), "a probe that Close has cut off does not keep the breaker")
			assert.Len(t, r.indexed(), 2)
		})
	})
}

func TestPressureASickIndexNeverStopsAHealthyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		senders := map[string]*bufferedsender.BufferedSender[hotel]{}
		for _, name := range []string{"sick", "healthy"} {
			require.NoError(t, srv.CreateIndex(fmt.Sprintf(`{"name":%q,"fields":[{"name":"id","type":"Edm.String","key":true},{"name":"rooms","type":"Edm.Int32"}]}`, name)))
			client, err := search.NewClientWithKey(srv.URL(), name, azcore.NewKeyCredential(searchtest.AdminKey),
				&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
			require.NoError(t, err)
			senders[name], err = bufferedsender.New(client, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBufferedActions: 40}, Logger: mute})
			require.NoError(t, err)
			closeAtLast(t, senders[name])
		}
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Index: "sick", Status: 500}}})
		full := within(t, 10*time.Minute)
		blocked := later(func() error { return senders["sick"].UploadDocuments(full, hotels("k", 50)...) })
		for i := range 50 {
			require.NoError(t, senders["healthy"].UploadDocuments(t.Context(), hotels(fmt.Sprint("k", i), 10)...))
			time.Sleep(100 * time.Millisecond)
		}
		require.NoError(t, senders["healthy"].Flush(t.Context()))
		assert.EqualValues(t, 500, srv.DocumentCount("healthy"))
		assert.Equal(t, breaker.Closed, senders["healthy"].Breaker().Status().State)
		assert.Equal(t, breaker.Open, senders["sick"].Breaker().Status().State)
		heldOpen(t, <-blocked)
		srv.SetFaults(nil)
		require.NoError(t, senders["sick"].Flush(within(t, time.Hour)))
		assert.EqualValues(t, 40, srv.DocumentCount("sick"))
	})
}

func TestFUSECallsThatEndSayThatTheBreakerIsOpen(t *testing.T) {
	cause := errors.New("my own cause")
	for name, call := range map[string]func(context.Context, *bufferedsender.BufferedSender[hotel]) error{
		"Flush": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error { return s.Flush(ctx) },
		"UploadDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			return s.UploadDocuments(ctx, hotel{ID: "new"})
		},
		"MergeDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			return s.MergeDocuments(ctx, hotel{ID: "new"})
		},
		"MergeOrUploadDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			return s.MergeOrUploadDocuments(ctx, hotel{ID: "new"})
		},
		"DeleteDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			return s.DeleteDocuments(ctx, hotel{ID: "new"})
		},
		"DeleteDocumentsByKey": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			return s.DeleteDocumentsByKey(ctx, "new")
		},
		"IndexDocuments": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			return s.IndexDocuments(ctx, models.UploadAction(hotel{ID: "new"}))
		},
		"IndexSeq": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			return s.IndexSeq(ctx, func(yield func(hotelAction, error) bool) { yield(models.UploadAction(hotel{ID: "new"}), nil) })
		},
		"IndexDocumentsAndWait": func(ctx context.Context, s *bufferedsender.BufferedSender[hotel]) error {
			_, err := s.IndexDocumentsAndWait(ctx, models.UploadAction(hotel{ID: "new"}))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
				r.sicken(hotels("k", 3)...)
				ctx, cancel := context.WithTimeoutCause(t.Context(), 70*time.Second, cause)
				defer cancel()
				err := call(ctx, r.sender)
				assert.Equal(t, 70*time.Second, r.now(), "it waits, through two probes in vain")
				require.ErrorIs(t, err, cause)
				heldOpen(t, err)
				var answer *search.Error
				require.ErrorAs(t, err, &answer, "what the service said is there too")
				assert.ErrorContains(t, err, "out of order")
				if name != "Flush" {
					refused(t, err, 0)
				}
				r.respond(nil)
				require.NoError(t, r.flush())
				assert.Len(t, r.indexed(), 3)
			})
		})
	}
	t.Run("but not when something else is the reason to wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}})
			r.respond(seconds(func(int, *exchange) float64 { return 30 }))
			r.upload(hotels("k", 3)...)
			for _, err := range []error{r.sender.Flush(within(t, time.Second)), r.sender.UploadDocuments(within(t, time.Second), hotel{ID: "new"})} {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, bufferedsender.ErrCircuitOpen)
			}
		})
	})
}

func TestFUSECloseWithAnOpenBreakerSettlesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce, Handlers: l.handlers()})
		r.sickenWith(locked, hotels("k", 5)...)
		err := r.sender.Close(within(t, 10*time.Second))
		assert.Equal(t, 10*time.Second, r.now())
		heldOpen(t, err)
		answer := closeError(t, err)
		assert.Equal(t, 5, answer.Unsent, "no request was cut off, so nothing is unknown")
		assert.Zero(t, answer.Unknown+answer.Failed)
		require.Len(t, answer.Errors, 5)
		require.Len(t, l.endings(""), 5)
		for _, e := range l.endings("") {
			assert.True(t, e.unsent)
			require.ErrorIs(t, e.err, bufferedsender.ErrClosed)
			heldOpen(t, e.err)
		}
		assert.Equal(t, err, r.sender.Close(t.Context()), "every call gets the same answer")
		assert.Equal(t, "closed", l.told()[len(l.told())-1], "the last thing that is told of %v", l.told())
		time.Sleep(time.Hour)
		assert.Len(t, r.requests(), 1, "nothing is left behind")
	})
	t.Run("one that heals in time loses nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
			r.sickenWith(locked, hotels("k", 5)...)
			closed := later(r.close)
			time.Sleep(45 * time.Second)
			still(t, closed, "Close")
			r.respond(nil)
			require.NoError(t, <-closed)
			assert.Equal(t, time.Minute, r.now())
			assert.Len(t, r.indexed(), 5)
		})
	})
	t.Run("with a probe under way that is one of unknown outcome", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
			r.sickenWith(locked, hotels("k", 5)...)
			r.respond(hang)
			answer := closeError(t, r.sender.Close(within(t, 40*time.Second)))
			assert.Equal(t, 4, answer.Unsent)
			assert.Equal(t, 1, answer.Unknown)
		})
	})
}

func TestFUSETheChainHoldsTheDetailsOfTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce})
		r.sickenWith(locked, hotels("k", 3)...)
		for name, f := range map[string]func() error{
			"Flush":           func() error { return r.sender.Flush(within(t, time.Second)) },
			"UploadDocuments": func() error { return r.sender.UploadDocuments(within(t, time.Second), hotel{ID: "new"}) },
			"Health":          func() error { return r.sender.Health().Err },
		} {
			var open *breaker.OpenError
			require.ErrorAs(t, f(), &open, name)
			assert.Equal(t, breaker.Open, open.Status.State)
			assert.NotZero(t, open.Status.Until)
		}
		var open *breaker.OpenError
		require.ErrorAs(t, r.sender.Close(within(t, time.Second)), &open)
		require.ErrorAs(t, r.failure("k-0"), &open)
	})
}
