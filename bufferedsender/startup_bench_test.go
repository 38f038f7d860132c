package bufferedsender_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// BenchmarkStartup measures the whole life of a sender with one document, without a network.
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

// BenchmarkIdleSenders measures the memory of idle senders that have sent one document each.
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
			require.NoError(b, all[i].Flush(context.Background(), nil))
		}
		b.ReportMetric(float64(inUse()-before)/(1<<20), "MB/10k")
		for _, s := range all {
			require.NoError(b, s.Close(context.Background()))
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFullBuffer measures the memory of a sender with a full buffer that refuses more: live memory, its excess
// over MaxBufferedBytes, and the overhead per action. The caller keeps no documents.
func BenchmarkFullBuffer(b *testing.B) {
	for _, size := range []int{100, 650, 20_000} {
		b.Run(fmt.Sprintf("documents_of_%d_bytes", size), func(b *testing.B) {
			text := strings.Repeat("x", size)
			for b.Loop() {
				before := inUse()
				s, err := bufferedsender.New(&sink{}, &bufferedsender.Options[declaration]{DisableAutoFlush: true})
				require.NoError(b, err)
				n := 0
				for ; err == nil; n++ {
					err = s.TryIndexDocuments(models.UploadAction(declaration{ID: fmt.Sprintf("net_http_Client_%07d", n), Doc: text}))
				}
				require.ErrorIs(b, err, bufferedsender.ErrBufferFull)
				live := float64(inUse()) - float64(before)
				stats := s.Stats()
				b.ReportMetric(live/1e6, "MB")
				b.ReportMetric((live-float64(bufferedsender.DefaultMaxBufferedBytes))/1e6, "MB/over")
				b.ReportMetric((live-float64(stats.PendingBytes))/float64(stats.PendingActions), "B/action")
				require.NoError(b, s.Close(context.Background()))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// inUse returns the bytes of heap and stacks in use.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
