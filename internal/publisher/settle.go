package publisher

// endNow accounts for what was settled without a reply, and notifies.
func (l *loop[V, R]) endNow() {
	if len(l.settled) > 0 {
		l.countNow()
		l.tell()
	}
}

// countNow accounts for what was settled without a reply. No hook runs.
func (l *loop[V, R]) countNow() {
	if !l.account(func(*Stats) {}) {
		l.disown()
	}
}

// settle prepares the end of an item, and of those that were folded into it.
func (l *loop[V, R]) settle(end Settlement[V, R], r ref) {
	n := l.pending.at(r)
	if n.carried {
		n.carried = false
		l.carried -= n.item.travelling()
	}
	if n.lonely {
		n.lonely = false
		l.lonely--
	}
	// The slab is released with the ending, and by nobody else: an item that was to
	// be sent again, and was taken back, is also among those that move out.
	slab := n.item.slab
	n.item.slab = nil
	end.Carrier = end.Item
	outlived := n.outdated && end.Outcome == Unsent // the newer one is given up with it, and comes first
	if outlived {
		end.Carrier, end.Superseded = nil, true
	}
	if n.item.Parts == nil {
		l.settled = append(l.settled, end)
		l.endings = append(l.endings, ending{n.seq, len(n.item.Body) + n.kept, r, slab})
		return
	}
	accepted := n.accepted
	for i, part := range n.item.Parts {
		item := *end.Item
		item.Value, item.Parts = part.Value, nil
		end := end
		end.Item, end.Folded, end.Superseded = &item, true, part.Superseded || outlived
		end.Unknown = end.Unknown && !part.Superseded
		if i > 0 || outlived {
			end.Carrier = nil
		}
		end.Waited -= part.accepted - accepted
		e := ending{seq: part.seq, node: none}
		if i == len(n.item.Parts)-1 {
			e.bytes, e.node, e.slab = len(n.item.Body)+n.kept, r, slab
		}
		l.settled = append(l.settled, end)
		l.endings = append(l.endings, e)
	}
}

// account gives back the room of what was settled since the last time, all under
// one lock, so that
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
	for i := l.counted; i < len(l.settled); i++ {
		switch l.settled[i].Outcome {
		case Completed:
			s.Completed++
		case Failed:
			s.Failed++
			if l.settled[i].Purged {
				s.Purged++
			}
			if l.settled[i].Withdrawn {
				s.Withdrawn++
			}
		case Unsent:
			s.Unsent++
		}
		s.Bytes -= int64(l.endings[i].bytes)
	}
	for i := l.counted; i < len(l.settled); i++ {
		if end := &l.settled[i]; end.Outcome == Unsent {
			if end.Unknown {
				a.given.Unknown++
			} else {
				a.given.Unsent++
			}
		}
	}
	s.Items -= len(l.settled) - l.counted
	l.counted = len(l.settled)
	s.Carried = l.carried
	s.Apart, _, _ = l.pending.heldApart()
	l.publishLimits(s)
	more(s)
	a.admit()
	return true
}

// disown tells what a reply has settled as Close has reported it: unknown.
func (l *loop[V, R]) disown() {
	for i := l.counted; i < len(l.settled); i++ {
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
	l.settled, l.endings, l.toldN, l.counted, l.ending = l.settled[:0], l.endings[:0], 0, 0, false
	if keys := l.purged; len(keys) > 0 {
		l.purged = nil
		l.progress.Add(1)
		l.p.config.Hooks.Purged(keys)
		l.progress.Add(1)
	}
	l.endDropped()
}

// dropped is an item that is first of its key now and not to be sent at all.
type dropped[R any] struct {
	node    ref
	before  Result[R] // of the one before it, which holds more if that was completed
	attempt int
}

// endDropped settles the items that were behind those that have just been
// settled and are not to be sent: taken back, or older than what was applied.
func (l *loop[V, R]) endDropped() {
	if len(l.dropped) == 0 {
		return
	}
	all, superseded := l.dropped, uint64(0)
	l.dropped = nil
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
		l.disown()
	}
	l.tell()
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
	reported := end.Withdrawn && err != nil // to who took it back
	defer func() {
		l.progress.Add(1)
		l.toldN++
		l.told++
		l.flushes.settled(e.seq, err, ended{unsent: end.Outcome == Unsent, withdrawn: end.Withdrawn}, reported)
		if reported && end.Outcome == Failed {
			l.p.admission.report(1)
		}
		if e.node != none {
			l.forget(e.node, end)
		}
	}()
	l.progress.Add(1)
	told := l.p.config.Hooks.Settled(end, err) && err != nil
	reported = reported || told
}

// forget removes an item that was settled, and lets the next one of its key go.
func (l *loop[V, R]) forget(r ref, end *Settlement[V, R]) {
	n := l.pending.at(r)
	quiet := instant(0)
	if wait := l.p.config.UnknownWait; n.cut && wait > 0 {
		quiet = later(n.cutAt, wait)
	}
	attempt := n.item.Attempt
	if end.Outcome == Failed || end.Result != nil && end.Result.Ignored {
		l.reconsider(n.next)
	}
	drop := l.pending.remove(r, quiet)
	if drop != none && !l.giveUp {
		l.dropped = append(l.dropped, dropped[R]{drop, *end.Result, attempt})
	}
}
