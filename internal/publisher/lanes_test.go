package publisher

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The lanes behave like a map, also with equal or adjacent hashes around the end of the table.
func TestLanesAreAMap(t *testing.T) {
	for name, hash := range map[string]func(i int) uint32{
		"by the key":      func(int) uint32 { return 0 },
		"all the same":    func(int) uint32 { return 7 },
		"few":             func(i int) uint32 { return uint32(i%5)*2 + 1 },
		"at the very end": func(i int) uint32 { return 1<<32 - 1 - uint32(i%3)*2 },
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			p := newPending[int]()
			known := map[string]ref{}
			for step := range 20_000 {
				i := random.IntN(300)
				item := Item[int]{Key: strconv.Itoa(i), hash: hash(i)}
				want, there := known[item.Key]
				got, found := p.tail(&item)
				require.Equal(t, there, found)
				if there {
					require.Equal(t, want, got)
				}
				switch {
				case there && random.IntN(4) > 0:
					p.end(want)
					*p.at(want) = node[int]{next: p.free}
					p.free = want
					delete(known, item.Key)
				case there: // another one follows
					r := p.alloc()
					p.at(r).item = item
					tail, busy := p.append(r)
					require.True(t, busy)
					require.Equal(t, want, tail)
					known[item.Key] = r
				case step%7 < 5:
					r := p.alloc()
					p.at(r).item = item
					_, busy := p.append(r)
					require.False(t, busy)
					known[item.Key] = r
				}
				require.Equal(t, len(known), p.lanes.count)
			}
			for key, r := range known {
				got, found := p.tail(&p.at(r).item)
				require.True(t, found, key)
				require.Equal(t, r, got)
			}
		})
	}
}
