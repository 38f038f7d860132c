package bufferedsender_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// BenchmarkStartup is a sender's whole life with one document, without the
// network.
func BenchmarkStartup(b *testing.B) {
	docs := declarations(1)
	b.ReportAllocs()
	for b.Loop() {
		s, err := bufferedsender.New[declaration](&sink{}, nil)
		require.NoError(b, err)
		require.NoError(b, s.UploadDocuments(context.Background(), docs...))
		require.NoError(b, s.Close(context.Background()))
	}
}

// BenchmarkIdleSenders is the memory of senders that have sent a document each
// and wait for more.
func BenchmarkIdleSenders(b *testing.B) {
	const senders = 10_000
	docs := declarations(1)
	for b.Loop() {
		before := inUse()
		all := make([]*bufferedsender.BufferedSender[declaration], senders)
		indexer := &sink{}
		for i := range all {
			var err error
			all[i], err = bufferedsender.New[declaration](indexer, nil)
			require.NoError(b, err)
			require.NoError(b, all[i].UploadDocuments(context.Background(), docs...))
			require.NoError(b, all[i].Flush(context.Background()))
		}
		b.ReportMetric(float64(inUse()-before)/(1<<20), "MB/10k")
		for _, s := range all {
			require.NoError(b, s.Close(context.Background()))
		}
	}
	b.ReportMetric(0, "ns/op")
}

// inUse returns the bytes of the heap and of the stacks that are in use.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
