package publisher

// crowd counts the items that the service has applied, and those that it was
// too busy for. The counts wrap around: only differences mean anything.
type crowd struct{ applied, turnedAway uint32 }

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
	since   crowd  // the counts when it was compared with the others last, …
	own     uint32 // … and how much of turnedAway since then is its own doing
	applied uint32 // that count when it was turned away last

	times      uint16 // that it was turned away
	vain       uint16 // of these, the last ones between which nothing was applied
	singledOut uint16 // and those at which nearly all the others were applied
}

func (c crowd) newWait() wait { return wait{since: c, applied: c.applied} }

// turnedAway notes that the service was too busy for an item. Own is how many
// items were turned away for the same reason: all of a request that was refused
// as a whole.
func (w *wait) turnedAway(c crowd, own int) {
	w.times++
	if w.vain++; c.applied != w.applied {
		w.vain = 0
	}
	w.applied = c.applied
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
	if !result.Throttled {
		return n.item.Attempt-int(n.wait.times) >= attempts || n.item.Attempt >= most
	}
	own := 1
	if f.reply.Throttled == 0 {
		own = len(f.refs)
	}
	n.wait.turnedAway(l.crowd, own)
	return int(n.wait.vain) >= attempts || n.wait.singledOut >= singledOut || n.item.Attempt >= most
}
