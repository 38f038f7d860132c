package faults

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// blips are rows with short faults, of a moment or a few seconds. They check that nothing is lost, and measure how
// soon sending recovers.
func blips(s setting) []row {
	all := []row{blip(s, 1), blip(s, 3), blip(s, 8)}
	for _, status := range []int{http.StatusFound, http.StatusMethodNotAllowed, 520} {
		all = append(all, row{
			name: fmt.Sprintf("%d-for-5-s", status), what: fmt.Sprintf("every request is answered %d for 5 s", status), spread: 9 * time.Second,
			phases:   []phase{script(2*time.Second, faults(searchtest.Fault{Status: status})), script(7*time.Second, nil)},
			recovery: afterPhase, needs: map[string]int{fmt.Sprintf("request %d", status): 1},
		})
	}
	for _, c := range [][2]string{{"0", "0"}, {"past", "Mon, 02 Jan 2006 15:04:05 GMT"}} {
		all = append(all, row{
			name: "retry-after-" + c[0], what: fmt.Sprintf("every request is answered 503 with Retry-After: %s for 5 s", c[1]), spread: 9 * time.Second,
			service:  serviceConfig{Trouble: trouble{RetryAfter: c[1]}},
			phases:   []phase{script(2*time.Second, faults(searchtest.Fault{Status: 503})), script(7*time.Second, nil)},
			recovery: afterPhase, needs: map[string]int{"request 503": 1},
		})
	}
	return append(all,
		row{
			name: "half-502", what: "half of all requests are answered 502, by chance, for 8 s", spread: 10 * time.Second,
			options:  func(o *bufferedsender.Options[document]) { o.Limits.MaxBatchActions = s.batch() },
			phases:   []phase{script(0, faults(searchtest.Fault{Probability: 0.5, Status: 502})), script(8*time.Second, nil)},
			recovery: afterPhase, needs: map[string]int{"request 502": 2},
		},
		row{
			name: "key-rotated-8", what: "every request is answered 401 for 5 s, with 8 in flight (MaxInFlight), until the client gets the new key", spread: 9 * time.Second,
			service: serviceConfig{Latency: searchtest.Duration(s.span(50 * time.Millisecond))},
			options: func(o *bufferedsender.Options[document]) {
				o.Limits.MaxInFlight, o.Limits.MaxBatchActions = 8, s.batch()
			},
			phases:   []phase{steer(2*time.Second, "rotate"), {at: 7 * time.Second, over: true, do: rotateCredential}},
			recovery: afterPhase, needs: map[string]int{"request 401": 1},
		},
		row{
			name: "close-in-outage", what: "connections are refused from 1 s on; Close, called after 3 s with a deadline of 300 ms, writes the rest to the dead letters", spread: 4 * time.Second,
			phases:  []phase{steer(time.Second, "off")},
			letters: true, closeAt: 3 * time.Second, closeIn: 300 * time.Millisecond,
			needs: map[string]int{"connection broken": 1, "unsent": 1, "not accepted": 1},
		},
	)
}

// blip returns a row in which connections break and are refused for a moment while n requests are in flight.
func blip(s setting, n int) row {
	latency := s.span(time.Duration(n) * 20 * time.Millisecond)
	return row{
		name: fmt.Sprintf("blip-%d", n), what: fmt.Sprintf("connections break and are refused for 50 ms, with %d in flight (MaxInFlight)", n), spread: time.Second,
		service: serviceConfig{Latency: searchtest.Duration(latency)},
		options: func(o *bufferedsender.Options[document]) {
			o.Limits.MaxInFlight, o.Limits.MaxBatchActions = n, s.batch()
		},
		phases:   []phase{steer(500*time.Millisecond, "off"), onceBroken(steer(550*time.Millisecond, "on"))},
		recovery: afterPhase, needs: map[string]int{"connection broken": 1},
	}
}

// onceBroken delays a phase until the sender has had a broken connection. With -fast a blip takes 5 ms, and a busy
// machine may send nothing in that time.
func onceBroken(ph phase) phase {
	do := ph.do
	ph.do = func(ctx context.Context, r *run) error {
		select {
		case <-r.ledger.broken:
			return do(ctx, r)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ph
}

// batch is the batch size at which a row has a hundred batches.
func (s setting) batch() int { return max(s.documents/100, 1) }

// full is the batch size of a sender with the default options.
func (s setting) full() int {
	if s.fast {
		return fastBatch
	}
	return bufferedsender.DefaultMaxBatchActions
}

// causes are rows whose faults come from documents or from the way to the service.
func causes(s setting) []row {
	poison := row{
		name: "poison", what: "one document breaks the connection of every request that carries it: it alone must fail",
		shape: shape{giants: []int{2 * bodyBytes}}, spread: 6 * time.Second, limit: 3 * time.Minute,
		needs:   map[string]int{"connection broken": 2},
		mayFail: thePoisonFails,
	}
	poison.service.Trouble.Poison = s.giantKey(poison.shape)

	full := s.full()
	timeout := s.span(2 * time.Second)
	return []row{
		poison,
		{
			name: "slow-line", what: "a full batch takes twice the RequestTimeout (2 s) to arrive, a quarter of it half the timeout",
			shape: shape{documents: s.documents / 8}, limit: time.Minute,
			service: serviceConfig{Trouble: trouble{Line: float64(full*650) / (2 * timeout).Seconds()}},
			options: func(o *bufferedsender.Options[document]) { o.RequestTimeout = timeout },
			needs:   map[string]int{"no reply in time": 1},
		},
		{
			name: "drift", what: "the index lacks a field that most documents have, for 4 s", spread: 6 * time.Second,
			service:  serviceConfig{Trouble: trouble{Drifted: true}},
			phases:   []phase{steer(4*time.Second, "mend")},
			recovery: afterPhase, needs: map[string]int{"request 400": 1}, mayFail: someRefused(),
		},
		{
			name: "drift-half", what: "for 4 s the index lacks a field that the documents of half of the producers have", spread: 6 * time.Second,
			shape:    shape{unranked: producers / 2},
			service:  serviceConfig{Trouble: trouble{Drifted: true}},
			phases:   []phase{steer(4*time.Second, "mend")},
			recovery: afterPhase, needs: map[string]int{"request 400": 1}, mayFail: someRefused(),
		},
	}
}

// someRefused allows the failures that it takes to identify the index as the cause: twenty keys.
func someRefused() func(*plan, action, int) bool { return mayFailFew(http.StatusBadRequest) }

func mayFailFew(allowed int) func(*plan, action, int) bool {
	refused := 0
	return func(_ *plan, _ action, status int) bool {
		if status == allowed {
			refused++
		}
		return status == allowed && refused <= 20
	}
}

// giantKey returns the key of the only giant in a row of the given shape.
func (s setting) giantKey(of shape) string {
	of.documents, of.size = s.documents, bodyBytes
	p := newPlan(of)
	return p.key(p.giants[0])
}

func thePoisonFails(_ *plan, a action, status int) bool { return a.size == 2*bodyBytes && status == 0 }
