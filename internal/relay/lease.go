package relay

import (
	"sync/atomic"
	"time"
)

// Terms are the durations from which the deadlines of requests follow.
type Terms struct {
	// Margin is how long before the end of a lease no request may be in flight.
	Margin time.Duration
	// Shortest is the least time for which a request is worth beginning.
	Shortest time.Duration
}

// Shortest is how much must be left of a lease when a request begins that may take so long: the lease is extended while
// it lasts.
func Shortest(timeout time.Duration) time.Duration { return max(min(timeout/10, time.Second), 1) }

// Lease is the right to send records, from the time when it was taken until it expires, is lost or is given back. The
// zero value has expired. A lease that has ended stays ended: a record that is leased again has another Lease,
// because another holder may have sent newer records of its key meanwhile.
type Lease struct {
	end  atomic.Pointer[time.Time]
	back atomic.Bool
}

// Extend sets the end of the lease. Count it from before the back end was asked: its own count begins later.
func (l *Lease) Extend(end *time.Time) { l.end.Store(end) }

// End ends the lease: no request with its records begins any more, and one in flight is cut.
func (l *Lease) End() {
	l.end.Store(nil)
	l.back.Store(true)
}

// Ended reports whether the lease was ended, and has not only expired.
func (l *Lease) Ended() bool { return l.end.Load() == nil }

// Left is how much of the lease is left, by the clock that says less: a machine that sleeps stops the monotonic
// clock, and setting the time moves the other.
func (l *Lease) Left(now time.Time) time.Duration {
	end := l.end.Load()
	if end == nil {
		return 0
	}
	return min(end.Sub(now), end.Round(0).Sub(now.Round(0)))
}

// GiveBack has the records of the lease go back that are not in a request.
func (l *Lease) GiveBack() { l.back.Store(true) }

// Keep undoes GiveBack, for a lease that was about to expire and was extended.
func (l *Lease) Keep() { l.back.Store(false) }

// GoesBack reports whether records that are not in a request go back.
func (l *Lease) GoesBack() bool { return l.back.Load() }

// Until is how much longer a request with records of the lease may last.
func (t *Terms) Until(l *Lease, now time.Time) time.Duration { return l.Left(now) - t.Margin }

// Lasts reports whether the lease lasts for another request. If it does not, its records go back.
func (t *Terms) Lasts(l *Lease, now time.Time) bool { return t.Until(l, now) >= t.Shortest }
