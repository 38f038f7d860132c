package filequeue

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestOneParkedKeyKeepsNoMemoryOfMillions(t *testing.T) {
	testkit.Long(t)
	b := book.New[ref](time.Now())
	now := time.Now()
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	n := testkit.Cases(100_000, 150_000, 500_000)
	before := live()
	for i := range n {
		b.Append(now, []book.Change[ref]{{Key: fmt.Sprint("key", i), Ref: ref{1, 1, 10}, Seq: b.NextSeq(1), Replaces: true}})
	}
	b.Park(now, "why", []string{"key7"})
	for {
		w := want(10000)
		w.Bytes = 1 << 30
		l := b.Reserve(now, &w)
		if len(l) == 0 {
			break
		}
		var ends []queue.End
		for i := range l {
			ends = append(ends, queue.End{Lease: queue.Lease{Key: fmt.Sprint("key", l[i].Recs[0].Seq-1), Token: w.Token}, Fate: queue.Commit})
		}
		b.Settle(now, ends)
	}
	b.Advance(now)
	keys, _, _ := b.Size()
	require.Equal(t, 1, keys)
	after := live() - before
	require.Less(t, after, uint64(16*n), "%d bytes for one key", after)
	runtime.KeepAlive(b)
}

func TestInspectOfAFewNeedsNoMemoryForAll(t *testing.T) {
	b := book.New[ref](time.Now())
	now := time.Now()
	const n = 300_000
	for i := range n {
		b.Append(now, []book.Change[ref]{{Key: fmt.Sprint("key", i), Ref: ref{1, 1, 10}, Seq: b.NextSeq(1), Replaces: true}})
	}
	var m, m2 runtime.MemStats
	runtime.ReadMemStats(&m)
	b.Inspect(now, 0, nil, 10)
	runtime.ReadMemStats(&m2)
	require.Less(t, (m2.TotalAlloc-m.TotalAlloc)/n, uint64(64), "bytes of memory for each key that is not shown")
}
