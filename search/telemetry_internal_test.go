package search

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

func telemetryOf(t testing.TB, meters metric.MeterProvider) *telemetry {
	t.Helper()
	i, err := newInstruments(meters)
	require.NoError(t, err)
	return newTelemetry(i, &url.URL{Scheme: "https", Host: "svc.search.windows.net"}, "hotels")
}

// measureQuery does the telemetry work of one query.
func measureQuery(b testing.TB, t *telemetry) {
	m := t.begin(b.Context(), measureSearch)
	m.attempt(b.Context())
	m.attempted(nil, nil)
	m.end(b.Context(), 10, nil)
}

func TestNobodyWhoWantsToKnowCostsNoAllocation(t *testing.T) {
	nobody := telemetryOf(t, nil)
	assert.Zero(t, testing.AllocsPerRun(100, func() { measureQuery(t, nobody) }))
	assert.Nil(t, nobody.begin(t.Context(), measureSearch))
}

// BenchmarkMeasureQuery measures the cost of a query's metrics.
func BenchmarkMeasureQuery(b *testing.B) {
	b.Run("without a provider", func(b *testing.B) {
		nobody := telemetryOf(b, nil)
		b.ReportAllocs()
		for b.Loop() {
			measureQuery(b, nobody)
		}
	})
	b.Run("with a provider", func(b *testing.B) {
		somebody := telemetryOf(b, sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())))
		b.ReportAllocs()
		for b.Loop() {
			m := somebody.begin(b.Context(), measureSearch)
			m.attempt(b.Context())
			m.status = 200 // as the function attempted does
			m.end(b.Context(), 10, nil)
		}
	})
}
