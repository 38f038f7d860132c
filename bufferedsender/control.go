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

// Pause stops all sending until Resume. Requests in flight continue.
func (s *sender) Pause() { s.publisher.Pause() }

// Resume ends a Pause or a wait for Retry-After, but not an open breaker.
func (s *sender) Resume() {
	s.publisher.Resume()
	if s.feed != nil {
		s.feed.wake() // the publisher may have missed a short Pause that the feed has seen
	}
}

// Purge gives up at most `most` waiting actions (all, unless most > 0) like PurgeOldest, and returns their number. It
// returns 0 while the breaker is closed, with FailSoon, and with a Queue. Called in a callback, or if a callback still
// runs when ctx ends, it returns 0 and takes effect later.
func (s *sender) Purge(ctx context.Context, most int) int {
	if s.feed != nil {
		return 0
	}
	return s.publisher.Purge(orBackground(ctx), max(most, 0))
}

// Health is the state of a sender, with the reason if it does not send.
type Health struct {
	// If several states apply, State is the one declared last in package events.
	State events.HealthState
	// Since is when the sender entered State.
	Since time.Time
	// Reason is Err as text, or that the service throttles; otherwise "".
	Reason string
	// Err is the reason for not sending: ErrCircuitOpen, ErrPaused or the service's answer. It also names user code
	// (callback, DeadLetters, Tap, HoldKeys) that has blocked the sender for ten seconds, and adding calls that have waited
	// that long for room of other senders in the pool. Otherwise it reports that no request was answered for a quarter of
	// RequestTimeout, or a fault of Options.Queue (queue.Faulty): it does not answer or is paused, or the Loader fails.
	Err error
}

// Ready is for readiness probes. It returns an error if the sender is closed, or if its breaker is open because of the
// service or the credentials, but not because of an index.
func (h Health) Ready() error {
	switch {
	case h.State == events.HealthStateClosing, h.State == events.HealthStateClosed:
		return ErrClosed
	case h.State == events.HealthStateCircuitOpen && !ofIndex(h.Err):
		return h.Err
	}
	return nil
}

// ofIndex reports whether the breaker is open because of the index, not the service.
func ofIndex(err error) bool {
	if errors.As(err, new(*publisher.IndexError)) {
		return true
	}
	status := statusOfError(err)
	return status != 0 && !retry.IsForeign(err) && reasonOfStatus(status, true, false) == models.ReasonNoIndex
}

// Health returns the current state of the sender. It never blocks.
func (s *sender) Health() Health {
	c := s.publisher.Condition()
	h := healthOf(c)
	stuck := c.Stuck(unheard)
	h.add(stuck) // even with an open breaker: it cannot close while nothing is sent
	if h.Err == nil && c.Silent >= s.silent() {
		h.add(fmt.Errorf("no request was answered for %s", c.Silent.Round(time.Second)))
	}
	if s.feed != nil && (h.Err == nil || h.Err == stuck) { //nolint:errorlint // it is that very one
		h.add(s.feed.fault())
	}
	return h
}

// add appends err to Err and Reason, unless err is nil.
func (h *Health) add(err error) {
	switch {
	case err == nil:
	case h.Err == nil:
		h.Err, h.Reason = err, err.Error()
	default:
		h.Err, h.Reason = fmt.Errorf("%w; %w", h.Err, err), h.Reason+"; "+err.Error()
	}
}

// unheard is how long a required part may be silent before Health reports it.
const unheard = 10 * time.Second

// silent returns how long all requests may be unanswered before Health reports it.
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
		h.Reason = "the service throttles"
	}
	return h
}
