package publisher

import (
	"math"
	"slices"
	"time"
)

// landed judges a reply, settles what is finished and puts back the rest.
func (l *loop[V, R]) landed(f *flight[V, R]) {
	now := l.p.now()
	l.reportOnce(f)
	carrying := len(l.inFlight)
	l.inFlight = slices.DeleteFunc(l.inFlight, func(g *flight[V, R]) bool { return g == f })
	whole := len(f.reply.Results) == len(f.refs)
	if !whole {
		f.reply.Results = noResults(&f.reply, len(f.refs))
	}
	progress := f.reply.progress()
	count(&l.crowd, f.reply.Results)
	paused := l.throttle(f, now, progress)

	var n Counts
	split := f.reply.Split && len(f.refs) > 1
	if split {
		l.split(f)
	} else {
		if whole && f.reply.Err == nil {
			l.limit.accept(f.batch.Bytes, f.cut)
		}
		n = l.judge(f, now, progress)
	}
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
			Service: f.reply.Service, Refused: f.reply.Refused, InFlight: carrying, Backlog: l.pending.waiting + n.Retried,
		})
	}
	if l.p.config.Recycle != nil {
		l.p.config.Recycle(f.reply.Results)
	}
	clear(f.batch.Items) // drops the documents for the garbage collector
	f.reply = Reply[R]{}
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
		l.report(f)
	}
	l.look()
	returned = true
}

// report tells the gate of a throttled request. Of all others the worker has
// told it; whether throttling is a failure only the loop can say.
func (l *loop[V, R]) report(f *flight[V, R]) {
	if f.pass == nil || l.cancelled() {
		return // what was cut by Close says nothing about the service
	}
	health := f.reply.Service
	if health == ServiceThrottles && l.stalls > 0 && f.epoch == l.epoch {
		health = ServiceFails // slowing down has not helped
	}
	f.pass.Done(health, f.reply.RetryAfter, f.reply.Err)
}

// progress reports whether anything of the batch was applied.
func (r *Reply[R]) progress() bool {
	return slices.ContainsFunc(r.Results, func(result Result[R]) bool { return result.Verdict == Done })
}

// throttle decides whether to hold all sending, and returns for how much longer.
// Requests that were already under way when the last pause was decided tell
// nothing new: eight slots refused at once are one overload, not eight, and one
// that was let through is no sign of recovery. What they ask for in a header is
// obeyed all the same. Pauses grow as long as nothing is applied in between.
//
// While the gate is shut it decides when to try again, but for what a header
// asks. A Tuner slows down by itself when only a part of the items was refused.
func (l *loop[V, R]) throttle(f *flight[V, R], now instant, progress bool) time.Duration {
	if l.cancelled() {
		return 0 // what was cut by Close says nothing about the service
	}
	fresh := f.epoch == l.epoch
	if !f.reply.Pause {
		if fresh {
			l.pauses, l.stalls = 0, 0
		}
		return 0
	}
	wait := f.reply.RetryAfter
	moves := l.crowd.applied != l.appliedThen
	if moves {
		l.stalls = 0
	}
	if fresh && !progress {
		l.stalls++
	}
	if wait < 0 && (l.shut != nil || progress && l.p.config.Tuner != nil) {
		return 0
	}
	l.throttledBy = f.reply.Err
	switch {
	case fresh:
		if l.pauses++; moves {
			l.pauses = 1
		}
		l.epoch++
		l.appliedThen = l.crowd.applied
		if wait < 0 {
			wait = l.p.config.Backoff(l.pauses)
		}
	case wait < 0:
		return 0
	}
	until := later(now, wait)
	held := max(l.pausedUntil, now)
	if until <= held {
		return 0
	}
	l.pausedUntil = until
	return until - held
}

// later returns t+wait, or the end of time if that overflows.
func later(t instant, wait time.Duration) instant {
	if wait > math.MaxInt64-t {
		return math.MaxInt64
	}
	return t + wait
}

// split puts back the parts of a batch that was refused as a whole. No attempt
// is used.
func (l *loop[V, R]) split(f *flight[V, R]) {
	for _, r := range f.refs {
		l.pending.at(r).item.Attempt--
		l.putBack(l.pending.at(r), r)
	}
	l.pending.split(f.refs, f.reply.Suspect-1)
	if f.reply.TooLarge {
		l.limit.refuse(f.batch.Bytes)
	}
}

