package bufferedsender

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/publisher"
)

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
