package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// Pause holds all sending until Resume. Requests under way go on, actions are
// accepted as long as there is room, and Flush and Close wait: when their
// context ends, ErrPaused is in the chain of their error. Pausing twice is the
// same as once.
func (s *BufferedSender[T]) Pause() { s.publisher.Pause() }

// Resume ends a Pause, and the wait that the service has asked for with Retry-After
// or that follows a failed request. It does not close the breaker.
func (s *BufferedSender[T]) Resume() {
	s.publisher.Resume()
	if s.feed != nil {
		s.feed.wake() // the publisher may not have seen the Pause, which the feed has
	}
}

// Purge gives up the actions that wait, oldest first, while the breaker is not closed: at
// most so many if most is positive, otherwise all. They fail with ErrPurged, as if the buffer were full under
// [PurgeOldest], and the function of WhenFull is called with their keys. What is in flight stays, and what
// is behind it for the same key. It returns how many were given up: none while the breaker is closed, with
// a Queue, which keeps what it has, or with FailSoon. It waits for a callback that is
// running; called in one, it takes effect after it and returns 0.
func (s *BufferedSender[T]) Purge(most int) int {
	if s.feed != nil {
		return 0
	}
	return s.publisher.Purge(max(most, 0))
}

// FlushKeys sends what was accepted of the keys, without waiting for full batches, and
// returns when all of it is settled and its callbacks have run. What is accepted of them meanwhile waits until
// then. It reports no failures: callbacks do, and the next Flush. The error is ErrClosed; or that of
// ctx, with ErrCircuitOpen or ErrPaused in its chain if sending was held; with a Queue it is refused, because
// others may have reserved the keys. Use it before a partition is handed over.
func (s *BufferedSender[T]) FlushKeys(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	ctx = orBackground(ctx)
	began := time.Now()
	err := s.holdKeys(ctx, keys, func(context.Context, func(...models.RawAction) error) error { return nil })
	s.observer.drained(ctx, began, err)
	return err
}

// Limits returns the limits in force, which Options.Tuning may narrow.
func (s *BufferedSender[T]) Limits() Limits { return limitsOf(s.publisher.Limits()) }

// SetLimits changes limits and returns the old ones. A field that is 0 stays as
// it is. If a number cannot be used nothing is changed, and the error names
// every problem. The new limits count from the next request on. What was accepted
// under wider ones stays accepted: a document that is larger than the new
// MaxBatchBytes is still sent, alone.
func (s *BufferedSender[T]) SetLimits(l Limits) (old Limits, err error) {
	before, err := s.publisher.SetLimits(func(p publisher.Limits) (publisher.Limits, error) {
		limits := limitsOf(p)
		if limits.MinBatchActions == limits.MaxBatchActions && l.MaxBatchActions > 0 { // a full batch, however large that is
			set(&limits.MinBatchActions, l.MaxBatchActions)
		}
		set(&limits.MinBatchActions, l.MinBatchActions)
		set(&limits.MaxBatchActions, l.MaxBatchActions)
		set(&limits.MaxBatchBytes, l.MaxBatchBytes)
		set(&limits.MaxInFlight, l.MaxInFlight)
		set(&limits.MaxBufferedActions, l.MaxBufferedActions)
		set(&limits.MaxBufferedBytes, l.MaxBufferedBytes)
		if err := limits.validate(); err != nil {
			return p, err
		}
		s.largestBody.Store(int64(limits.largestBody()))
		s.newLimits.Store(&limits)
		return limits.forPublisher(), nil
	})
	if err != nil {
		return limitsOf(before), fmt.Errorf("bufferedsender: %w", err)
	}
	return limitsOf(before), nil
}

func set[N int | int64](limit *N, value N) {
	if value != 0 {
		*limit = value
	}
}

// validate names every problem of limits without zeros.
func (l Limits) validate() error {
	var errs []error
	between := func(name string, v, low, high int64, why string) {
		if v < low || v > high {
			errs = append(errs, fmt.Errorf("%s is %d: use a number from %d to %d%s", name, v, low, high, why))
		}
	}
	between("MinBatchActions", int64(l.MinBatchActions), 1, math.MaxInt32, "")
	between("MaxBatchActions", int64(l.MaxBatchActions), 1, ServiceMaxBatchActions, ", the most that the service takes")
	between("MaxBatchBytes", int64(l.MaxBatchBytes), int64(smallestBatch), math.MaxInt, "; no document fits into less")
	between("MaxInFlight", int64(l.MaxInFlight), 1, maxInFlight, "")
	between("MaxBufferedActions", int64(l.MaxBufferedActions), 1, math.MaxInt32, "")
	between("MaxBufferedBytes", l.MaxBufferedBytes, 1, math.MaxInt64, "")
	return errors.Join(append(errs, l.checkMin())...)
}

// checkMin compares MinBatchActions with what there is room for in a batch.
func (l Limits) checkMin() error {
	if l.MinBatchActions > l.MaxBatchActions && l.MaxBatchActions > 0 {
		return fmt.Errorf("MinBatchActions is %d: use at most MaxBatchActions, which is %d", l.MinBatchActions, l.MaxBatchActions)
	}
	return nil
}

// largestBody is the size of a request with one document at the most.
func (l Limits) largestBody() int { return int(min(int64(l.MaxBatchBytes), l.MaxBufferedBytes)) }

func (l Limits) forPublisher() publisher.Limits {
	return publisher.Limits{
		BatchItems: l.MaxBatchActions, Enough: l.MinBatchActions, BatchBytes: l.MaxBatchBytes, InFlight: l.MaxInFlight,
		Items: l.MaxBufferedActions, Bytes: l.MaxBufferedBytes,
	}
}

func limitsOf(p publisher.Limits) Limits {
	return Limits{
		MinBatchActions: p.Enough, MaxBatchActions: p.BatchItems, MaxBatchBytes: p.BatchBytes, MaxInFlight: p.InFlight,
		MaxBufferedActions: p.Items, MaxBufferedBytes: p.Bytes,
	}
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
	// what the service answered. It is nil when the sender is healthy.
	Err error
}

// Health returns how the sender is. It is cheap and never waits.
func (s *BufferedSender[T]) Health() Health { return healthOf(s.publisher.Condition()) }

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
