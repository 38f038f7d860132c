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

// Control is what SetControl changes, fields of Options and Hold. RequestTimeout, UnknownWait, Retry and
// DisableAutoFlush cannot change.
type Control struct {
	// Limits are those in force. Options.Tuning may narrow them.
	Limits Limits
	// AutoFlushInterval also applies to waiting actions; negative: for ever. It is 0 with DisableAutoFlush.
	AutoFlushInterval time.Duration
	// WhenFull acts at once on calls that wait for room. It is zero with FailSoon and with DisableAutoFlush.
	WhenFull WhenFull
}

// controls are what is in force. The lock is held while the publisher is given something
// new, so that both say the same.
type controls struct {
	mu      sync.Mutex
	current Control // guarded by mu
}

// control returns what can be changed as the options have it, after withDefaults.
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

// Control returns what is in force, with every default filled in.
func (s *sender) Control() Control {
	s.controls.mu.Lock()
	defer s.controls.mu.Unlock()
	return s.controls.current
}

// SetControl changes what is in force, at once, and returns what was. A field that is 0 stays as it is, in Limits
// too: off is a negative AutoFlushInterval, or WaitForRoom. An unusable value changes nothing; the error names
// every problem. What was accepted stays accepted.
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

// with returns c with what other gives.
func (c Control) with(other Control) Control {
	c.Limits = c.Limits.with(other.Limits)
	c.AutoFlushInterval = cmp.Or(other.AutoFlushInterval, c.AutoFlushInterval)
	if other.WhenFull.given {
		c.WhenFull = other.WhenFull
	}
	return c
}

// checkEffect refuses what would have no effect: whoever sets it expects one.
func (s *sender) checkEffect(c Control) error {
	var errs []error
	if c.AutoFlushInterval != 0 && s.options.DisableAutoFlush {
		errs = append(errs, errors.New("AutoFlushInterval is set, and the sender has DisableAutoFlush, with which it has no effect"))
	}
	switch hold := s.options.held(); {
	case !c.WhenFull.given:
	case hold.Breaker == nil:
		errs = append(errs, errors.New("WhenFull is set, and the sender has FailSoon, which never holds sending: it has no effect"))
	case s.options.DisableAutoFlush:
		errs = append(errs, errors.New("WhenFull is set, and the sender has DisableAutoFlush, with which no call waits: it has no effect"))
	case s.feed != nil:
		errs = append(errs, c.WhenFull.withQueue())
	}
	return errors.Join(errs...)
}

// with returns l with what other gives.
func (l Limits) with(other Limits) Limits {
	if l.MinBatchActions == l.MaxBatchActions && other.MaxBatchActions > 0 { // a full batch, however large that is
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
