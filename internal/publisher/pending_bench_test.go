package publisher

import (
	"strconv"
	"testing"
)

// BenchmarkPending measures the cost of the queue per action: it is added, taken into a batch and removed, while
// others wait.
func BenchmarkPending(b *testing.B) {
	const batch, body, comma = 1000, 650, 1
	byCount := batchLimits{actions: batch, bytes: 1 << 30, newest: 1 << 62}
	bySize := batchLimits{actions: 32 * batch, bytes: batch * (body + comma), comma: comma, newest: 1 << 62}
	for _, c := range []struct {
		name    string
		waiting int
		limits  batchLimits
		perKey  int // consecutive actions
	}{
		{"1000_waiting", 1000, byCount, 1},
		{"100000_waiting", 100_000, byCount, 1},
		{"1000_waiting, the bytes fill a batch", 1000, bySize, 1},
		// The second action of a key is sent after the first is settled.
		{"1000_waiting, each key twice", 1000, byCount, 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			items := make([]Item[struct{}], 4*c.waiting)
			shared := make([]byte, body)
			for i := range items {
				items[i] = Item[struct{}]{Key: "document-" + strconv.Itoa(i/c.perKey), Body: shared}
				items[i].hashKey()
			}
			p := newPending[struct{}]()
			var seq uint64
			var refs []ref
			next := func() *Item[struct{}] {
				seq++
				return &items[(seq-1)%uint64(len(items))]
			}
			for range c.waiting {
				p.add(*next(), seq, 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.add(*next(), seq, 0)
				if seq%batch == 0 {
					refs, _ = p.take(refs[:0], c.limits)
					for _, r := range refs {
						p.remove(r, 0)
					}
				}
			}
			if b.N >= 10*batch && len(refs) != batch {
				b.Errorf("a batch had %d actions", len(refs))
			}
		})
	}
}
