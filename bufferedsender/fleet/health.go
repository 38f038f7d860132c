package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Stats holds the counters and levels of a fleet.
type Stats struct {
	// Indexes is the number of indexes, Senders how many of them have a sender.
	Indexes, Senders int
	// All is the sum of the senders' Stats, including dropped and closed ones. Fields that are limits are 0.
	All bufferedsender.Stats
	// Pool has the slots by class, and the room.
	Pool pool.Stats
}

// Stats returns the sum of the counters of all senders. It does not block.
func (f *Fleet) Stats() Stats {
	all := f.all()
	s := Stats{Indexes: len(all), Pool: f.pool.Stats()}
	f.mu.Lock() // count a sender that is being closed once
	defer f.mu.Unlock()
	s.All = f.gone
	for _, e := range all {
		one := e.get()
		if one == nil || e.counted.Load() {
			continue
		}
		s.Senders++
		addTo(&s.All, one.Stats())
	}
	return s
}

// addTo adds the fields that can be summed. It keeps the maximum of OldestAge.
func addTo(sum *bufferedsender.Stats, s bufferedsender.Stats) {
	sum.Accepted += s.Accepted
	sum.Completed += s.Completed
	sum.Failed += s.Failed
	sum.Purged += s.Purged
	sum.Withdrawn += s.Withdrawn
	sum.Unsent += s.Unsent
	sum.PendingActions += s.PendingActions
	sum.PendingBytes += s.PendingBytes
	sum.OldestAge = max(sum.OldestAge, s.OldestAge)
	sum.BlockedProducers += s.BlockedProducers
	sum.BlockedBytes += s.BlockedBytes
	sum.HeldApart += s.HeldApart
	sum.Requests += s.Requests
	sum.InFlight += s.InFlight
	sum.BytesSent += s.BytesSent
	sum.Retries += s.Retries
	sum.Folded += s.Folded
	sum.Superseded += s.Superseded
	sum.Throttled += s.Throttled
	sum.Flushes += s.Flushes
	sum.Splits += s.Splits
	sum.Pauses += s.Pauses
	sum.DeadLetters += s.DeadLetters
	sum.DeadLetterErrors += s.DeadLetterErrors
	sum.CallbackPanics += s.CallbackPanics
	sum.Appended += s.Appended
	sum.Kept += s.Kept
	sum.Stale += s.Stale
}

// Health is the state of a fleet.
type Health struct {
	// Indexes are the indexes that are not healthy, sorted by name.
	Indexes []IndexHealth
	// Of is the number of senders.
	Of int
	// Service is the reason why nothing is sent to any index: the service breaker is not closed, or the fleet is closed
	// (ErrClosed). Otherwise nil.
	Service error

	unready error // of the first sender that is not ready, if no other one sends
}

// IndexHealth is the state of one index's sender.
type IndexHealth struct {
	Index string
	bufferedsender.Health
}

// Err returns nil if all senders are healthy, wait for a slot or are throttled; otherwise it returns what keeps the
// others from sending. Use it for alarms; a readiness probe calls Ready.
func (h Health) Err() error {
	var errs []error
	if h.Service != nil {
		errs = append(errs, h.Service)
	}
	for _, i := range h.sick() {
		errs = append(errs, fmt.Errorf("index %q: %s", i.Index, i.words()))
	}
	return errors.Join(errs...)
}

// Ready returns nil if the program may receive traffic: the fleet is not closed, the service breaker is not open, and
// of the senders that have something to send, sent lately or are suspended, at least one is ready by its own
// bufferedsender.Health.Ready. While the service breaker is half-open Ready returns nil until a probe is in flight,
// because the probe needs a document to send.
func (h Health) Ready() error {
	refused := (*breaker.OpenError)(nil)
	if errors.As(h.Service, &refused) && refused.Status.State == breaker.HalfOpen && refused.Status.Probe.IsZero() {
		return nil
	}
	if h.Service == nil {
		return h.unready
	}
	return h.Service
}

// Returns the indexes to which nothing is sent, without those that are busy: throttled or waiting for a slot.
func (h Health) sick() []IndexHealth {
	return slices.DeleteFunc(slices.Clone(h.Indexes), func(i IndexHealth) bool {
		return i.State == events.HealthStateThrottled || i.State == events.HealthStateWaitingForSlot && i.Err == nil
	})
}

// String describes the fleet in one line.
func (h Health) String() string {
	var b strings.Builder
	sick := h.sick()
	if len(sick) == 0 {
		fmt.Fprintf(&b, "all %d senders are healthy", h.Of)
	} else {
		fmt.Fprintf(&b, "%d of %d senders are not healthy", len(sick), h.Of)
	}
	if busy := len(h.Indexes) - len(sick); busy > 0 {
		fmt.Fprintf(&b, ", %d wait for a slot or are throttled", busy)
	}
	if h.Service != nil {
		fmt.Fprintf(&b, "; %v", h.Service)
	}
	const most = 3
	for _, i := range sick[:min(most, len(sick))] {
		fmt.Fprintf(&b, "; %q: %s", i.Index, i.words())
	}
	if n := len(sick) - most; n > 0 {
		fmt.Fprintf(&b, "; and %d more", n)
	}
	return b.String()
}

// words describes an index.
func (h IndexHealth) words() string {
	if h.Reason == "" {
		return h.State.String()
	}
	return h.State.String() + ": " + h.Reason
}

// Health returns the state of all senders. It does not block.
func (f *Fleet) Health() Health {
	var h Health
	ready := false
	for _, e := range f.all() {
		s := e.get()
		if s == nil {
			continue
		}
		h.Of++
		one := s.Health()
		if sends := f.sends(e, s, one.State); sends && one.Ready() == nil {
			ready = true
		} else if sends && h.unready == nil {
			h.unready = fmt.Errorf("index %q: %w", e.name, one.Ready())
		}
		if one.State != events.HealthStateHealthy || one.Err != nil {
			h.Indexes = append(h.Indexes, IndexHealth{e.name, one})
		}
	}
	if ready {
		h.unready = nil
	}
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if status := f.breaker.Status(); closed {
		h.Service = ErrClosed
	} else if status.State != breaker.Closed {
		h.Service = fmt.Errorf("the service as a whole: %w", &breaker.OpenError{Status: status})
	}
	return h
}

// sends reports whether the state of a sender shows whether the service and the credentials work. It does not while
// the program keeps the sender from sending.
func (f *Fleet) sends(e *entry, s sender, state events.HealthState) bool {
	switch state {
	case events.HealthStatePaused, events.HealthStateClosing, events.HealthStateClosed:
		return false
	}
	if e.opened.Load() != 0 {
		return s.Breaker().Status().State != breaker.Disabled
	}
	f.doubting.Lock()
	defer f.doubting.Unlock()
	return f.works(e, s)
}
