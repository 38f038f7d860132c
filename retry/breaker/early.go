package breaker

import "time"

// Requests that are let through early and fail are a pause apart, which doubles.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 10 * time.Second
)

// early is what a breaker knows of those whom it lets through while it is open.
type early struct {
	out     bool      // there is one under way
	refused bool      // somebody was refused because of it
	failed  int       // in a row, since the breaker was closed
	at      time.Time // not before this
}

// AllowEarly asks, while the breaker is open or its probe is under way, the right to send
// one request all the same. It is for whoever has seen no failure: of a breaker that many
// share, somebody whose own requests have not failed. One at a time is let through, beside
// the probe; after each that has failed not for a while; and not before what a Retry-After
// has asked to wait for. Success closes the breaker, everything else leaves it as it is.
// It never waits. ok is false if there is no permit; who was refused because of another
// one under way is notified when that ends.
func (b *Breaker) AllowEarly() (permit *Permit, ok bool) {
	b.mu.Lock()
	defer b.unlock()
	now := time.Now()
	b.wake(now)
	switch {
	case b.status.State != Open && b.status.State != HalfOpen, now.Before(b.early.at):
		return nil, false
	case b.early.out:
		b.early.refused = true
		return nil, false
	}
	b.early.out = true
	b.status.Counts.Allowed++
	permit = &Permit{breaker: b, early: true, trouble: b.status.Trouble}
	permit.watch()
	return permit, true
}

// endEarly takes in what became of a request of AllowEarly.
func (b *Breaker) endEarly(p *Permit, r Result, now time.Time) {
	b.early.out = false
	open := (b.status.State == Open || b.status.State == HalfOpen) && b.status.Trouble.Equal(p.trouble)
	switch r.Outcome {
	case Success:
		b.status.Counts.Successes++
	case Failure, Trip:
		b.status.Counts.Failures++
	}
	switch {
	case !open: // it says nothing about now
		b.status.Counts.Ignored++
	case r.Outcome == Success:
		b.close()
		return
	default:
		pause := min(firstPause<<min(b.early.failed, 10), lastPause)
		b.early.failed++
		b.early.at = later(b.early.at, now.Add(max(pause, min(r.RetryAfter, MaxRetryAfter))))
	}
	if b.early.refused {
		b.early.refused = false
		b.notify(Change{From: b.status.State, To: b.status.State, At: now, Err: b.status.Err})
	}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
