//go:build race

package publisher

// Under the race detector slabs are small, every sender uses them from the first document, and released memory is
// overwritten, so that tests detect a body that is read too late.
const (
	smallSlab = 4 << 10
	largeSlab = 16 << 10
	slabsFrom = 0
)

func (s *slab) poison() {
	for i := range s.memory {
		s.memory[i] = '!'
	}
}
