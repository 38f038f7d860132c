package publisher

// settleNow accounts for items settled without a reply, and reports them.
func (l *loop[V, R]) settleNow() {
	if len(l.delivery.settled) > 0 {
		l.accountNow()
		l.report()
	}
}

// accountNow accounts for items settled without a reply. It calls no hook.
func (l *loop[V, R]) accountNow() {
	if !l.account(func(*Stats) {}) {
		l.markUnknown()
	}
}

// settle prepares the settlement of an item and of those folded into it.
func (l *loop[V, R]) settle(end Settlement[V, R], r ref) {
	n := l.pending.at(r)
	if n.carried {
		n.carried = false
		l.flights.carried -= n.item.travelling()
	}
	l.budget.joined(&n.history)
	// Only the ending releases the slab: an item that was taken back instead of being sent again is also among those that
	// are copied out.
	slab := n.item.slab
	n.item.slab = nil
	end.Carrier = end.Item
	outlived := n.outdated && end.Outcome == Unsent // the newer one is given up with it, and comes first
	if outlived {
		end.Carrier, end.Superseded = nil, true
	}
	if n.item.Parts == nil {
		l.delivery.add(end, ending{n.seq, len(n.item.Body) + n.kept, r, slab})
		return
	}
	accepted := n.accepted
	for i, part := range n.item.Parts {
		item := *end.Item
		item.Value, item.Parts = part.Value, nil
		end := end
		end.Item, end.Folded, end.Superseded = &item, true, outlived
		if i > 0 || outlived {
			end.Carrier = nil
		}
		end.Waited -= part.accepted - accepted
		e := ending{seq: part.seq, node: none}
		if i == len(n.item.Parts)-1 {
			e.bytes, e.node, e.slab = len(n.item.Body)+n.kept, r, slab
		}
		l.delivery.add(end, e)
	}
}

// account returns the room of newly settled items under one lock, so that every snapshot of Stats counts each item
// once. It returns false if a Close that stopped waiting has settled everything already.
func (l *loop[V, R]) account(more func(*Stats)) bool {
	a := &l.p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	s := &a.stats
	a.free(l.delivery.account(s, &a.given))
	s.Carried = l.flights.carried
	s.Apart, _, _ = l.pending.heldApart()
	l.publishLimits(s)
	more(s)
	a.admit()
	return true
}

// markUnknown changes what a reply has settled to what Close has reported: unknown.
func (l *loop[V, R]) markUnknown() {
	l.delivery.markUnknown()
}

// report runs the hooks of settled items, without a lock.
func (l *loop[V, R]) report() {
	if len(l.delivery.settled) > 0 && !l.delivery.announced {
		l.delivery.announced = true // only once, even if the hook ends the goroutine
		l.enterHook()
		l.delivery.kept = l.p.config.Hooks.Ending(l.delivery.settled)
		if l.delivery.kept {
			l.outside.kept.Add(1)
		}
		l.leaveHook()
	}
	for l.delivery.next < len(l.delivery.settled) {
		l.reportNext()
	}
	if l.delivery.next > 0 {
		l.p.config.Hooks.Delivered()
	}
	for i := range l.delivery.endings {
		l.bodies.leave(l.delivery.endings[i].slab)
	}
	l.bodies.free(!l.cancelled())
	l.delivery.reset()
	if keys := l.delivery.purged; len(keys) > 0 {
		l.delivery.purged = nil
		l.enterHook()
		l.delivery.onPurged(keys)
		l.leaveHook()
	}
	l.endDropped()
}

// endDropped settles the items behind those just settled that must not be sent: they were taken back, or are older than
// what was applied.
func (l *loop[V, R]) endDropped() {
	if len(l.delivery.dropped) == 0 {
		return
	}
	all, superseded := l.delivery.dropped, uint64(0)
	l.delivery.dropped = nil
	now := l.p.now()
	for i := range all {
		d := &all[i]
		n := l.pending.at(d.node)
		if leave := l.p.config.Leave; n.removed || leave != nil && !leave(&n.item) {
			l.takenBack(d.node, now)
			continue
		}
		superseded++
		n.item.Attempt = d.attempt
		l.settle(Settlement[V, R]{
			Item: &n.item, Outcome: Completed, Result: &d.before, Folded: true, Superseded: true, Waited: now - n.accepted,
		}, d.node)
	}
	if !l.account(func(s *Stats) { s.Superseded += superseded }) {
		l.markUnknown()
	}
	l.report()
}

// reportNext runs the hook of one item. The deferred part counts it as reported even if the hook ends the goroutine.
func (l *loop[V, R]) reportNext() {
	end, e := &l.delivery.settled[l.delivery.next], l.delivery.endings[l.delivery.next]
	var err error
	if end.Outcome != Completed && end.Outcome != Returned {
		end.Kept = l.delivery.kept && !end.Withdrawn
		err = l.p.config.Hooks.Explain(end)
	}
	if end.Outcome == Unsent && end.Kept {
		l.p.admission.keep()
	}
	if end.Outcome == Unsent && len(l.shutdown.result.Errors) < keptErrors {
		l.shutdown.result.Errors = append(l.shutdown.result.Errors, err)
	}
	end.Cut = e.node != none && l.stillCut(l.pending.at(e.node))
	defer func() {
		l.leaveHook()
		l.delivery.reported()
		reported := err != nil && (end.Withdrawn || end.Reported) // to the caller that took it back, or waited for it
		how := ended{unsent: end.Outcome == Unsent, withdrawn: end.Withdrawn, kept: end.Kept}
		l.flushes.settled(e.seq, err, how, reported)
		if reported && end.Outcome == Failed {
			l.p.admission.report(1)
		}
		if err != nil {
			l.pending.failed(end.Item.Key, err, how)
		}
		if e.node != none {
			l.forget(e.node, end)
		}
	}()
	l.enterHook()
	l.p.config.Hooks.Settled(end, err)
}

// stillCut reports whether the service may still process a request with the item.
func (l *loop[V, R]) stillCut(n *node[V]) bool {
	wait := l.p.config.UnknownWait
	return n.cut && wait > 0 && later(n.cutAt, wait) > l.p.now()
}

// Removes a settled item and lets the next one of its key be sent.
func (l *loop[V, R]) forget(r ref, end *Settlement[V, R]) {
	n := l.pending.at(r)
	quiet := instant(0)
	if wait := l.p.config.UnknownWait; n.cut && wait > 0 {
		quiet = later(n.cutAt, wait)
	}
	attempt := n.item.Attempt
	if end.Outcome == Failed || end.Outcome == Returned || end.Result != nil && end.Result.Ignored {
		l.reconsider(n.next)
	}
	drop := l.pending.remove(r, quiet)
	if drop != none && !l.shutdown.giveUp {
		l.delivery.dropped = append(l.delivery.dropped, dropped[R]{drop, *end.Result, attempt})
	}
}
