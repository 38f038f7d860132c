package publisher

import "slices"

// crowd counts the items that the service has applied, those that it was too
// busy for, and the requests that it has served, of whoever shares the gate. The
// counts wrap around: only differences mean anything.
type crowd struct{ applied, turnedAway, served uint32 }

// count adds the results of a reply.
func count[R any](c *crowd, results []Result[R]) {
	for i := range results {
		switch {
		case results[i].Verdict == Done:
			c.applied++
		case results[i].Throttled:
			c.turnedAway++
		}
	}
}

// wait is what an item that is turned away time after time sees the others get.
// It tells a busy service, where it is chance who gets through, from one that
// applies nothing at all, and from one that has something against the item.
type wait struct {
	last  crowd  // the counts when it was turned away last
	since crowd  // and when it was compared with the others last, …
	own   uint32 // … and how much of turnedAway since then is its own doing

	times      uint16 // that it was turned away
	vain       uint16 // of these, the last ones between which nothing was applied
	singledOut uint16 // and those at which nearly all the others were applied
}

func (c crowd) newWait() wait { return wait{last: c, since: c} }

// turnedAway notes that the service was too busy for an item. Own is how many
// items were turned away for the same reason: all of a request that was refused
// as a whole. The service may be busy with other requests of this sender.
func (w *wait) turnedAway(c crowd, own int, withOthers bool) {
	w.times++
	switch {
	case c.applied != w.last.applied || c.served != w.last.served:
		w.vain = 0
	case !withOthers:
		w.vain++
	}
	w.last = c
	w.own += uint32(own)

	const others = 10 // fewer tell nothing
	applied, turnedAway := c.applied-w.since.applied, c.turnedAway-w.since.turnedAway-w.own
	if applied+turnedAway < others {
		return
	}
	if turnedAway <= applied/others {
		w.singledOut++
	}
	w.since, w.own = c, 0
}

// spent reports whether an item that is to be sent again has used up its
// attempts. Those at which the service was too busy for it are not among them;
// they count if nothing is applied in between, or time and again nearly all the
// others are: then it is not chance any more.
func (l *loop[V, R]) spent(n *node[V], result *Result[R], f *flight[V, R]) bool {
	const (
		singledOut = 11     // by chance that happens to one in 100 billion
		most       = 10_000 // attempts; its Flush must not wait for ever
	)
	attempts := l.p.config.MaxAttempts
	if !result.Throttled || attempts == 1 { // not to be sent again, whatever it is
		return n.item.Attempt-int(n.wait.times) >= attempts || n.item.Attempt >= most
	}
	own := 1
	if f.reply.Throttled == 0 {
		own = len(f.refs)
	}
	n.wait.turnedAway(l.crowd, own, l.olderThan(f))
	return int(n.wait.vain) >= attempts || n.wait.singledOut >= singledOut || n.item.Attempt >= most
}

// olderThan reports whether a request is under way that left before f.
func (l *loop[V, R]) olderThan(f *flight[V, R]) bool {
	return slices.ContainsFunc(l.inFlight, func(g *flight[V, R]) bool { return g.left < f.left })
}
