package breaker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

// outage is a period in which the service answers only r.
type outage struct {
	up, down time.Duration // since the end of the last one; its length
	r        breaker.Result
}

// weather is a random schedule of outages and of clients.
type weather struct {
	outages []outage
	workers int
	latency time.Duration // from a request to its answer
	think   time.Duration // from an answer to the next request
}

func drawWeather(rt *rapid.T) weather {
	between := func(label string, least, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(rt, label))
	}
	w := weather{
		workers: rapid.SampledFrom([]int{1, 2, 3, 8}).Draw(rt, "workers"),
		latency: rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, 200 * time.Millisecond}).Draw(rt, "latency"),
		think:   between("think", 10*time.Millisecond, 100*time.Millisecond),
	}
	for range rapid.IntRange(1, 5).Draw(rt, "outages") {
		o := outage{
			up:   between("up", 0, 3*time.Second),
			down: between("down", time.Millisecond, rapid.SampledFrom([]time.Duration{100 * time.Millisecond, 3 * time.Second, 5 * time.Minute}).Draw(rt, "about")),
			r:    breaker.Result{Outcome: rapid.SampledFrom([]breaker.Outcome{breaker.Failure, breaker.Failure, breaker.Trip}).Draw(rt, "outcome")},
		}
		if rapid.IntRange(0, 3).Draw(rt, "retry after") == 0 {
			o.r.RetryAfter = between("for", 0, time.Minute)
		}
		w.outages = append(w.outages, o)
	}
	return w
}

// experience is the clients' knowledge of the service.
type experience struct {
	mu      sync.Mutex
	sent    []time.Time // times of allowed requests
	trouble time.Time   // first failure since the last success
	asked   time.Time   // latest end of a Retry-After
}

// work sends requests until ctx ends. at returns the outage at a time and its start, or nil.
func (e *experience) work(ctx context.Context, b *breaker.Breaker, w *weather, at func(time.Time) (*outage, time.Time)) {
	changed := make(chan struct{}, 1)
	defer b.Subscribe(func(breaker.Change) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for ctx.Err() == nil {
		permit, err := b.Allow()
		if err != nil {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		down, began := at(time.Now())
		e.mu.Lock()
		e.sent = append(e.sent, time.Now())
		e.mu.Unlock()
		time.Sleep(w.latency)
		r := succeed
		e.mu.Lock()
		if e.trouble.IsZero() && down != nil {
			e.trouble = began
		}
		if down == nil {
			e.trouble = time.Time{}
		} else if until := time.Now().Add(down.r.RetryAfter); until.After(e.asked) {
			e.asked = until
		}
		e.mu.Unlock()
		if down != nil {
			r = down.r
		}
		permit.Done(r)
		time.Sleep(w.think)
	}
}

// recoveries runs w and returns late recoveries and the number of openings.
func (w *weather) recoveries(t *testing.T) (wrong string, opened uint64) {
	b := newBreaker(t, nil)
	var e experience
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begin := make([]time.Time, len(w.outages))
	at := time.Now()
	for i, o := range w.outages {
		begin[i] = at.Add(o.up)
		at = begin[i].Add(o.down)
	}
	var workers sync.WaitGroup
	for range w.workers {
		workers.Go(func() {
			e.work(ctx, b, w, func(now time.Time) (*outage, time.Time) {
				for i := range w.outages {
					if !now.Before(begin[i]) && now.Before(begin[i].Add(w.outages[i].down)) {
						return &w.outages[i], begin[i]
					}
				}
				return nil, time.Time{}
			})
		})
	}
	for i, o := range w.outages {
		back := begin[i].Add(o.down)
		time.Sleep(time.Until(back))
		synctest.Wait()
		e.mu.Lock()
		began := begin[i] // start of the trouble, which includes the previous outage if no request has succeeded since
		if !e.trouble.IsZero() && e.trouble.Before(began) {
			began = e.trouble
		}
		e.mu.Unlock()
		// The breaker learns of the last failure at its answer, and a client may be between requests, or waiting for
		// that answer.
		seen := back.Add(w.latency).Sub(began)
		latest := back.Add(w.latency + min(max(time.Second, seen), 30*time.Second))
		if i+1 < len(begin) && begin[i+1].Before(latest) {
			continue // the next outage comes first
		}
		time.Sleep(time.Until(back.Add(w.latency)))
		synctest.Wait()
		e.mu.Lock()
		if e.asked.After(latest) {
			latest = e.asked
		}
		e.mu.Unlock()
		if i+1 < len(begin) && begin[i+1].Before(latest) {
			continue
		}
		latest = latest.Add(w.latency + w.think)
		time.Sleep(time.Until(latest))
		synctest.Wait()
		e.mu.Lock()
		first := time.Time{}
		for _, sent := range e.sent {
			if !sent.Before(back) {
				first = sent
				break
			}
		}
		e.mu.Unlock()
		if first.IsZero() || first.After(latest) {
			wrong = fmt.Sprintf("outage %d: back at %v, no request by %v; %+v", i, back, latest, b.Status())
			break
		}
	}
	opened = b.Status().Counts.Opened
	cancel()
	workers.Wait()
	b.Reset() // its timer
	return wrong, opened
}

// For any outages and number of requests in flight: after the service is back, the first request is allowed within
// the length of the outage or a second, whichever is longer, and within half a minute. Only a Retry-After that asks
// for more may delay it.
func TestTheTimeToRecoverIsBoundedByTheLengthOfTheOutage(t *testing.T) {
	opened := uint64(0)
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWeather(rt) // draws may end their goroutine, so not in the bubble
		var wrong string
		synctest.Test(t, func(t *testing.T) {
			var n uint64
			wrong, n = w.recoveries(t)
			opened += n
		})
		if wrong != "" {
			rt.Fatalf("%+v\n%s", w, wrong)
		}
	})
	assert.Positive(t, opened)
}

// A bug report had this schedule: 50 ms without a connection cost 30 s if three requests were in flight.
func TestABlipCostsASecondAtMostHoweverManyAreInFlight(t *testing.T) {
	for _, workers := range []int{1, 3, 8, 100} {
		synctest.Test(t, func(t *testing.T) {
			w := weather{workers: workers, think: 10 * time.Millisecond, outages: []outage{{up: time.Second, down: 50 * time.Millisecond, r: fail}}}
			wrong, _ := w.recoveries(t)
			assert.Empty(t, wrong, "%d in flight", workers)
		})
	}
}
