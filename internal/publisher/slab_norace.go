//go:build !race

package publisher

// The sizes in bytes of slabs, for small and for large bodies. A sender begins
// to use them when it has accepted a slab's worth.
const (
	smallSlab = 64 << 10
	largeSlab = 256 << 10
	slabsFrom = smallSlab
)

// poison does nothing here; see slab_race.go.
func (s *slab) poison() {}
