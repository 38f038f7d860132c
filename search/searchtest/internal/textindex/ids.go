package textindex

// IDs is a set of document ids: what a filter found. The zero value is empty.
type IDs struct {
	words []uint64
	count int
}

// Add puts id into the set.
func (s *IDs) Add(id uint32) {
	for int(id>>6) >= len(s.words) {
		s.words = append(s.words, make([]uint64, int(id>>6)+1-len(s.words))...)
	}
	if bit := uint64(1) << (id & 63); s.words[id>>6]&bit == 0 {
		s.words[id>>6] |= bit
		s.count++
	}
}

// Has reports whether id is in the set. A nil set has every id: it stands for no
// filter.
func (s *IDs) Has(id uint32) bool {
	return s == nil || int(id>>6) < len(s.words) && s.words[id>>6]&(1<<(id&63)) != 0
}

// Len is the number of ids in the set.
func (s *IDs) Len() int { return s.count }
