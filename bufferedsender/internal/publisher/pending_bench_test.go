package publisher

import (
	"strconv"
	"testing"
)

// BenchmarkPending is what the queue costs an action that is alone with its key:
// it comes, is taken into a batch and goes, while so many others wait.
func BenchmarkPending(b *testing.B) {
	for _, waiting := range []int{1000, 100_000} {
		b.Run(strconv.Itoa(waiting)+"_waiting", func(b *testing.B) {
			items := make([]Item[struct{}], 2*waiting)
			for i := range items {
				items[i] = Item[struct{}]{Key: "document-" + strconv.Itoa(i), Body: make([]byte, 16)}
				items[i].hashKey()
			}
			p := newPending[struct{}]()
			limits := batchLimits{actions: 1000, bytes: 1 << 30, newest: 1 << 62}
			var seq uint64
			var refs []ref
			next := func() *Item[struct{}] {
				seq++
				return &items[seq%uint64(len(items))]
			}
			for range waiting {
				p.add(*next(), seq, 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.add(*next(), seq, 0)
				if seq%1000 == 0 {
					refs, _ = p.take(refs[:0], limits)
					for _, r := range refs {
						p.remove(r)
					}
				}
			}
		})
	}
}
