package filequeue

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

var benchKeys = flag.Int("keys", 100_000, "how many keys wait in a benchmark")

// How long the lock of the queue is held while all keys are inspected, which is what an Append waits for.
//
//	go test -run '^$' -bench Inspect -keys 5000000 -benchtime 5x ./bufferedsender/queue/filequeue
func BenchmarkInspect(b *testing.B) {
	q, err := Open(b.TempDir(), nil)
	require.NoError(b, err)
	a := newAdder(q)
	for n := 0; n < *benchKeys; {
		var records []queue.Record
		for range min(10_000, *benchKeys-n) {
			records = append(records, upload(fmt.Sprintf("key%09d", n), 1))
			n++
		}
		require.NoError(b, a.append(b.Context(), records...))
	}
	stop, ended, longest := make(chan struct{}), make(chan struct{}), time.Duration(0)
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			began := time.Now()
			q.mu.Lock()
			longest = max(longest, time.Since(began))
			q.mu.Unlock()
		}
	}()
	for b.Loop() {
		found, err := q.Inspect(b.Context(), queue.Inspection{Limit: 20})
		require.NoError(b, err)
		require.Len(b, found, 20)
	}
	close(stop)
	<-ended
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-locked")
	require.NoError(b, q.Close())
}
