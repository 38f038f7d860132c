package textindex

import "slices"

// phrasePlan matches the documents in which terms stand in a row, or nearly so.
type phrasePlan struct {
	slots []phraseSlot
	lists [][]*postings // of each slot, those of its terms
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

// meet finds the first document from ordinal on that is in all slots.
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

// slotCursor walks over the documents that have any of a slot's terms.
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

// seek is the first document at or after ordinal.
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

// phraseMatcher finds a phrase among the positions of its slots in one text.
type phraseMatcher struct {
	positions [][]uint32 // of each slot; filled by the caller
	offsets   []int
	slop      int
	repeats   bool // two slots share a term and must not share a position

	at   []int // of each slot, the index of its present position
	best []int // where at was when the slots were nearest, for sloppy
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

// frequency is how often the phrase is there: each time counts 1, or less the
// farther its words have moved.
func (m *phraseMatcher) frequency() float32 {
	f := float32(0)
	m.each(func(distance int) { f += 1 / float32(1+distance) })
	return f
}

// each calls found for each place where the phrase is, with how far its words
// have moved in all. m.at then tells where the words are.
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

// place is where the phrase would start for the present position of slot i to be
// the right one.
func (m *phraseMatcher) place(i int) int {
	return int(m.positions[i][m.at[i]]) - m.offsets[i]
}

// sloppy moves the slot that lags behind, again and again. As long as it lags
// this brings the slots together; when it overtakes another, the best that there
// was until then counts, if that was near enough.
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

// extremes is the slot that lags behind, the place of the one before it, and the
// place of the foremost.
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

// part moves slots until no two share a position; false says that there is no
// such place any more.
func (m *phraseMatcher) part() bool {
	for i := 0; i < len(m.at); i++ {
		for j := range i {
			if m.positions[i][m.at[i]] == m.positions[j][m.at[j]] {
				// The one that is written later in the phrase goes on.
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
