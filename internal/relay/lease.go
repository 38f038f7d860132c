package relay

import (
	"sync/atomic"
	"time"
)

// Terms are the durations that determine the deadlines of requests.
type Terms struct {
	// Margin is how long before the end of a lease no request may be in flight any more.
	Margin time.Duration
	// Shortest is the least remaining time for which a request is started.
	Shortest time.Duration
}

// Shortest returns how much of a lease must be left when a request with this time-out starts; the lease is extended
// during the request.
func Shortest(timeout time.Duration) time.Duration { return max(min(timeout/10, time.Second), 1) }

// Lease is the right to send records, from when it was taken until it expires, is lost or is given back. The zero value
// has expired. A lease that has ended stays ended. A record that is leased again gets another Lease, because another
// holder may have sent newer records of its key in between.
type Lease struct {
	end  atomic.Pointer[time.Time]
	back atomic.Bool
}

// Extend sets the end of the lease. Compute it from a time before the call of the back end, which starts counting
// later.
func (l *Lease) Extend(end *time.Time) { l.end.Store(end) }

// End ends the lease: no request with its records starts any more, and one in flight is cut off.
func (l *Lease) End() {
	l.end.Store(nil)
	l.back.Store(true)
}

// Ended reports whether End was called; a lease that has only expired returns false.
func (l *Lease) Ended() bool { return l.end.Load() == nil }

// Left returns how much of the lease is left, by the wall clock or the monotonic clock, whichever gives less: sleep of
// the machine stops the monotonic clock, and setting the time moves the wall clock.
func (l *Lease) Left(now time.Time) time.Duration {
	end := l.end.Load()
	if end == nil {
		return 0
	}
	return min(end.Sub(now), end.Round(0).Sub(now.Round(0)))
}

// GiveBack marks the records of the lease that are not in a request to go back to the back end.
func (l *Lease) GiveBack() { l.back.Store(true) }

// Keep undoes GiveBack, for a lease that was about to expire and was extended.
func (l *Lease) Keep() { l.back.Store(false) }

// GoesBack reports whether records that are not in a request must go back.
func (l *Lease) GoesBack() bool { return l.back.Load() }

// Until returns how much longer a request with records of the lease may last.
func (t *Terms) Until(l *Lease, now time.Time) time.Duration { return l.Left(now) - t.Margin }

// Lasts reports whether the lease is long enough for another request. If not, its records go back.
func (t *Terms) Lasts(l *Lease, now time.Time) bool { return t.Until(l, now) >= t.Shortest }
