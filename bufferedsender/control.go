package bufferedsender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
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

// Purge gives up at most `most` waiting actions (all, unless most > 0) like PurgeOldest, and returns their number. If
// ctx has a class (models.WithClass), more urgent ones stay. It returns 0 while the breaker is closed, with FailSoon,
// and with a Queue. Called in a callback, or if a callback still runs when ctx ends, it returns 0 and takes effect
// later.
func (s *sender) Purge(ctx context.Context, most int) int {
	if s.feed != nil {
		return 0
	}
	ctx = orBackground(ctx)
	class, _ := models.ClassOf(ctx)
	if int(class) >= classesOfPool {
		class = models.ClassExpedited
	}
	return s.publisher.Purge(ctx, max(most, 0), uint8(class))
}

// Health is the state of a sender, with the reason if it does not send.
type Health struct {
	// If several states apply, State is the one declared last in package events.
	State events.HealthState
	// Since is when the sender entered State.
	Since time.Time
	// Reason is Err as text, that the service throttles, or which process has leased what a Queue holds; otherwise "".
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
	if s.feed != nil && h.Reason == "" {
		if who := s.feed.tally.others.Load(); who != nil {
			h.Reason = *who
		}
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

// Control holds the settings that SetControl can change: fields of Options and Hold. RequestTimeout, UnknownWait, Retry
// and DisableAutoFlush cannot change.
type Control struct {
	// Limits are the limits in force. Options.Tuning may reduce them further.
	Limits Limits
	// AutoFlushInterval also applies to waiting actions; negative means no limit. It is 0 with DisableAutoFlush.
	AutoFlushInterval time.Duration
	// WhenFull takes effect at once for waiting adding calls. It is zero with FailSoon and with DisableAutoFlush.
	WhenFull WhenFull
}

// controls are the settings in force. The lock is held while the publisher is changed, so that both agree.
type controls struct {
	mu      sync.Mutex
	current Control // guarded by mu
}

// control returns the changeable settings of the options, after complete.
func (o *settings) control() Control {
	c := Control{Limits: o.Limits, AutoFlushInterval: o.AutoFlushInterval}
	if o.DisableAutoFlush {
		c.AutoFlushInterval = 0
	}
	if hold := o.held(); hold.Breaker != nil && !o.DisableAutoFlush {
		c.WhenFull = hold.WhenFull
		c.WhenFull.given = true
	}
	return c
}

// Control returns the settings in force, with all defaults set.
func (s *sender) Control() Control {
	s.controls.mu.Lock()
	defer s.controls.mu.Unlock()
	return s.controls.current
}

// SetControl changes settings at once and returns the old ones. A zero field, also in Limits, stays unchanged; to turn
// off, use a negative AutoFlushInterval, or WaitForRoom. An invalid value changes nothing; the error names every
// problem. Accepted actions stay accepted.
func (s *sender) SetControl(c Control) (old Control, err error) {
	s.controls.mu.Lock()
	defer s.controls.mu.Unlock()
	old = s.controls.current
	next := old.with(c)
	if err := errors.Join(next.Limits.validate(), s.checkEffect(c), c.WhenFull.validate()); err != nil {
		return old, fmt.Errorf("bufferedsender: %w", err)
	}
	s.controls.current = next
	s.largestBody.Store(int64(next.Limits.largestBody()))
	if next.Limits != old.Limits {
		s.newLimits.Store(&next.Limits)
	}
	s.publisher.SetControl(publisher.Control{
		Limits: next.Limits.forPublisher(), Interval: next.AutoFlushInterval, Overload: s.observer.policy(next.WhenFull),
	})
	return old, nil
}

// with returns c, overridden by the nonzero fields of other.
func (c Control) with(other Control) Control {
	c.Limits = c.Limits.with(other.Limits)
	c.AutoFlushInterval = cmp.Or(other.AutoFlushInterval, c.AutoFlushInterval)
	if other.WhenFull.given {
		c.WhenFull = other.WhenFull
	}
	return c
}

// checkEffect refuses settings that would have no effect.
func (s *sender) checkEffect(c Control) error {
	var errs []error
	if c.AutoFlushInterval != 0 && s.options.DisableAutoFlush {
		errs = append(errs, errors.New("AutoFlushInterval has no effect on a sender with DisableAutoFlush: leave it 0"))
	}
	switch hold := s.options.held(); {
	case !c.WhenFull.given:
	case hold.Breaker == nil:
		errs = append(errs, errors.New("WhenFull has no effect on a sender with FailSoon, which never suspends sending: leave it zero"))
	case s.options.DisableAutoFlush:
		errs = append(errs, errors.New("WhenFull has no effect on a sender with DisableAutoFlush, whose adding calls never wait: leave it zero"))
	case s.feed != nil:
		errs = append(errs, c.WhenFull.withQueue())
	}
	return errors.Join(errs...)
}

// with returns l, overridden by the nonzero fields of other.
func (l Limits) with(other Limits) Limits {
	if l.MinBatchActions == l.MaxBatchActions && other.MaxBatchActions > 0 { // the default: a full batch
		l.MinBatchActions = other.MaxBatchActions
	}
	l.MinBatchActions = cmp.Or(other.MinBatchActions, l.MinBatchActions)
	l.MaxBatchActions = cmp.Or(other.MaxBatchActions, l.MaxBatchActions)
	l.MaxBatchBytes = cmp.Or(other.MaxBatchBytes, l.MaxBatchBytes)
	l.MaxInFlight = cmp.Or(other.MaxInFlight, l.MaxInFlight)
	l.MaxBufferedActions = cmp.Or(other.MaxBufferedActions, l.MaxBufferedActions)
	l.MaxBufferedBytes = cmp.Or(other.MaxBufferedBytes, l.MaxBufferedBytes)
	return l
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

// checkMin compares MinBatchActions with the size of a batch.
func (l Limits) checkMin() error {
	if l.MinBatchActions > l.MaxBatchActions && l.MaxBatchActions > 0 {
		return fmt.Errorf("MinBatchActions is %d: use at most MaxBatchActions, which is %d", l.MinBatchActions, l.MaxBatchActions)
	}
	return nil
}

// largestBody is the largest request with one document, in bytes.
func (l Limits) largestBody() int { return int(min(int64(l.MaxBatchBytes), l.MaxBufferedBytes)) }

func (l Limits) forPublisher() publisher.Limits {
	return publisher.Limits{
		BatchItems: l.MaxBatchActions, Enough: l.MinBatchActions, BatchBytes: l.MaxBatchBytes, InFlight: l.MaxInFlight,
		Items: l.MaxBufferedActions, Bytes: l.MaxBufferedBytes,
	}
}

// tuner adapts a tuning controller to the publisher and returns it with its initial pace. It returns nil for a policy
// that never changes anything: then the publisher uses its own back-off. guard contains panics of a controller. New
// limits arrive through widened; a controller that does not implement tuning.Resizer is replaced.
func (o *settings) tuner(limits Limits, widened *atomic.Pointer[Limits], guard func(code, func())) (publisher.Tuner, publisher.Tuned) {
	if o.Tuning == tuning.Fixed() {
		return nil, publisher.Tuned{}
	}
	var controller tuning.Controller
	var now publisher.Tuned
	begin := func(l Limits) {
		bounds := tuning.Bounds{Max: tuning.Pace{
			BatchActions: l.MaxBatchActions, BatchBytes: l.MaxBatchBytes, InFlight: l.MaxInFlight,
		}}
		guard(inTuning, func() {
			if resizer, ok := controller.(tuning.Resizer); ok {
				now = tunedBy(resizer.Resize(bounds))
				return
			}
			controller = o.Tuning.New(bounds)
			now = tunedBy(controller.Pace())
		})
	}
	begin(limits)
	return func(s publisher.Sample) publisher.Tuned {
		if l := widened.Swap(nil); l != nil {
			begin(*l)
		}
		guard(inTuning, func() {
			now = tunedBy(controller.Observe(tuning.Observation{
				Now: s.Now, Started: s.Started, Actions: s.Items, Bytes: s.Bytes, Done: s.Done, Throttled: s.Throttled,
				Refused: s.Refused, Broken: s.Service == publisher.ServiceFails && !s.Refused, InFlight: s.InFlight, Backlog: s.Backlog,
			}))
		})
		return now
	}, now
}

func tunedBy(l tuning.Pace) publisher.Tuned {
	return publisher.Tuned{BatchItems: l.BatchActions, BatchBytes: l.BatchBytes, InFlight: l.InFlight, Interval: l.Interval}
}
