package publisher

import (
	"slices"
	"time"
)

// landed judges a reply, settles what is finished and puts back the rest.
func (l *loop[V, R]) landed(f *flight[V, R]) {
	now := l.p.now()
	l.pending.now = now
	if len(f.reply.Results) != len(f.refs) {
		f.reply.Whole = f.reply.Whole || !f.reply.Split
		f.reply.Results = noResults(&f.reply, len(f.refs))
	}
	l.reportOnce(f)
	carrying := len(l.inFlight)
	l.inFlight = slices.DeleteFunc(l.inFlight, func(g *flight[V, R]) bool { return g == f })
	l.noteEnd(f)
	progress := f.reply.progress()
	l.observe(f, now, progress)
	paused := l.throttle(f, now, progress)

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
	l.endSingle(f, now)
	l.moveOut(l.moving)
	l.moving = l.moving[:0]
	counted := l.account(func(s *Stats) {
		s.InFlight--
		s.Throttled += uint64(f.reply.Throttled)
		if split {
			s.Splits++
		}
		if paused > 0 {
			s.Pauses++
		}
	})
	if !counted {
		l.disown()
	}
	hooks := &l.p.config.Hooks
	l.progress.Add(1)
	if paused > 0 {
		hooks.Paused(paused)
	}
	hooks.Replied(&f.batch, &f.reply, f.took, n)
	l.progress.Add(1)
	l.tell()

	if tuner := l.p.config.Tuner; tuner != nil && !l.cancelled() {
		l.tuned = tuner(Sample{
			Now: now, Started: f.left, Items: len(f.refs), Bytes: f.batch.Bytes, Done: n.Done, Throttled: f.reply.Throttled,
			Service: f.reply.Service, Refused: f.reply.Refused, InFlight: carrying, Backlog: l.pending.waiting + n.Retried + l.p.admission.backlog(),
		})
	}
	if l.p.config.Recycle != nil {
		l.p.config.Recycle(f.reply.Results)
	}
	l.reuse(f)
}

// reuse makes a flight ready for the next request.
func (l *loop[V, R]) reuse(f *flight[V, R]) {
	clear(f.batch.Items) // drops the documents for the garbage collector
	*f = flight[V, R]{refs: f.refs[:0], batch: Batch[V]{Items: f.batch.Items[:0]}}
	l.idle = append(l.idle, f)
}

// reportOnce tells the gate of a flight, and looks at what it says. The flight may
// come here again: a subscriber of the gate may end the goroutine.
func (l *loop[V, R]) reportOnce(f *flight[V, R]) {
	returned := false
	defer func() {
		if !returned {
			l.landings.add(f)
		}
	}()
	if !f.reported {
		f.reported = true
		l.judgeIndex(f)
		l.report(f)
	}
	l.look()
	returned = true
}

// report tells the gate of a request that only the loop can judge. Of all others
// the worker has told it.
func (l *loop[V, R]) report(f *flight[V, R]) {
	if f.pass == nil || l.cancelled() {
		return // what was cut by Close says nothing about the service
	}
	health, err := f.reply.Service, f.reply.Err
	switch {
	case f.refusal != nil:
		err = f.refusal
	case health == ServiceThrottles && f.epoch == l.epoch && l.inTrouble && l.p.now()-l.troubleAt >= busyFor:
		health = ServiceRefuses // slowing down has not helped
	}
	f.pass.Done(health, f.reply.RetryAfter, err)
}

// busyFor is how long a service must have been too busy for everything until the
// gate is shut.
const busyFor = 10 * time.Second

// observe notes what a reply says about the service and its other requests.
func (l *loop[V, R]) observe(f *flight[V, R], now instant, progress bool) {
	t := &l.traffic
	for i := range f.reply.Results {
		switch {
		case f.reply.Results[i].Verdict == Done:
			t.applied++
		case f.reply.Results[i].Throttled:
			t.busy++
		}
	}
	if l.cancelled() {
		return
	}
	passed := progress || f.reply.Service == ServiceSound
	if passed {
		t.passed++
		l.passedAt, l.passedBytes, l.hasPassed = now, f.batch.Bytes, true
	}
	if l.silent++; passed || f.pinged {
		l.silent = 0
	}
	if f.fresh && (passed || f.reply.Whole && !f.reply.Refused) {
		t.fresh++
		if !passed {
			t.freshFailed++
		}
	}
	if f.pinged {
		t.fresh++
	}
	if progress {
		l.inTrouble = false
	} else if !l.inTrouble && (f.reply.Pause || f.reply.Whole) && !f.quiet {
		l.inTrouble, l.troubleAt = true, f.left
	}
	if progress || f.reply.Service == ServiceSound && !f.reply.Split {
		if f.reply.Err == nil {
			l.limit.accept(f.batch.Bytes, f.cut)
		}
	}
}

// progress reports whether anything of the batch was applied.
func (r *Reply[R]) progress() bool {
	return slices.ContainsFunc(r.Results, func(result Result[R]) bool { return result.Verdict == Done })
}

// noResults makes the results of a reply that has none, or the wrong number.
func noResults[R any](reply *Reply[R], n int) []Result[R] {
	result := Result[R]{Verdict: Retry, Err: reply.Err, Unknown: true, Cut: reply.Err != nil}
	if reply.Err == nil {
		result.Err = ErrNoResult
	}
	if reply.Split { // of a single item
		result.Verdict, result.Unknown, result.Cut = Fail, false, false
	}
	return slices.Repeat([]Result[R]{result}, n)
}
