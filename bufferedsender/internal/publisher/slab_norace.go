//go:build !race

package publisher

// SlabSize is the size in bytes of a slab. A sender begins to use slabs when it
// has encoded SlabsFrom bytes.
const (
	SlabSize  = 64 << 10
	SlabsFrom = SlabSize
)

// poison does nothing here; see slab_race.go.
func (s *Slab) poison() {}
