package publisher

import (
	"slices"
	"sync"
	"time"
)

// completions are the finished requests. A worker that adds one never blocks, even after Close has left it behind.
type completions[V, R any] struct {
	mu      sync.Mutex
	flights []*flight[V, R] // guarded by mu; workers append, the loop takes away
}

func (q *completions[V, R]) add(f *flight[V, R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flights = append(q.flights, f)
}

// next removes and returns the first one, or nil.
func (q *completions[V, R]) next() *flight[V, R] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.flights) == 0 {
		return nil
	}
	f := q.flights[0]
	q.flights = slices.Delete(q.flights, 0, 1)
	return f
}

func (q *completions[V, R]) any() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.flights) > 0
}

// complete judges a reply, settles finished items and puts back the rest.
func (l *loop[V, R]) complete(f *flight[V, R]) {
	now := l.p.now()
	l.pending.now = now
	if len(f.reply.Results) != len(f.refs) {
		f.reply.Whole = f.reply.Whole || !f.reply.Split
		f.reply.Results = noResults(&f.reply, len(f.refs))
	}
	l.reportOnce(f)
	carrying := l.flights.started()
	l.flights.end(f)
	l.noteEnd(f)
	progress, paused := f.reply.progress(), time.Duration(0)
	if !f.undecided() {
		l.observe(f, now, progress)
		paused = l.throttle(f, now, progress)
	}

	var n Counts
	split := f.reply.Split && len(f.refs) > 1
	switch {
	case split:
		l.split(f, now)
	case f.reply.Whole && len(f.refs) > 1 && l.failedTogether(f, now):
		n.Retried = len(f.refs)
	default:
		n = l.judge(f, now, progress)
	}
	if f.refusal != nil {
		l.p.config.Hooks.Suspect(f.refusal)
	}
	l.endSingle(f, now)
	l.copyOut(l.bodies.take())
	counted := l.account(func(s *Stats) {
		s.InFlight--
		if !f.reply.TimedOut {
			l.p.admission.answered()
		}
		s.Throttled += uint64(f.reply.Throttled)
		if split {
			s.Splits++
		}
		if paused > 0 {
			s.Pauses++
			l.p.admission.throttledUntil = l.p.start.Add(l.pace.pausedUntil) // for Condition, if it was throttled before
		}
	})
	if !counted {
		l.markUnknown()
	}
	hooks := &l.p.config.Hooks
	l.enterHook()
	if paused > 0 {
		hooks.Paused(paused)
	}
	hooks.Replied(&f.batch, &f.reply, f.took, n)
	l.leaveHook()
	if c := &l.condition; (c.State == Ready || c.State == Held) && !c.Apart && l.gate.shut == nil {
		l.reportCondition() // first, because a caller that learns of it may add items at once
	}
	l.report()

	if tuner := l.p.config.Tuner; tuner != nil && !l.cancelled() && !f.undecided() && !f.reply.Unconfirmed {
		l.pace.tuned = tuner(Sample{
			Now: now, Started: f.left, Items: len(f.refs), Bytes: f.batch.Bytes, Done: n.Done, Throttled: f.reply.Throttled,
			Service: f.reply.Service, Refused: f.reply.Refused, InFlight: carrying, Backlog: l.pending.waiting() + n.Retried + l.p.admission.backlog(),
		})
	}
	if l.p.config.Recycle != nil {
		l.p.config.Recycle(f.reply.Results)
	}
	l.flights.put(f)
}

// reportOnce reports a flight to the gate and reads its state. It may run again for the same flight, because a
// subscriber of the gate may end the goroutine.
func (l *loop[V, R]) reportOnce(f *flight[V, R]) {
	returned := false
	defer func() {
		if !returned {
			l.completions.add(f)
		}
	}()
	if !f.reported {
		f.reported = true
		l.judgeIndex(f)
		l.reportToGate(f)
	}
	l.refreshGate()
	returned = true
}

// reportToGate reports requests to the gate that only the loop can judge. The worker has reported all others.
func (l *loop[V, R]) reportToGate(f *flight[V, R]) {
	if f.permit == nil || l.cancelled() {
		return // a request cancelled by Close proves nothing about the service
	}
	health, err := f.reply.Service, f.reply.Err
	switch {
	case f.refusal != nil:
		err = f.refusal
	case health == ServiceThrottles && f.generation == l.pace.generation && l.pace.inTrouble && l.p.now()-l.pace.troubleAt >= busyFor:
		health = ServiceRefuses // slowing down has not helped
	}
	f.permit.Done(health, f.reply.RetryAfter, err)
}

// busyFor is how long a service must have been too busy for all requests before the gate shuts.
const busyFor = 10 * time.Second

// observe records what a reply says about the service and its other requests.
func (l *loop[V, R]) observe(f *flight[V, R], now instant, progress bool) {
	t := &l.budget.traffic
	for i := range f.reply.Results {
		switch {
		case f.reply.Results[i].Next == Complete:
			t.applied++
		case f.reply.Results[i].Throttled:
			t.busy++
		}
	}
	sound := f.reply.Service == ServiceSound
	if l.cancelled() || f.reply.Unconfirmed && !sound {
		return // a request cancelled by Close, or held back by the Tap, proves nothing about the service
	}
	t.end(request{
		passed: progress || sound, failed: f.reply.Whole && !f.reply.Refused, fresh: f.fresh, pinged: f.pinged, bytes: f.batch.Bytes,
	}, now)
	l.pace.trouble(progress || f.reply.Unconfirmed, (f.reply.Pause || f.reply.Whole) && !f.quiet, f.left)
	switch {
	case f.reply.Err == nil && (progress || sound && !f.reply.Split):
		l.pace.size.accept(f.batch.Bytes, f.cut)
	case len(f.refs) > 1 && f.reply.cut() && l.p.config.Gate != nil:
		l.pace.size.cut(f.batch.Bytes)
	}
}

// progress reports whether anything in the batch was applied.
func (r *Reply[R]) progress() bool {
	return slices.ContainsFunc(r.Results, func(result Result[R]) bool { return result.Next == Complete })
}

// cut reports whether a request had no answer although it did not time out.
func (r *Reply[R]) cut() bool {
	return r.Whole && r.Service == ServiceFails && !r.TimedOut && len(r.Results) > 0 && r.Results[0].Cut
}

// noResults returns the results for a reply with none, or with the wrong number.
func noResults[R any](reply *Reply[R], n int) []Result[R] {
	result := Result[R]{Next: Requeue, Err: reply.Err, Unknown: true, Cut: reply.Err != nil}
	if reply.Err == nil {
		result.Err = ErrNoResult
	}
	if reply.Split { // of a single item
		result.Next, result.Unknown, result.Cut = Fail, false, false
	}
	return slices.Repeat([]Result[R]{result}, n)
}
