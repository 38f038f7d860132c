package filequeue

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

var benchKeys = flag.Int("keys", 100_000, "how many keys wait in a benchmark")

// BenchmarkInspect measures Append while all keys are inspected, and without an inspection.
//
//	go test -run '^$' -bench Inspect -keys 5000000 -benchtime 20x ./bufferedsender/queue/filequeue
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
	// appends returns the median and the maximum duration, in milliseconds, of the calls made until stop closes.
	appends := func(stop <-chan struct{}) (median, longest float64) {
		var took []time.Duration
		for {
			began := time.Now()
			require.NoError(b, a.append(b.Context(), upload("hot", 2)))
			took = append(took, time.Since(began))
			select {
			case <-stop:
				slices.Sort(took)
				return float64(took[len(took)/2].Microseconds()) / 1000, float64(took[len(took)-1].Microseconds()) / 1000
			default:
			}
		}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		median, longest := appends(stop)
		b.ReportMetric(median, "ms-append")
		b.ReportMetric(longest, "ms-append-max")
	}()
	for b.Loop() {
		found, err := q.Inspect(b.Context(), queue.Inspection{Limit: 20})
		require.NoError(b, err)
		require.Len(b, found, 20)
	}
	close(stop)
	<-ended
	alone := make(chan struct{})
	time.AfterFunc(time.Since(began), func() { close(alone) })
	median, longest := appends(alone)
	b.ReportMetric(median, "ms-append-alone")
	b.ReportMetric(longest, "ms-append-alone-max")
	require.NoError(b, q.Close())
}
