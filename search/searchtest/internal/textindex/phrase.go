package textindex

import "slices"

// phrasePlan matches documents that have the terms in sequence, or nearly so within slop.
type phrasePlan struct {
	slots []phraseSlot
	lists [][]*postings // by slot: the postings of its terms
	slop  int
	scorer
}

func (p *phrasePlan) add(r *run, h *hits) {
	slots := make([]*slotCursor, len(p.slots))
	for i, lists := range p.lists {
		if len(lists) == 0 {
			return
		}
		slots[i] = newSlotCursor(lists)
	}
	m := newPhraseMatcher(p.slots, p.slop)
	for ordinal := uint32(0); ; ordinal++ {
		var ok bool
		if ordinal, ok = meet(slots, ordinal); !ok {
			return
		}
		if !r.allows(ordinal) {
			continue
		}
		for i, s := range slots {
			m.positions[i] = s.read(m.positions[i][:0], ordinal)
		}
		if f := m.frequency(); f > 0 {
			h.add(ordinal, p.score(ordinal, f))
		}
	}
}

// meet returns the first document from ordinal that is in all slots.
func meet(slots []*slotCursor, ordinal uint32) (uint32, bool) {
	for agreed := 0; agreed < len(slots); {
		agreed = 0
		for _, s := range slots {
			at, ok := s.seek(ordinal)
			if !ok {
				return 0, false
			}
			if at > ordinal {
				ordinal = at
				break
			}
			agreed++
		}
	}
	return ordinal, true
}

// slotCursor iterates over the documents that have any term of a slot.
type slotCursor struct {
	cursors []cursor
}

func newSlotCursor(lists []*postings) *slotCursor {
	s := new(slotCursor)
	for _, list := range lists {
		if c := list.cursor(); c.advance() {
			s.cursors = append(s.cursors, c)
		}
	}
	return s
}

// seek returns the first document at or after ordinal.
func (s *slotCursor) seek(ordinal uint32) (uint32, bool) {
	best, found := uint32(none), false
	for i := range s.cursors {
		if c := &s.cursors[i]; !c.done && c.seek(ordinal) && c.ordinal <= best {
			best, found = c.ordinal, true
		}
	}
	return best, found
}

// read appends the positions in a document, in order.
func (s *slotCursor) read(dst []uint32, ordinal uint32) []uint32 {
	lists := 0
	for i := range s.cursors {
		if c := &s.cursors[i]; !c.done && c.ordinal == ordinal {
			dst = c.read(dst)
			lists++
		}
	}
	if lists > 1 {
		slices.Sort(dst)
	}
	return dst
}

// phraseMatcher finds a phrase from the positions of its slots in one text.
type phraseMatcher struct {
	positions [][]uint32 // by slot; set by the caller
	offsets   []int
	slop      int
	repeats   bool // two slots share a term and must not share a position

	at   []int // by slot: index of its current position
	best []int // copy of at when the slots were nearest, for sloppy
}

func newPhraseMatcher(slots []phraseSlot, slop int) *phraseMatcher {
	m := &phraseMatcher{
		positions: make([][]uint32, len(slots)),
		offsets:   make([]int, len(slots)),
		slop:      slop,
		at:        make([]int, len(slots)),
		best:      make([]int, len(slots)),
	}
	seen := make(map[string]bool)
	for i, s := range slots {
		m.offsets[i] = s.offset
		for _, term := range s.terms {
			m.repeats = m.repeats || seen[term]
			seen[term] = true
		}
	}
	return m
}

// frequency returns the number of occurrences of the phrase; an occurrence whose words are moved counts less than 1.
func (m *phraseMatcher) frequency() float32 {
	f := float32(0)
	m.each(func(distance int) { f += 1 / float32(1+distance) })
	return f
}

// each calls found for each occurrence of the phrase, with the total distance by which its words are moved. During
// the call m.at has the positions of the words.
func (m *phraseMatcher) each(found func(distance int)) {
	clear(m.at)
	for _, p := range m.positions {
		if len(p) == 0 {
			return
		}
	}
	if m.slop == 0 {
		m.exact(found)
		return
	}
	m.sloppy(found)
}

func (m *phraseMatcher) exact(found func(int)) {
	for first := range m.positions[0] {
		m.at[0] = first
		start := int(m.positions[0][first]) - m.offsets[0]
		ok := true
		for i := 1; ok && i < len(m.positions); i++ {
			for m.at[i] < len(m.positions[i]) && m.place(i) < start {
				m.at[i]++
			}
			if m.at[i] == len(m.positions[i]) {
				return
			}
			ok = m.place(i) == start
		}
		if ok {
			found(0)
		}
	}
}

// place returns the start of the phrase that the current position of slot i implies.
func (m *phraseMatcher) place(i int) int {
	return int(m.positions[i][m.at[i]]) - m.offsets[i]
}

// sloppy repeatedly advances the slot that is furthest behind, which brings the slots closer together. When that
// slot passes another one, the nearest arrangement so far is an occurrence, if it is within slop.
func (m *phraseMatcher) sloppy(found func(int)) {
	if m.repeats && !m.part() {
		return
	}
	low, next, high := m.extremes()
	best := high - m.place(low)
	copy(m.best, m.at)
	report := func() {
		if best <= m.slop {
			m.at, m.best = m.best, m.at
			found(best)
			m.at, m.best = m.best, m.at
		}
	}
	for {
		m.at[low]++
		if m.at[low] == len(m.positions[low]) || m.repeats && !m.part() {
			break
		}
		overtaken := m.place(low) > next
		if overtaken {
			report()
			low, next, high = m.extremes()
		} else {
			_, _, high = m.extremes()
		}
		if distance := high - m.place(low); overtaken || distance < best {
			best = distance
			copy(m.best, m.at)
		}
	}
	report()
}

// extremes returns the slot furthest behind, the lowest place of the other slots, and the highest place.
func (m *phraseMatcher) extremes() (low, next, high int) {
	const far = int(^uint(0) >> 1)
	next, high = far, -far
	for i := range m.at {
		if m.place(i) < m.place(low) {
			low = i
		}
		high = max(high, m.place(i))
	}
	for i := range m.at {
		if i != low {
			next = min(next, m.place(i))
		}
	}
	return low, next, high
}

// part advances slots until no two share a position. It returns false if that is not possible.
func (m *phraseMatcher) part() bool {
	for i := 0; i < len(m.at); i++ {
		for j := range i {
			if m.positions[i][m.at[i]] == m.positions[j][m.at[j]] {
				// Advance the slot that is later in the phrase.
				if m.at[i]++; m.at[i] == len(m.positions[i]) {
					return false
				}
				i = 0
				break
			}
		}
	}
	return true
}
