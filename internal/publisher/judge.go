package publisher

import (
	"math"
	"time"
)

// noteFailure notes what a reply says about an item that is to be sent again.
func (l *loop[V, R]) noteFailure(n *node[V], result *Result[R], now instant) {
	n.unknown = n.unknown || result.Unknown
	if result.Cut {
		n.cut, n.cutAt = true, now
	}
	n.err = result.Err
}

// again puts an item back that is to be sent again, unless it was taken back.
func (l *loop[V, R]) again(r ref, now, due instant) {
	for _, r := range l.staying([]ref{r}, now) {
		l.pending.retry(r, due)
	}
}

// againForFree puts an item back that uses no attempt: it goes at once, or when the pause is over.
func (l *loop[V, R]) againForFree(n *node[V], r ref, now instant) {
	n.item.Attempt--
	l.putBack(n, r)
	l.again(r, now, now)
}

// judge sorts the items of a batch into those that are to be sent again, which
// it puts back, and those that are settled, which it leaves in settled.
//
//archtest:long owed: to decide and to put back are two parts
func (l *loop[V, R]) judge(f *flight[V, R], now instant, progress bool) (n Counts) {
	results := f.reply.Results
	probe := f.permit != nil && f.permit.Probe()
	gated := l.p.config.Gate != nil
	unpaid := l.gate.shut != nil && f.reply.Service != ServiceSound // the gate held it against the service
	refused := gated && f.reply.Service == ServiceRefuses           // whatever it was sent
	waits := waits{draw: l.p.config.Backoff}
	circumstances := failed{
		now: now, progress: progress, asked: f.ping, pinged: f.pinged, whole: f.reply.Whole, fresh: f.fresh, older: l.flights.olderThan(f), sharers: 1,
		unpaid: unpaid,
	}
	if f.reply.Throttled == 0 { // the request as a whole
		circumstances.sharers = uint32(len(f.refs))
	}
	for i, r := range f.refs {
		node, result := l.pending.at(r), &results[i]
		l.noteFailure(node, result, now)
		if !f.reply.Whole {
			node.together = 0 // it was judged by itself
		}
		circumstances.busy, circumstances.own = result.Throttled, result.Own
		if result.Free && result.Next == Requeue {
			n.Retried++
			l.againForFree(node, r, now)
			continue
		}
		switch {
		case refused && result.Next != Complete, unpaid && result.Next == Requeue && (len(f.refs) > 1 || !l.budget.spent(&node.history, circumstances, l.pending.keys())):
			result.Next = Requeue
			if probe && node.probes < math.MaxUint8 {
				node.probes++ // let another one try next time
			}
			n.Retried++
			l.againForFree(node, r, now)
			continue
		}
		end := Settlement[V, R]{Item: &f.batch.Items[i], Result: result, Unknown: node.unknown, Waited: now - node.accepted}
		switch {
		case result.Next == Complete:
			n.Done++
			end.Outcome, end.Unknown = Completed, false
		case result.Next == Fail && len(f.refs) == 1 && l.refusedFor(f, now):
			result.Next = Requeue
			n.Retried++
			l.againForFree(node, r, now)
			continue
		case result.Next == Fail:
			n.Failed++
			end.Outcome, end.Index = Failed, f.reply.Trait != nil && f.reply.Trait.Has(node.item.Body)
		case len(result.Body) == len(node.item.Body) && result.Body != nil:
			n.Retried++
			l.bodies.leave(node.item.slab)
			node.item.Body, node.item.slab = result.Body, nil
			l.againForFree(node, r, now)
			continue
		case unpaid, !l.cancelled() && l.budget.spent(&node.history, circumstances, l.pending.keys()): // else Close settles it
			n.Failed++
			result.Next = Fail
			end.Outcome, end.Exhausted = Failed, true
		default:
			n.Retried++
			due, held := now, l.pace.pausedUntil > now // a pause holds it anyway, until Resume
			paced := l.p.config.Tuner != nil && progress && result.Throttled
			if f.quiet || !paced && (!f.reply.Pause || !held && f.reply.RetryAfter < 0) {
				attempt := max(1, int(node.used)) // not what it failed with others, or what throttling cost
				if f.reply.Whole {
					attempt = max(attempt, int(node.alone.times)+1)
				}
				due = max(due, later(now, waits.after(attempt)))
			}
			if n := node.busy.remarkable(l.budget.traffic.applied, l.budget.traffic.busy); n > 0 && result.Throttled {
				due = max(due, later(now, waits.after(n)))
			}
			l.putBack(node, r)
			l.again(r, now, due)
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
		l.flights.carried -= n.item.travelling()
	}
}

// putBack notes that an item waits again.
func (l *loop[V, R]) putBack(n *node[V], r ref) {
	l.certain(n)
	if n.item.slab != nil {
		l.bodies.moving = append(l.bodies.moving, r)
	}
}

// travelling returns how many items are one in a request.
func (it *Item[V]) travelling() int { return max(1, len(it.Parts)) }
