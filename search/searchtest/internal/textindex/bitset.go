package textindex

import "math/bits"

// bitset is a set of ordinals.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(i uint32) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s bitset) set(i uint32)      { s[i>>6] |= 1 << (i & 63) }

func (s bitset) len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls f for every member, in ascending order.
func (s bitset) each(f func(i uint32)) {
	for at, w := range s {
		for ; w != 0; w &= w - 1 {
			f(uint32(at<<6 + bits.TrailingZeros64(w)))
		}
	}
}
