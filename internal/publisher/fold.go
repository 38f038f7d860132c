package publisher

// folds sums up the folding of one round, to be accounted for at once.
type folds struct {
	folded uint64
	bytes  int64 // freed
}

// unfold returns the room of unused bodies. The items keep their place in the buffer until they are settled.
func (a *admission[V]) unfold(f *folds) {
	if f.folded == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return // a Close that stopped waiting has settled everything
	}
	a.stats.Folded += f.folded
	a.free(0, f.bytes)
	a.admit()
}

// fold merges a new item into the last unsettled one of its key, if Fold agrees, and reports whether it did. The result
// keeps the place of the older item, so that a key that is written continuously still gets its turn. outdated means
// that the last item has a newer version: the new one waits behind it and is sent only if that fails.
func (l *loop[V, R]) fold(e *entry[V], done *folds) (folded, outdated bool) {
	if l.p.config.Fold == nil {
		return false, false
	}
	r, ok := l.pending.tail(&e.item)
	if !ok || l.pending.places.of[r] != nil { // do not fold across a hold
		return false, false
	}
	n := l.pending.at(r)
	part := Part[V]{Value: e.item.Value, seq: e.seq, accepted: e.accepted}
	folding, result := l.p.config.Fold(&n.item, &e.item, n.sent || n.outdated || n.removed)
	before := len(n.item.Body) + len(e.item.Body)
	switch {
	case folding == Outdated:
		return false, true
	case folding == Folded && l.fits(len(result.Body)) && len(result.Body) <= before:
		done.folded++
	default:
		return false, false
	}
	if n.item.Parts == nil {
		n.item.Parts = []Part[V]{{Value: n.item.Value, seq: n.seq, accepted: n.accepted}}
	}
	n.item.Parts = append(n.item.Parts, part)
	n.item.Value, n.unknown = result.Value, n.unknown || e.item.Unknown
	if saved := before - len(result.Body); l.p.config.KeepsDocuments {
		n.kept += saved
	} else {
		done.bytes += int64(saved)
	}
	l.pending.replace(r, result.Body)
	l.pending.raise(r, e.item.Class)
	return true, false
}

// fits reports whether a body fits into a batch alone, under the current limit.
func (l *loop[V, R]) fits(size int) bool {
	return l.p.config.Envelope+size <= l.pace.size.current
}

// reconsider decides again about the items of a key, from r on, because the one before them was not applied: those that
// it outdated may still be older than another of them.
func (l *loop[V, R]) reconsider(r ref) {
	if l.p.config.Fold == nil {
		return
	}
	var newest *Item[V]
	for ; r != none && l.pending.places.of[r] == nil; r = l.pending.at(r).next {
		n := l.pending.at(r)
		folding, _ := l.p.config.Fold(newest, &n.item, true)
		n.outdated = folding == Outdated
		if n.item.Outdated = n.outdated; !n.outdated {
			newest = &n.item
		}
	}
}
