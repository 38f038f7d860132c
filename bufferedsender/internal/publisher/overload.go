package publisher

import "math"

// overload does what the policy asks for when somebody waits for room while the
// gate is shut. It runs in each round of the loop, so that it takes effect both
// when an item is added and when the gate shuts.
//
// Only the first item of a key can be purged, and none while another of its key
// is in flight: the items of a key settle in order.
func (l *loop[V, R]) overload() {
	policy := l.p.config.Overload
	if policy == Block || l.shut == nil || !l.starved || l.closing {
		return
	}
	if policy == Refuse {
		l.p.admission.turnAway(&FullError{l.shut})
		return
	}
	for l.p.admission.lacks() && l.purge(1) {
		for policy == PurgeAll && l.purge(math.MaxInt) {
			// Those that were behind the purged ones of their key are first now.
		}
	}
	l.starved = l.p.admission.lacks() // what is left is in flight
}

// purge gives up the oldest items that wait, at most that many, and reports
// whether there were any.
func (l *loop[V, R]) purge(most int) bool {
	now := l.p.now()
	for n := 0; n < most; n++ {
		r := l.pending.takeOldest()
		if r == none {
			break
		}
		n := &l.pending.nodes[r]
		l.purged = append(l.purged, n.item.Key)
		l.settle(Settlement[V, R]{
			Item: &n.item, Outcome: Failed, Purged: true, Unknown: n.unknown, Waited: now - n.accepted,
			Result: &Result[R]{Verdict: Fail, Err: ErrPurged, Unknown: n.unknown},
		}, r)
	}
	if len(l.settled) == 0 {
		return false
	}
	if !l.account(func(*Stats) {}) {
		l.disown()
	}
	l.tell()
	return true
}

// FullError is ErrFull with the reason why there is no room.
type FullError struct{ Held error }

func (e *FullError) Error() string { return ErrFull.Error() + ": " + e.Held.Error() }

// Unwrap returns ErrFull and the reason.
func (e *FullError) Unwrap() []error { return []error{ErrFull, e.Held} }
