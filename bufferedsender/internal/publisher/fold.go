package publisher

// folds are what folding has changed in one round, to be accounted for at once.
type folds struct {
	folded, superseded uint64
	bytes              int64 // given back
}

// unfold gives back the room of bodies that nothing holds on to. The items themselves
// keep their place in the buffer until they are settled.
func (a *admission[V]) unfold(f *folds) {
	if f.folded+f.superseded == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return // a Close that could not wait has settled it all
	}
	a.stats.Folded += f.folded
	a.stats.Superseded += f.superseded
	a.stats.Bytes -= f.bytes
	a.admit()
}

// fold lets a new item become part of the last one of its key, if that has not
// been settled and Fold agrees, and reports whether it did. The result keeps the
// place of the older item, so that a key that is written all the time still gets
// its turn.
func (l *loop[V, R]) fold(e *entry[V], done *folds) bool {
	if l.p.config.Fold == nil {
		return false
	}
	r, ok := l.pending.tail(&e.item)
	if !ok {
		return false
	}
	n := l.pending.at(r)
	part := Part[V]{Value: e.item.Value, seq: e.seq, accepted: e.accepted}
	folding, folded := l.p.config.Fold(&n.item, &e.item, n.sent)
	before := len(n.item.Body) + len(e.item.Body)
	switch {
	case folding == Outdated:
		part.Superseded = true
		done.superseded++
		folded = n.item
	case folding == Folded && l.fits(len(folded.Body)) && len(folded.Body) <= before:
		done.folded++
	default:
		return false
	}
	if n.item.Parts == nil {
		n.item.Parts = []Part[V]{{Value: n.item.Value, seq: n.seq, accepted: n.accepted}}
	}
	n.item.Parts = append(n.item.Parts, part)
	n.item.Value = folded.Value
	if saved := before - len(folded.Body); l.p.config.KeepsDocuments {
		n.kept += saved
	} else {
		done.bytes += int64(saved)
	}
	l.pending.replace(r, folded.Body)
	return true
}

// fits reports whether a body fits into a batch of its own, as far as is known.
func (l *loop[V, R]) fits(size int) bool {
	return l.p.config.Envelope+size <= l.limit.current
}
