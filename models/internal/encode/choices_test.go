package encode_test

import (
	"math/rand/v2"
)

// choices turns bytes of a fuzzer or a random generator into decisions. When the bytes are used up, every decision is
// the first option, which is always the simplest.
type choices struct{ data []byte }

// randomChoices returns the choices of a seed.
func randomChoices(seed uint64) *choices { return &choices{randomBytes(seed)} }

func randomBytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, 20+r.IntN(600))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (c *choices) byte() byte {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b
}

func (c *choices) uint64() uint64 {
	var x uint64
	for range 8 {
		x = x<<8 | uint64(c.byte())
	}
	return x
}

// n returns a number below most.
func (c *choices) n(most int) int {
	if most <= 256 {
		return int(c.byte()) % most
	}
	return (int(c.byte())<<8 | int(c.byte())) % most
}

// oneIn is true once in n times, and never when the bytes are used up.
func (c *choices) oneIn(n int) bool { return c.n(n) == n-1 }

// pick returns one of a list.
func pick[T any](c *choices, list []T) T { return list[c.n(len(list))] }