// judge sorts the items of a batch into those that are to be sent again, which
// it puts back, and those that are settled, which it leaves in settled.
func (l *loop[V, R]) judge(f *flight[V, R], now instant, progress bool) (n Counts) {
	results := f.reply.Results
	probe := f.pass != nil && f.pass.Probe()
	unpaid := l.shut != nil && f.reply.Service != ServiceSound // the gate held it against the service
	waits := waits{draw: l.p.config.Backoff}
	for i, r := range f.refs {
		node, result := l.pending.at(r), &results[i]
		node.unknown = node.unknown || result.Unknown
		node.err = result.Err
		if unpaid && (result.Verdict == Retry || probe && f.reply.Service == ServiceRefuses) {
			node.item.Attempt--
			result.Verdict = Retry
			if probe && node.probes < math.MaxUint8 {
				node.probes++ // let another one try next time
			}
			n.Retried++
			l.putBack(node, r)
			l.pending.retry(r, now)
			continue
		}
		end := Settlement[V, R]{Item: &f.batch.Items[i], Result: result, Unknown: node.unknown, Waited: now - node.accepted}
		switch {
		case result.Verdict == Done:
			n.Done++
			end.Outcome, end.Unknown = Completed, false
		case result.Verdict == Fail:
			n.Failed++
			end.Outcome = Failed
		case len(result.Body) == len(node.item.Body) && result.Body != nil:
			n.Retried++
			l.left = append(l.left, node.item.slab)
			node.item.Body, node.item.slab = result.Body, nil
			node.item.Attempt--
			l.putBack(node, r)
			l.pending.retry(r, now)
			continue
		case l.spent(node, result, f) && !l.cancelled(): // else Close settles it
			n.Failed++
			result.Verdict = Fail
			end.Outcome, end.Exhausted = Failed, true
		default:
			n.Retried++
			due := max(l.pausedUntil, now)
			paced := l.p.config.Tuner != nil && progress && result.Throttled
			if !paced && (!f.reply.Pause || due == now && f.reply.RetryAfter < 0) {
				attempt := node.item.Attempt
				if !result.Throttled {
					attempt -= int(node.wait.times)
				}
				due = later(now, waits.after(attempt))
			}
			if n := node.wait.singledOut; n > 0 {
				due = max(due, later(now, waits.after(int(n))))
			}
			l.putBack(node, r)
			l.pending.retry(r, due)
			continue
		}
		l.settle(end, r)
	}
	return n
}

// waits are how long the items of a reply wait, by the number of attempts: one
// draw for all, so that they travel together again.
type waits struct {
	draw  func(attempt int) time.Duration
	drawn map[int]time.Duration
}

func (w *waits) after(attempt int) time.Duration {
	wait, drawn := w.drawn[attempt]
	if !drawn {
		if w.drawn == nil {
			w.drawn = make(map[int]time.Duration)
		}
		wait = w.draw(attempt)
		w.drawn[attempt] = wait
	}
	return wait
}

// certain notes that an item is not in flight any more: unless a request that
// carried it was cut off, it is known what has become of it.
func (l *loop[V, R]) certain(n *node[V]) {
	if n.carried && !n.unknown {
		n.carried = false
		l.carried -= n.item.travelling()
	}
}

// putBack notes that an item waits again.
func (l *loop[V, R]) putBack(n *node[V], r ref) {
	l.certain(n)
	if n.item.slab != nil {
		l.moving = append(l.moving, r)
	}
}

// travelling returns how many items are one in a request.
func (it *Item[V]) travelling() int {
	n := 1
	if it.Parts != nil {
		n = 0
	}
	for i := range it.Parts {
		if !it.Parts[i].Superseded {
			n++
		}
	}
	return n
}

