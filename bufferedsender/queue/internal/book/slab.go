package book

// slabNodes is how many nodes are allocated at once: few enough that a small queue is small. Growing never copies.
const slabNodes = 1024

// slab is the memory of the nodes, by number.
type slab[R Ref] struct {
	chunks [][]node[R]
	spare  []int32 // unused numbers
	used   int
	moves  int // how often nodes were renumbered
}

func (s *slab[R]) at(i int32) *node[R] { return &s.chunks[i/slabNodes][i%slabNodes] }

func (s *slab[R]) take() int32 {
	s.used++
	if last := len(s.spare) - 1; last >= 0 {
		i := s.spare[last]
		s.spare = s.spare[:last]
		return i
	}
	i := s.used - 1
	if i/slabNodes == len(s.chunks) {
		s.chunks = append(s.chunks, make([]node[R], slabNodes))
	}
	return int32(i) //nolint:gosec // 2²⁹ nodes, see slot, are 50 GB
}

func (s *slab[R]) free(i int32) {
	s.used--
	s.spare = append(s.spare, i)
}
