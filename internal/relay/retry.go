package relay

import (
	"math/rand/v2"
	"time"
)

// BackOff returns how long a key waits after its failures in a row, from 1: first, doubled with each, at most last. The
// result is random in the upper half, so that keys that failed together are not retried together.
func BackOff(failures int, first, last time.Duration) time.Duration {
	d := last
	if n := max(failures-1, 0); n < 30 {
		d = min(first<<n, last)
	}
	return d/2 + rand.N(d/2+1)
}

// Retry schedules the next attempt of one kind of I/O. After a failure it is 100 ms later, doubled with each failure in
// a row.
type Retry struct {
	At       time.Time // not before
	Failures int       // in a row
}

// Due reports whether the next attempt may start.
func (r *Retry) Due(now time.Time) bool { return !now.Before(r.At) }

// Failed records a failure. The next attempt is at most most later.
func (r *Retry) Failed(now time.Time, most time.Duration) {
	r.At = now.Add(min(100*time.Millisecond<<min(r.Failures, 10), most))
	r.Failures++
}