// settle prepares the end of an item, and of those that were folded into it.
func (l *loop[V, R]) settle(end Settlement[V, R], r ref) {
	n := l.pending.at(r)
	if n.carried {
		n.carried = false
		l.carried -= n.item.travelling()
	}
	end.Carrier = end.Item
	if n.item.Parts == nil {
		l.settled = append(l.settled, end)
		l.endings = append(l.endings, ending{n.seq, len(n.item.Body) + n.kept, r, n.item.slab})
		return
	}
	accepted := n.accepted
	for i, part := range n.item.Parts {
		item := *end.Item
		item.Value, item.Parts = part.Value, nil
		end := end
		end.Item, end.Folded, end.Superseded = &item, true, part.Superseded
		end.Unknown = end.Unknown && !part.Superseded
		if i > 0 {
			end.Carrier = nil
		}
		end.Waited -= part.accepted - accepted
		e := ending{seq: part.seq, node: none}
		if i == len(n.item.Parts)-1 {
			e.bytes, e.node, e.slab = len(n.item.Body)+n.kept, r, n.item.slab
		}
		l.settled = append(l.settled, end)
		l.endings = append(l.endings, e)
	}
}

// noResults makes the results of a reply that has none, or the wrong number.
func noResults[R any](reply *Reply[R], n int) []Result[R] {
	result := Result[R]{Verdict: Retry, Err: reply.Err, Unknown: true}
	if reply.Err == nil {
		result.Err = ErrNoResult
	}
	if reply.Split { // of a single item
		result.Verdict, result.Unknown = Fail, false
	}
	return slices.Repeat([]Result[R]{result}, n)
}

// account gives back the room of what is settled, all under one lock, so that
// no snapshot of Stats sees an item twice or not at all. It returns false if a
// Close that could not wait has settled everything already.
func (l *loop[V, R]) account(more func(*Stats)) bool {
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	s := &a.stats
	for i := range l.settled {
		switch l.settled[i].Outcome {
		case Completed:
			s.Completed++
		case Failed:
			s.Failed++
			if l.settled[i].Purged {
				s.Purged++
			}
		case Unsent:
			s.Unsent++
		}
		s.Bytes -= int64(l.endings[i].bytes)
	}
	s.Items -= len(l.settled)
	s.Carried = l.carried
	l.publishLimits(s)
	more(s)
	a.admit()
	return true
}

// disown tells what a reply has settled as Close has reported it: unknown.
func (l *loop[V, R]) disown() {
	for i := range l.settled {
		end := &l.settled[i]
		end.Outcome, end.Exhausted, end.Unknown = Unsent, false, true
		end.Result = &Result[R]{Verdict: Fail, Err: ErrAbandoned, Unknown: true}
	}
}

// tell runs the hook of each settled item, with no lock held.
func (l *loop[V, R]) tell() {
	if len(l.settled) > 0 && !l.ending {
		l.ending = true // also if the hook ends the goroutine
		l.progress.Add(1)
		l.p.config.Hooks.Ending(l.settled)
		l.progress.Add(1)
	}
	for l.toldN < len(l.settled) {
		l.tellNext()
	}
	if l.toldN > 0 {
		l.p.config.Hooks.Told()
	}
	for i := range l.endings {
		if s := l.endings[i].slab; s != nil {
			l.left = append(l.left, s)
		}
	}
	l.free()
	clear(l.settled)
	l.settled, l.endings, l.toldN, l.ending = l.settled[:0], l.endings[:0], 0, false
	if keys := l.purged; len(keys) > 0 {
		l.purged = nil
		l.progress.Add(1)
		l.p.config.Hooks.Purged(keys)
		l.progress.Add(1)
	}
}

// tellNext runs the hook of one item. It counts as told even if the hook ends
// the goroutine, hence defer.
func (l *loop[V, R]) tellNext() {
	end, e := &l.settled[l.toldN], l.endings[l.toldN]
	var err error
	if end.Outcome != Completed {
		err = l.p.config.Hooks.Explain(end)
	}
	if end.Outcome == Unsent && len(l.end.Errors) < keptErrors {
		l.end.Errors = append(l.end.Errors, err)
	}
	defer func() {
		l.progress.Add(1)
		l.toldN++
		l.told++
		l.flushes.settled(e.seq, err, end.Outcome == Unsent)
		if e.node != none {
			l.pending.remove(e.node)
		}
	}()
	l.progress.Add(1)
	l.p.config.Hooks.Settled(end, err)
}
