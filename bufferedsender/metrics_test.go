package bufferedsender_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestMetricsSayHowLongActionsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		sender, err := bufferedsender.New(&slowIndex{}, &docOptions{
			AutoFlushInterval: 10 * time.Second, Limits: bufferedsender.Limits{MaxInFlight: 3}, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		})
		require.NoError(t, err)
		read := func(name string) metricdata.Aggregation {
			var all metricdata.ResourceMetrics
			require.NoError(t, reader.Collect(t.Context(), &all))
			for _, scope := range all.ScopeMetrics {
				for _, m := range scope.Metrics {
					if m.Name == "azsearch.sender."+name {
						return m.Data
					}
				}
			}
			return nil
		}
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "a"}))
		time.Sleep(4 * time.Second)
		require.NoError(t, sender.UploadDocuments(t.Context(), modelDoc{ID: "b"}))
		synctest.Wait()
		age, ok := read("queue.oldest_age").(metricdata.Gauge[float64])
		require.True(t, ok)
		assert.InDelta(t, 4, age.DataPoints[0].Value, 0.001)
		limit, ok := read("concurrency.limit").(metricdata.Sum[int64])
		require.True(t, ok)
		assert.EqualValues(t, 3, limit.DataPoints[0].Value)
		assert.Nil(t, read("item.wait.duration"), "nothing has travelled")

		time.Sleep(7 * time.Second)
		age, ok = read("queue.oldest_age").(metricdata.Gauge[float64])
		require.True(t, ok)
		assert.Zero(t, age.DataPoints[0].Value)
		waits, ok := read("item.wait.duration").(metricdata.Histogram[float64])
		require.True(t, ok)
		assert.EqualValues(t, 2, waits.DataPoints[0].Count)
		assert.InDelta(t, 10+6, waits.DataPoints[0].Sum, 0.001)
		require.NoError(t, sender.Close(t.Context()))
	})
}
