package publisher

import "slices"

// commands are one-time requests of callers to the loop.
type commands[V, R any] struct {
	waiting     []func()
	withdrawals []*withdrawal[V, R]
}

// runCommands runs the commands. If one ends the goroutine it counts as done, and the next goroutine continues behind
// it.
func (l *loop[V, R]) runCommands() {
	for len(l.commands.waiting) > 0 {
		command := l.commands.waiting[0]
		l.commands.waiting = l.commands.waiting[1:]
		l.away(true, false) // it may call foreign code
		command()
		l.away(false, false)
	}
	l.commands.waiting = nil
	l.settleNow()
}

// withdrawal is a call of Withdraw that waits for requests.
type withdrawal[V, R any] struct {
	flights []*flight[V, R]
	done    chan struct{}
}

// Withdraw takes back the accepted items that match returns true for. An item not in a request is settled as Withdrawn
// without being sent, if necessary after earlier items of its key. An item in a request is not sent again. Withdraw
// returns how many items were taken back, after the requests with the others have ended. In a hook it does not wait: it
// returns 0 and takes effect after the hook.
//
// The loop calls match, which must not panic. An item with others folded into it is taken back if match returns true
// for all.
func (p *Publisher[V, R]) Withdraw(match func(key string, v *V) bool) int {
	done, counted := make(chan struct{}), make(chan struct{})
	n := 0
	p.command(func() {
		defer close(counted) // also if match ends the goroutine
		n = p.loop.withdraw(match, done)
	})
	if p.onLoop() {
		return 0
	}
	select {
	case <-done:
	case <-p.closed:
	}
	select {
	case <-counted: // n may be read
		return n
	default:
		return 0
	}
}

// Sweep makes the loop settle the items for which gone returns true. It does not wait. Calls before the loop has run
// are combined.
func (p *Publisher[V, R]) Sweep(gone func(key string, v *V) bool) {
	if p.sweeping.Swap(true) {
		return
	}
	p.command(func() {
		p.sweeping.Store(false) // first: items that are gone from now on may be missed
		p.loop.withdraw(gone, nil)
	})
}

// Do makes the loop call f, like a hook, unless it has ended. It does not wait.
func (p *Publisher[V, R]) Do(f func()) { p.command(f) }

// command makes the loop call f, unless it has ended.
func (p *Publisher[V, R]) command(f func()) {
	a := &p.admission
	a.mu.Lock()
	if !a.ended {
		a.commands = append(a.commands, f)
	}
	a.mu.Unlock()
	p.signal()
}

// withdraw closes done when no request carries any of the items; done may be nil.
func (l *loop[V, R]) withdraw(match func(key string, v *V) bool, done chan struct{}) (n int) {
	matches := make(map[ref]bool)
	matched := false
	defer func() {
		if !matched && done != nil { // match has ended the goroutine
			close(done)
		}
	}()
	l.pending.each(func(r ref) { // before anything is changed
		it := &l.pending.at(r).item
		for i := range it.Parts {
			if !match(it.Key, &it.Parts[i].Value) {
				return
			}
		}
		if it.Parts != nil || match(it.Key, &it.Value) {
			matches[r] = true
		}
	})
	if matched = true; len(matches) == 0 && done == nil {
		return 0
	}
	wanted := func(r ref) bool { return matches[r] }
	now := l.p.now()
	for _, r := range l.pending.takeIf(wanted) {
		n += l.pending.at(r).item.travelling()
		l.takenBack(r, now)
	}
	ended := make(map[ref]bool)
	for i := range l.delivery.endings {
		ended[l.delivery.endings[i].node] = true
	}
	w := &withdrawal[V, R]{done: done}
	carried := make(map[ref]bool)
	for _, f := range l.flights.inFlight {
		found := false
		for _, r := range f.refs {
			if wanted(r) {
				carried[r], found = true, true
			}
		}
		if found {
			f.recalled = true // if it stands; otherwise it has been sent
			w.flights = append(w.flights, f)
		}
	}
	for r := range matches {
		node := l.pending.at(r)
		if node.removed || ended[r] {
			continue
		}
		node.removed = true
		if !carried[r] {
			n += node.item.travelling()
		}
	}
	if done != nil {
		l.commands.withdrawals = append(l.commands.withdrawals, w)
	}
	return n
}

// noteEnd records that a request has ended, for waiting withdrawals.
func (l *loop[V, R]) noteEnd(f *flight[V, R]) {
	for _, w := range l.commands.withdrawals {
		w.flights = slices.DeleteFunc(w.flights, func(g *flight[V, R]) bool { return g == f })
	}
}

// endWithdrawals releases the calls of Withdraw whose requests have ended. It runs after everything settled was
// reported.
func (l *loop[V, R]) endWithdrawals() {
	if len(l.delivery.settled) > 0 {
		return
	}
	l.commands.withdrawals = slices.DeleteFunc(l.commands.withdrawals, func(w *withdrawal[V, R]) bool {
		if len(w.flights) == 0 {
			close(w.done)
		}
		return len(w.flights) == 0
	})
}

// Contains reports for each key whether an item of it is accepted and unsettled. It waits for a running hook, unless it
// is called by one.
func (p *Publisher[V, R]) Contains(keys []string) []bool {
	if p.onLoop() {
		return p.loop.contains(keys)
	}
	done := make(chan []bool, 1)
	p.command(func() { done <- p.loop.contains(keys) })
	select {
	case found := <-done:
		return found
	case <-p.closed:
		return make([]bool, len(keys))
	}
}

func (l *loop[V, R]) contains(keys []string) []bool {
	found := make([]bool, len(keys))
	for i, key := range keys {
		found[i] = l.pending.has(key)
	}
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, key := range keys {
		found[i] = found[i] || a.adding[key] > 0
	}
	if len(a.inbox) == 0 {
		return found
	}
	accepted := make(map[string]struct{}, len(a.inbox))
	for i := range a.inbox {
		accepted[a.inbox[i].item.Key] = struct{}{}
	}
	for i, key := range keys {
		if _, waits := accepted[key]; waits {
			found[i] = true
		}
	}
	return found
}

// staying asks Back about each item that will be sent again, settles those that were taken back, and returns the
// others.
func (l *loop[V, R]) staying(refs []ref, now instant) []ref {
	back := l.p.config.Back
	kept := refs[:0]
	for _, r := range refs {
		n := l.pending.at(r)
		travels := back == nil || back(&n.item, n.unknown, n.err) // called for all, because a waiting caller is notified by it
		if n.removed || !travels {
			l.takenBack(r, now)
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// takenBack settles an item that was taken back and is out.
func (l *loop[V, R]) takenBack(r ref, now instant) {
	n := l.pending.at(r)
	l.settle(Settlement[V, R]{
		Item: &n.item, Outcome: l.unlessReturned(&n.item, Failed), Withdrawn: true, Unknown: n.unknown, Waited: now - n.accepted,
		Result: &Result[R]{Next: Fail, Err: n.err, Unknown: n.unknown},
	}, r)
}

// unlessReturned returns the outcome of an item that will not be sent any more. Folded items all go back if one does.
func (l *loop[V, R]) unlessReturned(it *Item[V], otherwise Outcome) Outcome {
	back := l.p.config.Return
	if back == nil {
		return otherwise
	}
	if back(&it.Value) || slices.ContainsFunc(it.Parts, func(p Part[V]) bool { return back(&p.Value) }) {
		return Returned
	}
	return otherwise
}
