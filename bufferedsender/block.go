package bufferedsender

// block makes values that are handed out, up to sixteen with one allocation. They
// share memory: who keeps one keeps its neighbours.
type block[E any] struct {
	left   []E
	size   int // of the last allocation
	coming int // as many are expected beyond left
}

// next returns a new value. If nothing is expected, blocks grow: a sender that
// is used now and then shall not pay for many.
func (b *block[E]) next() *E {
	const largest = 16
	if len(b.left) == 0 {
		if b.size = min(2*b.size+1, largest); b.coming > 0 {
			b.size = min(b.coming, largest)
			b.coming -= b.size
		}
		b.left = make([]E, b.size)
	}
	e := &b.left[0]
	b.left = b.left[1:]
	return e
}

// expect says how many values will be handed out together.
func (b *block[E]) expect(n int) { b.left, b.coming = nil, n }
