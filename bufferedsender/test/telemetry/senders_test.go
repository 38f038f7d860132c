package telemetry

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// sumsOf adds up the points of each metric.
func sumsOf(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	sums := map[string]float64{}
	eachPoint(t, reader, func(p point) { sums[shorter(p.name)] += p.value })
	return sums
}

// A program may have several senders of an index, in sequence or at the same time. The counts of a closed sender are
// kept.
func TestMetricsOfSendersOfOneIndexAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cumulative := sdkmetric.NewManualReader()
		delta := sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(func(sdkmetric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }))
		meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(cumulative), sdkmetric.WithReader(delta))
		sender := func() *bufferedsender.BufferedSender[sendertest.Hotel] {
			s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MeterProvider: meters, Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, s)
			return s
		}
		neverBack := func() {
			eachPoint(t, delta, func(p point) {
				assert.False(t, p.counter && p.value < 0, "%s goes back by %v", p.name, p.value)
			})
		}
		first, second := sender(), sender()
		for _, s := range []*bufferedsender.BufferedSender[sendertest.Hotel]{first, second} {
			require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "b"}))
		}
		synctest.Wait()
		both := sumsOf(t, cumulative)
		assert.EqualValues(t, 6, both["items.added"])
		assert.EqualValues(t, 6, both["queue.items"])
		assert.EqualValues(t, 2, both["items.folded"])
		assert.EqualValues(t, 2*bufferedsender.DefaultMaxBufferedActions, both["queue.capacity"])
		assert.EqualValues(t, 2, both["health.state"])
		assert.EqualValues(t, bufferedsender.DefaultMaxBatchActions, both["batch.limit.items"], "their sum is meaningless")
		neverBack()

		require.NoError(t, first.Close(t.Context()))
		one := sumsOf(t, cumulative)
		assert.EqualValues(t, 6, one["items.added"])
		assert.EqualValues(t, 2, one["items.folded"])
		assert.EqualValues(t, 3, one["items.settled"])
		assert.EqualValues(t, 3, one["queue.items"])
		assert.EqualValues(t, 1, one["health.state"])
		neverBack()

		require.NoError(t, second.Close(t.Context()))
		none := sumsOf(t, cumulative)
		assert.EqualValues(t, 6, none["items.settled"])
		assert.EqualValues(t, 2, none["items.folded"])
		assert.NotContains(t, none, "queue.items")
		neverBack()
	})
}

// A program that ends between two collections loses no metrics.
func TestMetricsOfAShortLifeAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
		require.NoError(t, err)
		require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "b"}))
		require.NoError(t, s.Flush(t.Context(), nil))
		require.NoError(t, s.Close(t.Context()))
		sums := sumsOf(t, reader)
		assert.EqualValues(t, 3, sums["items.added"])
		assert.EqualValues(t, 3, sums["items.settled"])
		assert.EqualValues(t, 1, sums["items.folded"])
		assert.EqualValues(t, 1, sums["flushes"])
	})
}

func TestMetricsCanBeCollectedAtAnyTimeConcurrentSafe(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		added := 0.0
		for {
			now := sumsOf(t, reader)["items.added"]
			assert.GreaterOrEqual(t, now, added)
			added = now
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	const senders, docs = 5, 200
	for range senders {
		s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MeterProvider: meters, Limits: bufferedsender.Limits{MaxBatchActions: 7, MaxInFlight: 3}})
		require.NoError(t, err)
		for _, doc := range sendertest.Hotels("k", docs) {
			require.NoError(t, s.UploadDocuments(t.Context(), doc))
		}
		require.NoError(t, s.Close(t.Context()))
	}
	close(stop)
	<-stopped
	sums := sumsOf(t, reader)
	assert.EqualValues(t, senders*docs, sums["items.added"])
	assert.EqualValues(t, senders*docs, sums["items.settled"])
	assert.EqualValues(t, senders*docs, sums["item.settle.duration"])
}

