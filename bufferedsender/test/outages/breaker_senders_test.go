package outages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Two senders share a breaker. All documents of one are refused and all of the other are applied, so the index is not
// the cause.
func TestASenderWithBadDocumentsStopsNoOtherOfItsBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := sendertest.NewBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: shared}, Limits: bufferedsender.Limits{MaxBatchActions: 10}})
		r.Respond(func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return next()
		})
		refuse := &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			time.Sleep(100 * time.Millisecond)
			res, err := sendertest.AcceptAll(ctx, body)
			for i := range res.Results {
				res.Results[i].Succeeded, res.Results[i].StatusCode, res.Results[i].ErrorMessage = false, 400, "wrong type"
			}
			return res, err
		}}
		bad, err := bufferedsender.New(refuse, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: shared}, Limits: bufferedsender.Limits{MaxBatchActions: 10}})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, bad)
		r.Upload(sendertest.Hotels("good", 10_000)...)
		time.Sleep(10 * time.Second)
		alone := r.Sender.Stats().Completed
		require.NoError(t, bad.UploadDocuments(t.Context(), sendertest.Hotels("bad", 100)...))
		time.Sleep(10 * time.Second)
		together := r.Sender.Stats().Completed - alone
		t.Log("documents in ten seconds alone", alone, "next to the other sender", together, "bad:", bad.Stats().Failed, bad.Health().Reason)
		assert.Greater(t, together, alone/2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = r.Sender.Close(ctx)
	})
}

func TestOneBreakerForTwoSendersOfOneIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
		second, err := bufferedsender.New(r.Client, &sendertest.Options{Logger: sendertest.NoLog, Limits: bufferedsender.Limits{MaxBatchActions: 5, MaxInFlight: 4}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, second)
		assert.Same(t, b, second.Breaker())
		r.AllowInFlight(4 + 4) // the rig watches the requests of both
		r.OpenBreaker(sendertest.Hotels("first", 5)...)
		require.NoError(t, second.UploadDocuments(t.Context(), sendertest.Hotels("second", 25)...))
		r.Upload(sendertest.Hotels("third", 20)...)
		synctest.Wait()
		// At the third attempt one of them is sent alone; the others follow if it has not settled in time.
		before := len(r.Requests())
		assert.Contains(t, []int{3, 4}, before)
		for _, x := range r.Requests() {
			assert.Contains(t, sendertest.IDs(sendertest.Hotels("first", 5)), x.Keys[0], "both senders retry a first document alone")
		}
		time.Sleep(45 * time.Second)
		assert.Len(t, r.Requests(), before+1, "one probe serves both senders")
		sendertest.RequireCircuitOpen(t, second.Flush(sendertest.Within(t, time.Second), nil))
		r.Respond(nil)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		assert.Len(t, r.Indexed(), 50, "both senders resume when one probe succeeds")
		// One probes with one document, and the other may have sent a batch of one at the same moment; all others are
		// batches of five.
		assert.Contains(t, []int{1 + 10, 2 + 10}, len(r.RequestsSince(time.Minute)))
		assert.NoError(t, second.Close(t.Context()))
	})
	t.Run("a closed sender leaves the probe to the other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := sendertest.SteadyBreaker(t, nil)
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce})
			second, err := bufferedsender.New(r.Client, &sendertest.Options{Logger: sendertest.NoLog, Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: b}, Retry: sendertest.RetryAtOnce, RequestTimeout: -1})
			require.NoError(t, err)
			r.Respond(sendertest.Failing)
			require.NoError(t, second.UploadDocuments(t.Context(), sendertest.Hotels("second", 2)...))
			synctest.Wait()
			r.Respond(sendertest.Hang)
			time.Sleep(31 * time.Second)
			require.Len(t, r.Requests(), 4, "the probe is in flight and hangs")
			r.Upload(sendertest.Hotels("first", 2)...)
			require.Error(t, second.Close(sendertest.Within(t, time.Second)))
			r.Respond(nil)
			require.NoError(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil), "a probe that Close has cut off does not keep the breaker")
			assert.Len(t, r.Indexed(), 2)
		})
	})
}

func TestAFailingIndexNeverStopsAHealthyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		senders := map[string]*bufferedsender.BufferedSender[sendertest.Hotel]{}
		for _, name := range []string{"failing", "healthy"} {
			require.NoError(t, srv.CreateIndex(fmt.Sprintf(`{"name":%q,"fields":[{"name":"id","type":"Edm.String","key":true},{"name":"rooms","type":"Edm.Int32"}]}`, name)))
			client, err := search.NewClientWithKey(srv.URL(), name, azcore.NewKeyCredential(searchtest.AdminKey),
				&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
			require.NoError(t, err)
			senders[name], err = bufferedsender.New(client, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBufferedActions: 40}, Logger: sendertest.NoLog})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, senders[name])
		}
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Index: "failing", Status: 500}}})
		full := sendertest.Within(t, 10*time.Minute)
		blocked := sendertest.Later(func() error { return senders["failing"].UploadDocuments(full, sendertest.Hotels("k", 50)...) })
		for i := range 50 {
			require.NoError(t, senders["healthy"].UploadDocuments(t.Context(), sendertest.Hotels(fmt.Sprint("k", i), 10)...))
			time.Sleep(100 * time.Millisecond)
		}
		require.NoError(t, senders["healthy"].Flush(t.Context(), nil))
		assert.EqualValues(t, 500, srv.DocumentCount("healthy"))
		assert.Equal(t, breaker.Closed, senders["healthy"].Breaker().Status().State)
		assert.Equal(t, breaker.Open, senders["failing"].Breaker().Status().State)
		sendertest.RequireCircuitOpen(t, <-blocked)
		srv.SetFaults(nil)
		require.NoError(t, senders["failing"].Flush(sendertest.Within(t, time.Hour), nil))
		assert.EqualValues(t, 40, srv.DocumentCount("failing"))
	})
}

func TestASubscriberOfTheBreakerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}})
		var ended atomic.Int64
		defer r.Sender.Breaker().Subscribe(func(c breaker.Change) {
			if c.To == breaker.Open {
				ended.Add(1)
				runtime.Goexit()
			}
		})()
		r.Respond(sendertest.First(1, sendertest.Always(401, "")))
		r.Upload(sendertest.Hotel{ID: "a"})
		time.Sleep(time.Hour)
		require.EqualValues(t, 1, ended.Load())
		assert.Equal(t, "completed", r.Outcome("a").Kind)
		assert.Equal(t, 30*time.Second, r.Outcome("a").At, "the action settles with the probe")
		r.Upload(sendertest.Hotel{ID: "b"})
		require.NoError(t, r.Flush())
		assert.Equal(t, []string{"a", "b"}, r.Indexed())
	})
}

// slow is a MeterProvider that blocks the last step of New.
type slow struct{ noop.MeterProvider }

func (slow) Meter(string, ...metric.MeterOption) metric.Meter { return slowMeter{} }

type slowMeter struct{ noop.Meter }

func (slowMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	time.Sleep(time.Second)
	return noop.Registration{}, nil
}

// There is an event at once: the breaker is already open.
func TestHandlersAreNotCalledBeforeTheSenderIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, reported := time.Now(), make(chan context.Context, 10)
		opts := sendertest.Options{Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, MeterProvider: slow{}, Logger: sendertest.NoLog}
		opts.Handlers.HealthChanged = func(ctx context.Context, _ *events.HealthChange) {
			assert.Equal(t, time.Second, time.Since(began))
			reported <- ctx
		}
		opts.Outage.(bufferedsender.Hold).Breaker.Disable()
		sender, err := bufferedsender.New(&sendertest.Indexer{}, &opts)
		require.NoError(t, err)
		assert.NotNil(t, <-reported)
		require.NoError(t, sender.Close(t.Context()))
	})
}

// deaf is a MeterProvider that refuses callbacks, which is the last step of New.
type deaf struct{ noop.MeterProvider }

func (deaf) Meter(string, ...metric.MeterOption) metric.Meter { return deafMeter{} }

type deafMeter struct{ noop.Meter }

func (deafMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return nil, errors.New("no callbacks here")
}

func TestAFailedNewLeavesNothingWithTheBreaker(t *testing.T) {
	b := sendertest.SteadyBreaker(t, nil)
	left := func() weak.Pointer[sendertest.Indexer] {
		index := &sendertest.Indexer{}
		_, err := bufferedsender.New(index, &sendertest.Options{Outage: bufferedsender.Hold{Breaker: b}, MeterProvider: deaf{}, Logger: sendertest.NoLog})
		require.ErrorContains(t, err, "no callbacks here")
		return weak.Make(index)
	}()
	runtime.GC()
	runtime.GC()
	assert.Nil(t, left.Value(), "the breaker's stored error")
	runtime.KeepAlive(b)
}
