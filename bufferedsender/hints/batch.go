package hints

import (
	"slices"
	"strings"
)

// Batch is what Take hands out: keys of an index, or all of it.
type Batch struct {
	// Index is the name of the index.
	Index string
	// Keys are to be compared. The slice belongs to the caller: Done and Back go by what is in it, so that a part of a
	// batch can be done, and the rest be back.
	Keys []string
	// Everything says that the whole index is to be compared; there are no Keys.
	Everything bool

	taking *taking
}

// Empty reports whether there is nothing to do.
func (b Batch) Empty() bool { return len(b.Keys) == 0 && !b.Everything }

// Take hands out the oldest keys of an index that nobody has, at most max of them and 10 000, or everything if the
// index is to be compared whole. The batch is empty if there are none. Each key is handed out once until it is Back,
// or the process ends: what is not Done then is there again.
func (s *Set) Take(index string, max int) Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.indexes[index]
	if !ok || s.closed || max <= 0 {
		return Batch{Index: index}
	}
	if x.wholeWaits() {
		x.allBy = &taking{set: s, index: x}
		return Batch{Index: index, Everything: true, taking: x.allBy}
	}
	n := min(max, maxTake, x.line.size)
	if n == 0 {
		return Batch{Index: index}
	}
	t := x.take(s, n)
	return Batch{Index: index, Keys: slices.Clone(t.keys), taking: t}
}

// Done removes the keys of a batch, because the index has them as they should be. Keys that were added
// since Take stay, to be taken again; so does everything else that the batch does not hold any more.
func (s *Set) Done(b Batch) { s.settle(b, true) }

// Back returns the keys of a batch, because they could not be repaired. They are taken again after those that wait.
func (s *Set) Back(b Batch) { s.settle(b, false) }

func (s *Set) settle(b Batch, done bool) {
	t := b.taking
	if t == nil || t.set != s {
		return
	}
	x := t.index
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	switch {
	case x.allBy == t && done:
		x.all, x.allBy = false, nil
		s.record(opCompared, x, "")
	case x.allBy == t:
		s.everything(x) // with what was added meanwhile
	default:
		for _, key := range b.Keys {
			switch {
			case !t.has(key):
			case !t.let(key) && done:
				s.remove(x, key)
				s.record(opDone, x, key)
			default:
				x.wait(strings.Clone(key)) // the caller's may be a part of a document
			}
		}
	}
	s.tidy(x)
	s.wake()
}
