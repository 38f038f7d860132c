package relay

import (
	"math/rand/v2"
	"time"
)

// BackOff is how long a key waits after so many failures in a row, from 1: first, doubled with each, at most last.
// It is drawn from the upper half, so that keys that failed together do not come back together.
func BackOff(failures int, first, last time.Duration) time.Duration {
	d := last
	if n := max(failures-1, 0); n < 30 {
		d = min(first<<n, last)
	}
	return d/2 + rand.N(d/2+1)
}

// Retry is when I/O of one kind is due. After a failure that is 100 ms later, doubled with each failure in a row.
type Retry struct {
	At       time.Time // not before
	Failures int       // in a row
}

// Due reports whether the time has come.
func (r *Retry) Due(now time.Time) bool { return !now.Before(r.At) }

// Failed notes a failure: the next try is at most so much later.
func (r *Retry) Failed(now time.Time, most time.Duration) {
	r.At = now.Add(min(100*time.Millisecond<<min(r.Failures, 10), most))
	r.Failures++
}
