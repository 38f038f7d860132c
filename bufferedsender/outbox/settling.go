package outbox

import (
	"slices"
	"time"
)

// settling is what is to be written about rows that have ended. It does no I/O and takes the time as an argument; the
// loop owns it.
type settling struct {
	done  []row // confirmed, to be deleted
	dead  []letter
	tried []row // whose attempts are to be counted

	now      *finishing // that is under way
	letters  bool       // there may be dead letters of the keys, of which the deletion of later rows is a mark
	buriedAt time.Time  // when some were written last, or begun to be
}

// left is how many rows wait for being written about.
func (s *settling) left() int { return len(s.done) + len(s.dead) + len(s.tried) }

// bytes are those of bodies that are in hand for dead letters.
func (s *settling) bytes() (n int64) {
	for i := range s.dead {
		n += int64(len(s.dead[i].body))
	}
	return n
}

// has reports whether something of a range waits for being deleted, or is being.
func (s *settling) has(part uint8) bool {
	in := func(done []row, dead []letter) bool {
		return slices.ContainsFunc(done, func(r row) bool { return r.part == part }) ||
			slices.ContainsFunc(dead, func(l letter) bool { return l.part == part })
	}
	return in(s.done, s.dead) || s.now != nil && in(s.now.done, s.now.dead)
}

// keep drops all rows of which held is false.
func (s *settling) keep(held func(row) bool) {
	s.done = slices.DeleteFunc(s.done, func(r row) bool { return !held(r) })
	s.dead = slices.DeleteFunc(s.dead, func(l letter) bool { return !held(l.row) })
	s.tried = slices.DeleteFunc(s.tried, func(r row) bool { return !held(r) })
}

// begin takes what the next deletion holds.
func (s *settling) begin(h *holds, now time.Time) *finishing {
	f := &finishing{marks: s.letters || len(s.dead) > 0, dead: cut(&s.dead, maxBury), tried: cut(&s.tried, maxDelete), gens: h.gens}
	if len(s.dead) == 0 { // the deletion of a later row marks letters that are there
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

// failed puts what could not be written in front of the rest, but for rows of leases that have ended meanwhile.
func (s *settling) failed(h *holds) {
	f := s.now
	again := settling{done: f.done, dead: f.dead, tried: f.tried}
	again.keep(func(r row) bool { return h.gens[r.part] == f.gens[r.part] && f.gens[r.part] != 0 })
	s.now, s.done, s.dead = nil, append(again.done, s.done...), append(again.dead, s.dead...)
	if len(s.tried) < maxAside {
		s.tried = append(again.tried, s.tried...)
	}
}

// ended notes that the deletion has been written.
func (s *settling) ended(now time.Time) {
	if len(s.now.dead) > 0 {
		s.buriedAt = now
	}
	s.now = nil
}

// ticked takes over whether there are dead letters. One may be newer than the answer: of ours, or of who had a range
// before.
func (s *settling) ticked(t *tally) {
	burying := s.now != nil && len(s.now.dead) > 0
	s.letters = t.letters || s.letters && (burying || !t.began.After(s.buriedAt)) || len(t.acquired) > 0
}
