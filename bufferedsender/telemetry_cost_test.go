//go:build !race

// The race detector makes sync.Pool drop entries at random, and slows everything down.

package bufferedsender_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

func observing(t testing.TB, n int, meters metric.MeterProvider) func() {
	t.Helper()
	observe, err := bufferedsender.ObservingABatch(&sendertest.Options{Logger: sendertest.NoLog, MeterProvider: meters}, n)
	require.NoError(t, err)
	observe() // one-time allocations happen now
	return observe
}

func TestTelemetryAllocatesForEachBatchAndNotForEachDocument(t *testing.T) {
	for name, meters := range map[string]metric.MeterProvider{
		"without a provider": nil,
		"with a provider":    sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
	} {
		t.Run(name, func(t *testing.T) {
			few, many := observing(t, 2, meters), observing(t, 1000, meters)
			assert.Equal(t, testing.AllocsPerRun(100, few), testing.AllocsPerRun(100, many))
		})
	}
}

// costs measures the cost of a document for a sender, and the cost of observing both without an observer. The two
// alternate, so that a busy machine affects both.
func costs(t testing.TB, rounds int) (sending, watching time.Duration) {
	t.Helper()
	const docs, batch, call = 10_000, 1000, 100
	s, err := bufferedsender.New(&sink{}, &bufferedsender.Options[declaration]{Logger: sendertest.NoLog, Limits: bufferedsender.Limits{MaxBatchActions: batch}})
	require.NoError(t, err)
	defer s.Close(context.Background())
	observe := observing(t, batch, nil)
	all := declarations(docs)
	sending, watching = time.Hour, time.Hour
	for range rounds {
		began := time.Now()
		for at := 0; at < docs; at += call {
			require.NoError(t, s.UploadDocuments(t.Context(), all[at:at+call]...))
		}
		require.NoError(t, s.Flush(t.Context(), nil))
		sent := time.Now()
		for range docs / batch {
			observe()
		}
		// The fastest round of each had the least disturbance.
		sending, watching = min(sending, sent.Sub(began)/docs), min(watching, time.Since(sent)/docs)
	}
	return sending, watching
}

// BenchmarkTelemetry measures the cost of observing a document. The share is relative to all work for a document with
// an immediate reply; slower replies reduce it.
func BenchmarkTelemetry(b *testing.B) {
	const batch = 1000
	for _, c := range []struct {
		name   string
		meters metric.MeterProvider
	}{
		{"without providers", nil},
		{"with a meter provider", sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))},
	} {
		b.Run(c.name, func(b *testing.B) {
			observe := observing(b, batch, c.meters)
			b.ReportAllocs()
			for b.Loop() {
				observe()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/doc")
		})
	}
	b.Run("as a share of all", func(b *testing.B) {
		sending, watching := time.Hour, time.Hour
		for b.Loop() {
			s, w := costs(b, 1)
			sending, watching = min(sending, s), min(watching, w)
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(sending), "ns-sending/doc")
		b.ReportMetric(float64(watching), "ns-watching/doc")
		b.ReportMetric(100*float64(watching)/float64(sending), "%-of-all")
	})
	b.Run("in a trace that is sampled", func(b *testing.B) {
		provider := sdktrace.NewTracerProvider()
		observe, err := bufferedsender.ObservingABatch(&sendertest.Options{Logger: sendertest.NoLog, TracerProvider: provider}, batch)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			observe()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/doc")
	})
}