// Programs often set the global provider after creating their clients. A process can set it only once, so this test
// starts another process.
func TestMetricsBeginWhenAGlobalProviderIsSet(t *testing.T) {
	const marker = "AZSEARCH_TEST_LATE_PROVIDER"
	if os.Getenv(marker) == "" {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		again := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		again.Env = append(os.Environ(), marker+"=1")
		out, err := again.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "PASS")
		return
	}
	early := otel.GetMeterProvider()
	s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}})
	require.NoError(t, err)
	require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "a"}, sendertest.Hotel{ID: "b"}))
	require.NoError(t, s.Flush(t.Context(), nil))

	reader := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	assert.EqualValues(t, 3, sumsOf(t, reader)["items.added"], "totals are reported from the start")
	require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "c"}))
	require.NoError(t, s.Flush(t.Context(), nil))
	sums := sumsOf(t, reader)
	assert.EqualValues(t, 4, sums["items.added"])
	assert.EqualValues(t, 4, sums["items.settled"])
	assert.EqualValues(t, 1, sums["items.folded"])
	assert.EqualValues(t, 1, sums["item.settle.duration"], "durations only from now on")
	require.NoError(t, s.Close(t.Context()))

	// The earlier provider now returns other instruments.
	later, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{MeterProvider: early})
	require.NoError(t, err)
	require.NoError(t, later.UploadDocuments(t.Context(), sendertest.Hotel{ID: "d"}))
	require.NoError(t, later.Close(t.Context()))
	assert.EqualValues(t, 5, sumsOf(t, reader)["items.added"])
}

// optionDropper is a Tracer that removes options from the slice that it receives.
type optionDropper struct {
	noop.Tracer
	kinds []trace.SpanKind
}

func (m *optionDropper) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	config := trace.NewSpanStartConfig(opts...)
	m.kinds = append(m.kinds, config.SpanKind())
	opts = slices.DeleteFunc(opts, func(o trace.SpanStartOption) bool { c := trace.NewSpanStartConfig(o); return c.NewRoot() })
	return m.Tracer.Start(ctx, name, opts...)
}

type optionDroppers struct {
	noop.TracerProvider
	tracer *optionDropper
}

func (m optionDroppers) Tracer(string, ...trace.TracerOption) trace.Tracer { return m.tracer }

func TestATracerMayChangeItsOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &optionDropper{}
		s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{TracerProvider: optionDroppers{tracer: m}})
		require.NoError(t, err)
		for _, doc := range sendertest.Hotels("k", 3) {
			require.NoError(t, s.UploadDocuments(t.Context(), doc))
			require.NoError(t, s.Flush(t.Context(), nil))
		}
		require.NoError(t, s.Close(t.Context()))
		assert.Equal(t, []trace.SpanKind{trace.SpanKindClient, trace.SpanKindClient, trace.SpanKindClient}, m.kinds)
	})
}

// A caller that wakes an idle sender has its own profiler labels. The sender's goroutine works for all callers, so it
// must not have them.
func TestTheSenderHasNobodysProfilerLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		labelled := false
		s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{
			Handlers: sendertest.Handlers{ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) {
				var profile bytes.Buffer
				_ = pprof.Lookup("goroutine").WriteTo(&profile, 1)
				for stack := range strings.SplitSeq(profile.String(), "\n\n") {
					labelled = labelled || strings.Contains(stack, "someone") && strings.Contains(stack, "publisher.(*loop")
				}
			}},
		})
		require.NoError(t, err)
		synctest.Wait() // until it is idle
		pprof.Do(t.Context(), pprof.Labels("tenant", "someone"), func(ctx context.Context) {
			require.NoError(t, s.UploadDocuments(ctx, sendertest.Hotels("k", 1)...))
		})
		require.NoError(t, s.Close(t.Context()))
		assert.False(t, labelled)
	})
}
