package breaker

import "time"

// Bounds of the pause after an early request that failed; it doubles with each failure.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 10 * time.Second
	// earlyAlone is how long an early request keeps others from being sent. One that hangs must not keep them for a minute.
	earlyAlone = time.Second
)

// early has the state of early requests while the breaker is open.
type early struct {
	out     int         // requests under way
	since   time.Time   // start of the newest one
	timer   *time.Timer // when the next one may be sent although they are under way
	refused bool        // a request was refused because of them
	failed  int         // consecutive failures since the breaker was closed
	at      time.Time   // no request before this time
}

// AllowEarly requests permission to send one request while the breaker is open or its probe is under way. It is for
// callers that share a breaker with others and whose own requests have not failed. One such request at a time is
// allowed, in addition to the probe, and a further one if the last has not ended after a second. After each one that
// fails there is a pause, and none is allowed before the time of a Retry-After. Success closes the breaker, any other
// result leaves its state. It never waits for other requests. ok is false without a permit; callers refused because of
// another early request are notified when the next may be sent.
func (b *Breaker) AllowEarly() (permit *Permit, ok bool) {
	b.mu.Lock()
	notified := false
	defer func() {
		if !notified && permit != nil { // a subscriber panicked or ended the goroutine: the caller gets no permit
			permit.Done(Result{Outcome: Neutral})
		}
	}()
	defer func() {
		b.unlock()
		notified = true
	}()
	now := time.Now()
	b.wake(now)
	switch {
	case b.status.State != Open && b.status.State != HalfOpen, now.Before(b.early.at):
		return nil, false
	case b.early.out > 0 && now.Sub(b.early.since) < earlyAlone:
		b.early.refused = true
		if b.early.timer == nil {
			b.early.timer = time.AfterFunc(earlyAlone-now.Sub(b.early.since), b.nextEarly)
		}
		return nil, false
	}
	b.early.out++
	b.early.since = now
	b.status.Counts.Allowed++
	permit = &Permit{breaker: b, early: true, trouble: b.status.Trouble}
	permit.watch()
	return permit, true
}

// nextEarly notifies refused callers while requests are under way that have taken long.
func (b *Breaker) nextEarly() {
	b.mu.Lock()
	defer b.unlock()
	b.early.timer = nil
	b.notifyEarly(time.Now())
}

// notifyEarly notifies callers whose early requests were refused.
func (b *Breaker) notifyEarly(now time.Time) {
	if b.early.refused {
		b.early.refused = false
		b.notify(Change{From: b.status.State, To: b.status.State, At: now, Err: b.status.Err})
	}
}

// endEarly handles the result of an early request.
func (b *Breaker) endEarly(p *Permit, r Result, now time.Time) {
	if b.early.out--; b.early.timer != nil {
		b.early.timer.Stop()
		b.early.timer = nil
	}
	open := (b.status.State == Open || b.status.State == HalfOpen) && b.status.Trouble.Equal(p.trouble)
	switch r.Outcome {
	case Success:
		b.status.Counts.Successes++
	case Failure, Trip:
		b.status.Counts.Failures++
	}
	switch {
	case !open: // it says nothing about the present state
		b.status.Counts.Ignored++
	case r.Outcome == Success:
		b.close()
		return
	case r.Outcome == Failure, r.Outcome == Trip:
		pause := max(min(firstPause<<min(b.early.failed, 10), lastPause), min(r.RetryAfter, MaxRetryAfter))
		b.early.failed++
		b.early.at = later(b.early.at, now.Add(pause))
	}
	b.notifyEarly(now)
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
