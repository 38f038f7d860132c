package textindex

// IDs is a set of document ids, the result of a filter. The zero value is empty.
type IDs struct {
	words []uint64
	count int
}

// Add adds id to the set.
func (s *IDs) Add(id uint32) {
	for int(id>>6) >= len(s.words) {
		s.words = append(s.words, make([]uint64, int(id>>6)+1-len(s.words))...)
	}
	if bit := uint64(1) << (id & 63); s.words[id>>6]&bit == 0 {
		s.words[id>>6] |= bit
		s.count++
	}
}

// Has reports whether id is in the set. A nil set means no filter and has every id.
func (s *IDs) Has(id uint32) bool {
	return s == nil || int(id>>6) < len(s.words) && s.words[id>>6]&(1<<(id&63)) != 0
}

// Len returns the number of ids.
func (s *IDs) Len() int { return s.count }
