package publisher

import "context"

// overload applies the policy when a call waits for room while the gate is shut. It runs in each round of the loop, so
// that it takes effect both when an item is added and when the gate shuts.
//
// Only the first item of a key can be purged, and none while another of its key is in flight, because the items of a
// key settle in order.
func (l *loop[V, R]) overload() {
	if !l.overloaded() {
		return
	}
	if l.settings.overload.Overload == Refuse {
		l.p.admission.reject(&FullError{l.gate.shut})
		return
	}
	most := 1
	if l.settings.overload.Overload == PurgeAll {
		most = 0
	}
	for lack := l.p.admission.lacks(); l.purging() && l.canMakeRoom(lack) && l.purge(most, lack.class); lack = l.p.admission.lacks() {
		l.see()
		for l.purging() && most == 0 && l.purge(0, lack.class) {
			l.see() // items behind the purged ones of their key are first now
		}
	}
	l.mail.producersWaiting = l.p.admission.lacks().waits // the remaining items are in flight, or more urgent
	l.refresh()                                           // hooks may have run
}

// overloaded reports whether the policy applies.
func (l *loop[V, R]) overloaded() bool {
	return l.settings.overload.Overload != Block && l.gate.shut != nil && l.mail.producersWaiting && !l.mail.closing
}

// purging reports whether the policy purges.
func (l *loop[V, R]) purging() bool {
	return l.overloaded() && l.settings.overload.Overload != Refuse
}

// see reads what a hook may have changed: it may have reset the breaker, or set another policy.
func (l *loop[V, R]) see() {
	l.refreshGate()
	l.refresh()
}

// canMakeRoom reports whether purging can make the missing room. Items that are in flight, held, or more urgent than
// those that wait for room stay, with everything behind them.
func (l *loop[V, R]) canMakeRoom(lack lack) bool {
	items, bytes := 0, int64(0)
	count := func(r ref) { // up to a place, if there is one
		for ; r != none && l.pending.places.of[r] == nil; r = l.pending.at(r).next {
			it := &l.pending.at(r).item
			items += it.travelling()
			bytes += int64(len(it.Body) + l.pending.at(r).kept)
		}
	}
	for _, f := range l.flights.inFlight {
		for _, r := range f.refs {
			count(r)
		}
	}
	for r := range l.pending.places.of {
		count(l.pending.at(r).next)
	}
	if lack.class > 0 {
		l.pending.each(func(r ref) {
			n := l.pending.at(r)
			if n.prev == none && n.class < lack.class && !l.flights.carries(r) {
				count(r)
			}
		})
	}
	return lack.waits && items < lack.limits.Items && bytes+lack.bytes <= lack.limits.Bytes
}

// purge gives up the oldest waiting items of the least urgent class, so many or, if most is 0, all first ones of their
// key, none more urgent than the given class. It reports whether there was one.
func (l *loop[V, R]) purge(most int, class uint8) bool {
	l.delivery.onPurged = l.settings.overload.Purged // of the policy that purges them
	if most == 0 {
		l.delivery.victims = append(l.delivery.victims, l.pending.takeAll(class)...)
	}
	for n := 0; n < most; {
		r := l.pending.takeOldest(class)
		if r == none {
			break
		}
		l.delivery.victims = append(l.delivery.victims, r)
		n += l.pending.at(r).item.travelling()
	}
	some := len(l.delivery.victims) > 0
	l.endVictims()
	return some
}

// endVictims settles the items to purge, in pieces.
func (l *loop[V, R]) endVictims() {
	for len(l.delivery.victims) > 0 {
		now, n := l.p.now(), l.piece(l.delivery.victims)
		piece := l.delivery.victims[:n]
		l.delivery.victims = l.delivery.victims[n:] // do not repeat this piece if its hooks end the goroutine
		for _, r := range piece {
			n := l.pending.at(r)
			for range n.item.travelling() {
				l.delivery.purged = append(l.delivery.purged, n.item.Key)
				l.delivery.ever++
			}
			l.settle(Settlement[V, R]{
				Item: &n.item, Outcome: Failed, Purged: true, Unknown: n.unknown, Waited: now - n.accepted,
				Result: &Result[R]{Next: Fail, Err: ErrPurged, Unknown: n.unknown},
			}, r)
		}
		l.settleNow()
	}
	l.delivery.victims = nil
}

// Purge gives up waiting items while the gate is shut, the oldest of the least urgent class first, none more urgent
// than the given class, at most so many items if most is not 0. As with the policies, it purges no item that is in
// flight or behind one of its key. It returns how many. In a hook, and if ctx ends while another hook keeps the loop,
// it returns 0 and takes effect later.
func (p *Publisher[V, R]) Purge(ctx context.Context, most int, class uint8) int {
	n, done := new(int), make(chan struct{})
	p.command(func() {
		defer close(done) // also if a hook ends the goroutine
		p.loop.purgeSome(most, class, n)
	})
	if p.onLoop() {
		return 0
	}
	select {
	case <-done:
		return *n
	case <-ctx.Done():
	case <-p.closed:
	}
	return 0
}

// purgeSome adds the number of purged items to n. What Close has given up is not purged: it is still in the queues if a
// hook ended the goroutine while Close reported it.
func (l *loop[V, R]) purgeSome(most int, class uint8, n *int) {
	for l.see(); l.gate.shut != nil && !l.shutdown.giveUp && (most == 0 || *n < most); l.see() {
		before := l.delivery.ever
		if !l.purge(max(most-*n, 0), class) {
			return
		}
		*n += int(l.delivery.ever - before)
	}
}

// FullError is ErrFull with the reason for the lack of room.
type FullError struct{ Held error }

func (e *FullError) Error() string { return ErrFull.Error() + ": " + e.Held.Error() }

// Unwrap returns ErrFull and the reason.
func (e *FullError) Unwrap() []error { return []error{ErrFull, e.Held} }
