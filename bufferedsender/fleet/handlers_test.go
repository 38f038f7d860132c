package fleet

import (
	"context"
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// PurgeAll is called in handlers of two indexes at the same time.
func TestPurgeAllInTwoHandlersEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.answers(sendertest.StatusError(503), "a", "b")
		set := new(hints.Set)
		f := newFleet(t, s, &Options{Hints: set, Breaker: steady()})
		back := make(chan string, 2)
		opts := func(name string) *bufferedsender.Options[hotel] {
			once := true
			return &bufferedsender.Options[hotel]{Outage: bufferedsender.Hold{OnPurged: func(context.Context, []string) {
				if once {
					once = false
					time.Sleep(time.Second)
					_, _ = f.Purge(sendertest.Within(t, time.Minute))
					back <- name
				}
			}}}
		}
		a, b := senderOf(t, f, "a", opts("a")), senderOf(t, f, "b", opts("b"))
		upload(t, a, 5)
		upload(t, b, 5)
		time.Sleep(2 * time.Minute)
		require.Len(t, f.sick(), 2)
		go a.Purge(context.Background(), 0)
		go b.Purge(context.Background(), 0)
		for range 2 {
			select {
			case <-back:
			case <-time.After(time.Hour):
				t.Error("PurgeAll in a handler has not returned within an hour")
			}
		}
	})
}

// A handler blocks while its sender has the probe of the service.
func TestAHandlerOfOneIndexDoesNotKeepTheProbeOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService()
		s.takes = time.Second
		s.answers(sendertest.StatusError(400), "a")
		f := newFleet(t, s, nil)
		a := senderOf(t, f, "a", &bufferedsender.Options[hotel]{Outage: bufferedsender.Hold{OnPurged: func(context.Context, []string) { time.Sleep(time.Hour) }}})
		b := senderOf(t, f, "b", nil)
		p, err := f.Breaker().Allow()
		require.NoError(t, err)
		p.Done(breaker.Result{Outcome: breaker.Trip})
		upload(t, a, 5)
		go func() { _ = a.Flush(sendertest.Within(t, 3*time.Hour), nil) }()
		for s.requests("a") == 0 { // the probe is let through early
			time.Sleep(10 * time.Millisecond)
		}
		go a.Purge(context.Background(), 0)
		synctest.Wait()
		upload(t, b, 1)
		began := time.Now()
		_ = b.Flush(sendertest.Within(t, 2*time.Hour), nil)
		assert.Less(t, time.Since(began), time.Minute, "b waits for a handler of a")
		s.answers(nil, "a")
		time.Sleep(2 * time.Hour) // end of the handler
	})
}

// Close must end while an Indexer hangs.
type hanging struct{ *service }

func (h hanging) Indexer(index string) (bufferedsender.Indexer, error) {
	if index == "hangs" {
		time.Sleep(time.Hour)
	}
	return h.service.Indexer(index)
}

// A sender has a slot while a handler runs. The slow reader simulates a slow preparation.
type slowRand struct{ n int }

func (r *slowRand) Read(b []byte) (int, error) {
	if r.n++; r.n == 2 {
		time.Sleep(2 * time.Second)
	}
	return rand.Read(b)
}
