package publisher

import (
	"math"
	"time"
)

// noteFailure records the reply about an item that will be sent again.
func (l *loop[V, R]) noteFailure(n *node[V], result *Result[R], now instant) {
	n.unknown = n.unknown || result.Unknown
	if result.Cut {
		n.cut, n.cutAt = true, now
	}
	n.err = result.Err
}

// again puts back an item that will be sent again, unless it was taken back.
func (l *loop[V, R]) again(r ref, now, due instant) {
	for _, r := range l.staying([]ref{r}, now) {
		l.pending.retry(r, due)
	}
}

// againForFree puts back an item without using an attempt. It is sent at once, or when the pause ends.
func (l *loop[V, R]) againForFree(n *node[V], r ref, now instant) {
	n.item.Attempt--
	l.putBack(n, r)
	l.again(r, now, now)
}

// fate is the decision about an item of a reply.
type fate uint8

const (
	fateApplied   fate = iota // it is settled
	fateRefused               // the service will never accept it
	fateExhausted             // it has used up its attempts
	fateFree                  // it is sent again and uses no attempt
	fateHeld                  // it is sent again when the gate allows it, and uses no attempt
	fateRewritten             // it is sent again with another body, and uses no attempt
	fateLater                 // it is sent again after a while
)

// met describes the result of one item of a reply.
type met struct {
	next    Step
	free    bool // see Result.Free
	body    bool // see Result.Body
	alone   bool // it is alone in its request
	refuses bool // the service refuses every request
	unpaid  bool // the gate counts the failure against the service
	closing bool // Close has cancelled the request and settles the rest
	spent   func() bool
	ofIndex func() bool // the index is the cause of a refusal
}

// fate returns the first fate whose condition holds. spent and ofIndex have side effects, so each is called at most
// once.
func (m *met) fate() fate {
	switch {
	case m.free && m.next == Requeue:
		return fateFree
	case m.refuses && m.next != Complete:
		return fateHeld
	case m.next == Complete:
		return fateApplied
	case m.next == Fail && m.alone && m.ofIndex():
		return fateFree
	case m.next == Fail:
		return fateRefused
	case m.unpaid && m.alone && m.spent():
		return fateExhausted // others have shown that the service works
	case m.unpaid:
		return fateHeld
	case m.body:
		return fateRewritten
	case !m.closing && m.spent():
		return fateExhausted
	}
	return fateLater
}

// judge settles the finished items of a batch and puts the others back.
func (l *loop[V, R]) judge(f *flight[V, R], now instant, progress bool) (n Counts) {
	probe := f.permit != nil && f.permit.Probe()
	circumstances := failed{
		now: now, progress: progress, asked: f.ping, pinged: f.pinged, whole: f.reply.Whole, fresh: f.fresh, older: l.flights.olderThan(f), sharers: 1,
		unpaid: l.gate.shut != nil && f.reply.Service != ServiceSound,
	}
	if f.reply.Throttled == 0 { // the request as a whole
		circumstances.sharers = uint32(len(f.refs))
	}
	waits := waits{draw: l.p.config.Backoff}
	for i, r := range f.refs {
		node, result := l.pending.at(r), &f.reply.Results[i]
		l.noteFailure(node, result, now)
		if !f.reply.Whole {
			node.together = 0 // it was judged alone
		}
		circumstances.busy, circumstances.own = result.Throttled, result.Own
		m := met{
			next: result.Next, free: result.Free, body: result.Body != nil && len(result.Body) == len(node.item.Body), alone: len(f.refs) == 1,
			refuses: l.p.config.Gate != nil && f.reply.Service == ServiceRefuses, unpaid: circumstances.unpaid, closing: l.cancelled(),
			spent:   func() bool { return l.budget.spent(&node.history, circumstances, l.pending.keys()) },
			ofIndex: func() bool { return l.refusedFor(f, now) },
		}
		end := Settlement[V, R]{Item: &f.batch.Items[i], Result: result, Unknown: node.unknown, Waited: now - node.accepted}
		switch becomes := m.fate(); becomes {
		case fateApplied:
			n.Done++
			end.Outcome, end.Unknown = Completed, false
			l.settle(end, r)
		case fateRefused:
			n.Failed++
			end.Outcome, end.Index = Failed, f.reply.Trait != nil && f.reply.Trait.Has(node.item.Body)
			l.settle(end, r)
		case fateExhausted:
			n.Failed++
			result.Next = Fail
			end.Outcome, end.Exhausted = Failed, true
			l.settle(end, r)
		case fateFree, fateHeld, fateRewritten:
			n.Retried++
			result.Next = Requeue
			if (becomes == fateHeld && probe || f.undecided()) && node.probes < math.MaxUint8 {
				node.probes++ // let another one be the next probe
			}
			if becomes == fateHeld && f.refusal != nil {
				node.err = f.refusal
			}
			if becomes == fateRewritten {
				l.bodies.leave(node.item.slab)
				node.item.Body, node.item.slab = result.Body, nil
			}
			l.againForFree(node, r, now)
		case fateLater:
			n.Retried++
			due := l.due(f, node, result, now, progress, &waits)
			l.putBack(node, r)
			l.again(r, now, due)
		}
	}
	return n
}

// leastAgain is the shortest wait of an item that was sent more often than it has attempts, because the cause is not
// known yet. Without Retry.Delay that could otherwise be thousands of requests. It is below the usual delay.
const leastAgain = 500 * time.Millisecond

// due returns when an item may be sent again. A pause delays it anyway, until Resume.
func (l *loop[V, R]) due(f *flight[V, R], node *node[V], result *Result[R], now instant, progress bool, waits *waits) (due instant) {
	due = now
	held := l.pace.pausedUntil > now
	paced := l.p.config.Tuner != nil && progress && result.Throttled
	if f.quiet || !paced && (!f.reply.Pause || !held && f.reply.RetryAfter < 0) {
		attempt := max(1, int(node.used)) // without failures of whole requests, and without throttling
		if f.reply.Whole {
			attempt = max(attempt, int(node.alone.times)+1)
		}
		due = max(due, later(now, waits.after(attempt)))
	}
	if !paced && l.budget.attempts > 0 && node.item.Attempt > l.budget.attempts {
		due = max(due, later(now, leastAgain))
	}
	if n := node.busy.remarkable(l.budget.traffic.applied, l.budget.traffic.busy); n > 0 && result.Throttled {
		due = max(due, later(now, waits.after(n)))
	}
	return due
}

// waits holds the back-off of the items of a reply by number of attempts. One draw applies to all, so that they are
// sent together again.
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

// certain records that an item is no longer in flight: unless a request with it was cut off, its outcome is known.
func (l *loop[V, R]) certain(n *node[V]) {
	if n.carried && !n.unknown {
		n.carried = false
		l.flights.carried -= n.item.travelling()
	}
}

// putBack records that an item waits again.
func (l *loop[V, R]) putBack(n *node[V], r ref) {
	l.certain(n)
	if n.item.slab != nil {
		l.bodies.moving = append(l.bodies.moving, r)
	}
}

// travelling returns how many items this one stands for.
func (it *Item[V]) travelling() int { return max(1, len(it.Parts)) }
