package bufferedsender_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the files pressure_*_test.go share. They know the sender by its promises
// only.

// ending is a terminal event with all that the recorder of the rig leaves out.
type ending struct {
	key, kind                           string // completed or failed
	typ                                 models.ActionType
	tag                                 any
	status, attempts                    int
	folded, superseded, unsent, unknown bool
	err                                 error
}

// ledger notes what a sender tells, and in which order.
type ledger struct {
	mu     sync.Mutex
	ends   []ending
	health []events.HealthChange
	purged []string
	order  []string // "failed k", "letters k l", "purged k l", "health open", "closed"
}

func (l *ledger) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = append(l.order, fmt.Sprintf(format, args...))
}

func (l *ledger) handlers() hotelHandlers { return ledgerHandlers[hotel](l) }

func ledgerHandlers[T any](l *ledger) events.Handlers[T] {
	end := func(e ending) {
		l.note("%s %s", e.kind, e.key)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ends = append(l.ends, e)
	}
	return events.Handlers[T]{
		ActionSent: func(_ context.Context, e *events.ActionSent[T]) { l.note("sent %s", e.Key) },
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[T]) {
			end(ending{
				key: e.Key, kind: "completed", typ: e.Action.Type, tag: e.Action.Tag, status: e.Result.StatusCode, attempts: e.Attempts,
				folded: e.Folded, superseded: e.Superseded,
			})
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[T]) {
			failed := ending{
				key: e.Key, kind: "failed", typ: e.Action.Type, tag: e.Action.Tag, attempts: e.Attempts,
				folded: e.Folded, superseded: e.Superseded, unsent: e.Unsent, unknown: e.Unknown, err: e.Err,
			}
			if e.Result != nil {
				failed.status = e.Result.StatusCode
			}
			end(failed)
		},
		HealthChanged: func(_ context.Context, h *events.HealthChange) {
			l.note("health %s", h.To)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.health = append(l.health, *h)
		},
		Closed: func(context.Context) error { l.note("closed"); return nil },
	}
}

func (l *ledger) onPurged(_ context.Context, keys []string) {
	l.note("purged %s", strings.Join(keys, " "))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.purged = append(l.purged, keys...)
}

// endings returns the ends so far, those of one key if it is not "".
func (l *ledger) endings(key string) (found []ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.ends {
		if key == "" || e.key == key {
			found = append(found, e)
		}
	}
	return found
}

// told returns what was noted, in order: the notes that begin with one of the
// words, all without any.
func (l *ledger) told(words ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.order {
		for _, word := range words {
			if strings.HasPrefix(line, word) {
				found = append(found, line)
			}
		}
		if len(words) == 0 {
			found = append(found, line)
		}
	}
	return found
}

func (l *ledger) states() (states []events.HealthState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.health {
		states = append(states, h.To)
	}
	return states
}

func (l *ledger) lost() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.purged...)
}

// letterbox is a deadletter.Sink that notes in a ledger when it is written to.
type letterbox struct {
	ledger *ledger
	fail   func() error // what Write returns, or nil

	mu      sync.Mutex
	writes  int
	letters []deadletter.Letter
}

func (s *letterbox) Write(_ context.Context, letters []deadletter.Letter) error {
	var keys []string
	for _, l := range letters {
		keys = append(keys, l.Key)
	}
	if s.ledger != nil {
		s.ledger.note("letters %s", strings.Join(keys, " "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.fail != nil {
		return s.fail()
	}
	s.letters = append(s.letters, letters...)
	return nil
}

func (s *letterbox) all() []deadletter.Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]deadletter.Letter(nil), s.letters...)
}

// newBreaker is breaker.New with options that are right.
func newBreaker(t *testing.T, opts *breaker.Options) *breaker.Breaker {
	t.Helper()
	b, err := breaker.New(opts)
	require.NoError(t, err)
	return b
}

// steadyBreaker returns a breaker that stays open for exactly 30 s, or as long as
// opts say, however long the trouble has lasted: most tests are not about when
// the next probe is due, and can name the second.
func steadyBreaker(t *testing.T, opts *breaker.Options) *breaker.Breaker {
	t.Helper()
	var o breaker.Options
	if opts != nil {
		o = *opts
	}
	if o.OpenFor == 0 {
		o.OpenFor = 30 * time.Second
	}
	if o.MaxOpenFor == 0 {
		o.MaxOpenFor = o.OpenFor
	}
	o.Jitter = -1
	return newBreaker(t, &o)
}

// mute is for senders without a rig that have much to say.
var mute = slog.New(slog.DiscardHandler)

// atOnce makes retries follow without any delay, so that the times of a test
// are those of the breaker alone.
var atOnce = retry.Options{Delay: -1}

// sick is a service that answers that it is out of order.
var sick = always(http.StatusInternalServerError, refusal("out of order"))

// locked is one that lets nobody in: it certainly has not applied anything.
var locked = always(http.StatusUnauthorized, refusal("who are you?"))

// down makes the service answer every request with a status, those of Ping too.
func (r *rig) down(status int) {
	r.srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Status: status}}})
}

// sicken makes the service sick, adds the documents, which must fill a batch or
// be flushed by somebody, and returns when the breaker is open and nothing moves.
func (r *rig) sicken(docs ...hotel) {
	r.t.Helper()
	r.sickenWith(sick, docs...)
}

// sickenWith is sicken with an answer that must be a failure for the breaker.
func (r *rig) sickenWith(a answer, docs ...hotel) {
	r.t.Helper()
	r.respond(a)
	r.upload(docs...)
	synctest.Wait()
	require.Equal(r.t, breaker.Open, r.sender.Breaker().Status().State)
	require.Zero(r.t, r.sender.Stats().InFlight)
}

// since returns the requests that arrived at or after a time.
func (r *rig) since(at time.Duration) (xs []*exchange) {
	for _, x := range r.requests() {
		if x.at >= at {
			xs = append(xs, x)
		}
	}
	return xs
}

// heldOpen checks that an error of a call says that the breaker is why it ended.
func heldOpen(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
	require.ErrorIs(t, err, breaker.ErrOpen)
}

// tags returns the tags of endings, in order.
func tags(ends []ending) (all []any) {
	for _, e := range ends {
		all = append(all, e.tag)
	}
	return all
}

// uploadTagged is an upload of a version of a hotel, tagged with it.
func uploadTagged(key string, version int) hotelAction {
	return models.UploadAction(hotel{ID: key, Rooms: version}).WithTag(version)
}

// add adds actions that must be accepted.
func (r *rig) add(actions ...hotelAction) {
	r.t.Helper()
	require.NoError(r.t, r.sender.IndexDocuments(within(r.t, time.Hour), actions...))
}

// later runs f beside the test and returns where its result will be.
func later[R any](f func() R) <-chan R {
	done := make(chan R, 1)
	go func() { done <- f() }()
	return done
}

// still checks that a call has not returned.
func still[R any](t *testing.T, done <-chan R, what string) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-done:
		assert.Fail(t, what+" has returned", "%v", r)
	default:
	}
}
