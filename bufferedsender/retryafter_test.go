package bufferedsender_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ages = "9223372036" // seconds, 292 years

func TestARetryAfterHoldsForTenMinutesAtTheMost(t *testing.T) {
	for _, status := range []int{429, 503} {
		for name, opts := range map[string]func(*testing.T) *hotelOptions{
			"without a breaker": func(*testing.T) *hotelOptions { return &hotelOptions{} }, "with one": guarded,
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, opts(t))
					r.respond(onlyFirst(1, always(status, refusal("busy"), "Retry-After", ages)))
					r.upload(hotels("k", 3)...)
					require.NoError(t, r.flush())
					assert.Equal(t, 10*time.Minute, r.now())
					assert.Len(t, r.requests(), 2)
				})
			})
			t.Run(name+", and Resume ends it", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, opts(t))
					r.respond(onlyFirst(1, always(status, refusal("busy"), "Retry-After", ages)))
					r.upload(hotels("k", 3)...)
					flushed := later(r.flush)
					time.Sleep(time.Minute)
					still(t, flushed, "Flush")
					assert.Equal(t, events.Throttled, r.sender.Health().State)
					r.sender.Resume()
					synctest.Wait()
					require.NoError(t, <-flushed)
					assert.Equal(t, time.Minute, r.now())
					assert.Equal(t, events.Healthy, r.sender.Health().State)
				})
			})
		}
	}
}

func TestARetryAfterOfNothingIsNoPermission(t *testing.T) {
	for _, header := range []string{"0", "Fri, 31 Dec 1999 00:00:00 GMT", ""} {
		t.Run(header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := guarded(t)
				opts.Retry = retry.Options{Jitter: -1}
				r := newRig(t, opts)
				r.respond(onlyFirst(3, always(503, refusal("busy"), "Retry-After", header)))
				r.upload(hotels("k", 3)...)
				require.NoError(t, r.flush())
				xs := r.requests()
				for i, gap := range r.gaps()[:3] {
					assert.GreaterOrEqual(t, gap, 400*time.Millisecond, "after request %d", i+1)
					assert.LessOrEqual(t, gap, max(time.Second, xs[i].end), "after request %d", i+1)
				}
			})
		})
	}
}

// What a reply asks for while a request is being prepared holds for that too.
func TestARequestThatWasPreparedWhenAPauseBeganIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxInFlight: 2}, Handlers: hotelHandlers{
			ActionSent: func(_ context.Context, e *events.ActionSent[hotel]) {
				if e.Key == "k-2" && e.Attempt == 1 {
					time.Sleep(2 * time.Second)
				}
			},
		}}
		r := newRig(t, opts)
		r.faults(searchtest.Fault{Count: 1, Delay: searchtest.Duration(time.Second), Status: 429, RetryAfter: searchtest.Duration(time.Minute)})
		r.upload(hotels("k", 4)...)
		time.Sleep(30 * time.Second)
		assert.Len(t, r.requests(), 1)
		var unsent []events.Batch
		for _, e := range r.seen("batch") {
			if e.batch.StatusCode == 0 {
				unsent = append(unsent, e.batch)
			}
		}
		require.Len(t, unsent, 1)
		assert.ErrorIs(t, unsent[0].Err, bufferedsender.ErrNotSent)
		assert.Equal(t, 2, unsent[0].Retried)
		assert.EqualValues(t, 1, r.sender.Stats().Requests)
		require.NoError(t, r.flush())
		assert.Equal(t, 1, r.outcome("k-3").attempt, "the attempt was given back")
		assert.Equal(t, 2, r.outcome("k-0").attempt)
		assert.GreaterOrEqual(t, r.requests()[1].at, time.Minute+time.Second)
		assert.LessOrEqual(t, r.requests()[1].at, time.Minute+2*time.Second)
	})
}
