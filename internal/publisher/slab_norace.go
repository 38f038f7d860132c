//go:build !race

package publisher

// Sizes in bytes of slabs for small and for large bodies. A sender starts using slabs after it has accepted slabsFrom
// bytes.
const (
	smallSlab = 64 << 10
	largeSlab = 256 << 10
	slabsFrom = smallSlab
)

// poison does nothing here; see slab_race.go.
func (s *slab) poison() {}
