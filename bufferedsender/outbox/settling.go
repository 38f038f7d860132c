package outbox

import (
	"iter"
	"slices"
	"time"
)

// settling holds the rows that have ended and must be written about. It does no I/O and gets the time as an argument;
// the loop owns it.
type settling struct {
	done  []row // confirmed, to delete
	dead  []letter
	tried []row // attempts to count

	now      *finishing // in progress
	letters  bool       // the keys may have dead letters, which the deletion of later rows marks
	buriedAt time.Time  // when dead letters were last written, or started to be
}

// left returns how many rows wait to be written about.
func (s *settling) left() int { return len(s.done) + len(s.dead) + len(s.tried) }

// bytes returns the size of bodies kept for dead letters.
func (s *settling) bytes() (n int64) {
	for i := range s.dead {
		n += int64(len(s.dead[i].body))
	}
	return n
}

// has reports whether a row of a range waits for its deletion, or is being deleted.
func (s *settling) has(part uint8) bool {
	in := func(done []row, dead []letter) bool {
		return slices.ContainsFunc(done, func(r row) bool { return r.part == part }) ||
			slices.ContainsFunc(dead, func(l letter) bool { return l.part == part })
	}
	return in(s.done, s.dead) || s.now != nil && in(s.now.done, s.now.dead)
}

// running returns the rows of the running deletion.
func (s *settling) running() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		if s.now == nil {
			return
		}
		for i := range s.now.done {
			if !yield(&s.now.done[i]) {
				return
			}
		}
		for i := range s.now.dead {
			if !yield(&s.now.dead[i].row) {
				return
			}
		}
	}
}

// stale returns the keys that the running deletion has rows of, under earlier leases than those of gens. It is not
// known yet which of these rows are left, and no row of a key may be sent before an earlier one.
func (s *settling) stale(gens *[ranges]uint32) map[string]bool {
	keys := make(map[string]bool)
	for r := range s.running() {
		if s.now.gens[r.part] != gens[r.part] {
			keys[r.key] = true
		}
	}
	return keys
}

// keep drops all rows for which held returns false.
func (s *settling) keep(held func(row) bool) {
	s.done = slices.DeleteFunc(s.done, func(r row) bool { return !held(r) })
	s.dead = slices.DeleteFunc(s.dead, func(l letter) bool { return !held(l.row) })
	s.tried = slices.DeleteFunc(s.tried, func(r row) bool { return !held(r) })
}

// begin takes the rows of the next deletion.
func (s *settling) begin(h *holds, now time.Time) *finishing {
	f := &finishing{marks: s.letters || len(s.dead) > 0, dead: cut(&s.dead, maxBury), tried: cut(&s.tried, maxDelete), gens: h.gens}
	if len(s.dead) == 0 { // the deletion of a later row marks existing dead letters
		f.done = cut(&s.done, maxDelete)
	}
	var in [ranges]bool
	for _, r := range f.done {
		in[r.part] = true
	}
	for _, l := range f.dead {
		in[l.part] = true
	}
	for _, r := range f.tried {
		in[r.part] = true
	}
	for i := range in {
		if p := h.parts[i].lease; in[i] && p != nil {
			f.parts, f.epochs = append(f.parts, int64(i)), append(f.epochs, p.epoch)
		}
	}
	if len(f.dead) > 0 {
		s.letters, s.buriedAt = true, now
	}
	s.now = f
	return f
}

// failed puts rows that could not be written in front of the others, and reports whether leases of some have ended.
func (s *settling) failed(h *holds) (lost bool) {
	f := s.now
	again := settling{done: f.done, dead: f.dead, tried: f.tried}
	again.keep(func(r row) bool {
		held := h.gens[r.part] == f.gens[r.part] && f.gens[r.part] != 0
		lost = lost || !held
		return held
	})
	s.now, s.done, s.dead = nil, append(again.done, s.done...), append(again.dead, s.dead...)
	if len(s.tried) < maxAside {
		s.tried = append(again.tried, s.tried...)
	}
	return lost
}

// ended records that the deletion was written.
func (s *settling) ended(now time.Time) {
	if len(s.now.dead) > 0 {
		s.buriedAt = now
	}
	s.now = nil
}

// ticked records whether there are dead letters. A dead letter may be newer than the answer: one of this relay, or of
// the previous holder of a range.
func (s *settling) ticked(t *tally) {
	burying := s.now != nil && len(s.now.dead) > 0
	s.letters = t.letters || s.letters && (burying || !t.began.After(s.buriedAt)) || len(t.acquired) > 0
}
