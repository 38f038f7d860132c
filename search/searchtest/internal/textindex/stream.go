package textindex

// stream has the term numbers of each document in the order of the text. none separates the values of a collection.
type stream struct {
	numbers []uint32
	ends    []uint32 // by ordinal; shorter than the number of documents if the last ones have no text
}

func (s *stream) add(n uint32) { s.numbers = append(s.numbers, n) }

// close ends a document. Earlier documents that were not closed have no text.
func (s *stream) close(ordinal uint32) {
	last := uint32(0)
	if n := len(s.ends); n > 0 {
		last = s.ends[n-1]
	}
	for len(s.ends) < int(ordinal) {
		s.ends = append(s.ends, last)
	}
	s.ends = append(s.ends, uint32(len(s.numbers)))
}

// of returns the terms of one document.
func (s *stream) of(ordinal uint32) []uint32 {
	if int(ordinal) >= len(s.ends) {
		return nil
	}
	start := uint32(0)
	if ordinal > 0 {
		start = s.ends[ordinal-1]
	}
	return s.numbers[start:s.ends[ordinal]]
}

func (s *stream) renumber(ordinals, numbers []uint32) *stream {
	out := new(stream)
	for i := range s.ends {
		if ordinals[i] == none {
			continue
		}
		for _, n := range s.of(uint32(i)) {
			if n != none {
				n = numbers[n]
			}
			out.add(n)
		}
		out.close(ordinals[i])
	}
	return out
}
