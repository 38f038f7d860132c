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

// Pause stops all sending, except for requests under way, until Resume.
func (s *sender) Pause() { s.publisher.Pause() }

// Resume ends a Pause, or a wait after Retry-After, but not the breaker's.
func (s *sender) Resume() {
	s.publisher.Resume()
	if s.feed != nil {
		s.feed.wake() // the publisher may not have seen the Pause, which the feed has
	}
}

// Purge gives up at most `most` waiting actions, all if that is not positive, as PurgeOldest does, and returns how
// many: 0 while the breaker is closed, with FailSoon, and with a Queue. In a callback, or if one still runs when
// ctx ends, it returns 0 and takes effect later.
func (s *sender) Purge(ctx context.Context, most int) int {
	if s.feed != nil {
		return 0
	}
	return s.publisher.Purge(orBackground(ctx), max(most, 0))
}

// Health is what a sender does, or what keeps it from doing it.
type Health struct {
	// State is the last of the conditions, in the order of the constants, that are true.
	State events.HealthState
	// Since is when the sender came into it.
	Since time.Time
	// Reason is Err in words, or that the service asks for less; "" if there is nothing to say.
	Reason string
	// Err is why the sender does not send: ErrCircuitOpen, ErrPaused or the service's answer. It also names a callback,
	// DeadLetters, Tap or function of HoldKeys that has blocked the sender for ten seconds, and says when adding calls
	// have waited that long for room that other senders of the pool hold. Otherwise it reports that no request was
	// answered for a quarter of RequestTimeout, or a fault of Options.Queue (queue.Faulty): it does not answer, is
	// paused, or the Loader fails.
	Err error
}

// Ready is for readiness probes: an error if the sender is closed, or its breaker is open because of service or
// credentials, not of an index.
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

// Health returns how the sender is. It never waits.
func (s *sender) Health() Health {
	c := s.publisher.Condition()
	h := healthOf(c)
	stuck := c.Stuck(unheard)
	h.add(stuck) // also to what a breaker says: it does not close while nothing is sent
	if h.Err == nil && c.Silent >= s.silent() {
		h.add(fmt.Errorf("no request was answered for %s", c.Silent.Round(time.Second)))
	}
	if s.feed != nil && (h.Err == nil || h.Err == stuck) { //nolint:errorlint // it is that very one
		h.add(s.feed.fault())
	}
	return h
}

// add adds to what is wrong, unless err is nil.
func (h *Health) add(err error) {
	switch {
	case err == nil:
	case h.Err == nil:
		h.Err, h.Reason = err, err.Error()
	default:
		h.Err, h.Reason = fmt.Errorf("%w; %w", h.Err, err), h.Reason+"; "+err.Error()
	}
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
