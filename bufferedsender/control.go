package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// Pause holds all sending until Resume. Requests under way go on, actions are
// accepted as long as there is room, and Flush and Close wait: when their
// context ends, ErrPaused is in the chain of their error. Pausing twice is the
// same as once.
func (s *sender) Pause() { s.publisher.Pause() }

// Resume ends a Pause, and the wait that the service has asked for with Retry-After
// or that follows a failed request. It does not close the breaker.
func (s *sender) Resume() {
	s.publisher.Resume()
	if s.feed != nil {
		s.feed.wake() // the publisher may not have seen the Pause, which the feed has
	}
}

// Purge gives up the actions that wait, oldest first, while the breaker is not closed: at
// most so many if most is positive, otherwise all. They fail with ErrPurged, as if the buffer were full under
// [PurgeOldest], and OnPurged is called with their keys. What is in flight stays, and what
// is behind it for the same key. It returns how many were given up: none while the breaker is closed, with
// a Queue, which keeps what it has, or with FailSoon. It waits for a callback of this sender that is
// running, until ctx ends; then, and when it is called in one, it takes effect after the callback and returns 0.
func (s *sender) Purge(ctx context.Context, most int) int {
	if s.feed != nil {
		return 0
	}
	return s.publisher.Purge(orBackground(ctx), max(most, 0))
}

// Health is what a sender does, or what keeps it from doing it.
type Health struct {
	// State is the condition; of several that are true the last in the order of
	// their constants.
	State events.HealthState
	// Since is when the sender came into it.
	Since time.Time
	// Reason says in words why, "" if there is nothing to say.
	Reason string
	// Err is the reason as an error, for errors.Is: ErrCircuitOpen, ErrPaused, or
	// what the service answered. If nothing keeps the sender from sending, it says whatever the State
	// that no request has been answered for a quarter of Options.RequestTimeout, that a callback or
	// Options.DeadLetters has not returned for ten seconds, or what is wrong with Options.Queue (see queue.Faulty):
	// that it does not answer, or is paused, or that Options.Loader fails. It is nil when all are healthy.
	Err error
}

// Ready returns nil if the program may be given traffic, and otherwise why not: the sender is closed, or its breaker
// is open because of the service or the credentials. It is for a readiness probe; for an alarm ask for Err. An index
// that is missing, or that refuses all documents, is no reason to take the program off a load balancer, whose other
// instances cannot send to it either; and a breaker that is half-open is waiting for something to try with.
func (h Health) Ready() error {
	switch {
	case h.State == events.HealthStateClosing, h.State == events.HealthStateClosed:
		return ErrClosed
	case h.State == events.HealthStateCircuitOpen && !ofIndex(h.Err):
		return h.Err
	}
	return nil
}

// ofIndex reports whether the reason of an open breaker is the index, and not the service.
func ofIndex(err error) bool {
	if errors.As(err, new(*publisher.IndexError)) {
		return true
	}
	status := statusOfError(err)
	return status != 0 && !retry.IsForeign(err) && reasonOfStatus(status, true, false) == models.ReasonNoIndex
}

// Health returns how the sender is. It is cheap and never waits.
func (s *sender) Health() Health {
	c := s.publisher.Condition()
	h := healthOf(c)
	if h.Err == nil && c.Silent >= s.silent() {
		h.Err = fmt.Errorf("no request was answered for %s", c.Silent.Round(time.Second))
	}
	if h.Err == nil && c.Busy >= unheard {
		h.Err = fmt.Errorf("nothing is sent: a callback, or Options.DeadLetters, has not returned for %s", c.Busy.Round(time.Second))
	}
	if s.feed != nil && h.Err == nil {
		h.Err = s.feed.fault()
	}
	if h.Err != nil && h.Reason == "" {
		h.Reason = h.Err.Error()
	}
	return h
}

// unheard is how long a part that nothing goes on without may be silent before that is worth an alarm.
const unheard = 10 * time.Second

// silent is for how long no request is answered before that is worth an alarm.
func (s *sender) silent() time.Duration {
	limit := s.options.RequestTimeout
	if limit <= 0 {
		limit = DefaultRequestTimeout
	}
	return limit / 4
}

var healthStates = map[publisher.State]events.HealthState{
	publisher.Sending:   events.HealthStateHealthy,
	publisher.Slotless:  events.HealthStateWaitingForSlot,
	publisher.Throttled: events.HealthStateThrottled,
	publisher.Ready:     events.HealthStateHalfOpen,
	publisher.Held:      events.HealthStateCircuitOpen,
	publisher.Paused:    events.HealthStatePaused,
	publisher.Closing:   events.HealthStateClosing,
	publisher.Closed:    events.HealthStateClosed,
}

func healthOf(c publisher.Condition) Health {
	h := Health{State: healthStates[c.State], Since: c.Since, Err: c.Err}
	switch {
	case h.Err != nil:
		h.Reason = h.Err.Error()
	case h.State == events.HealthStateThrottled:
		h.Reason = "the service asks for less"
	}
	return h
}
