package outbox

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TELEMETRY.md must list exactly the metrics, with unit and description.
func TestTelemetryIsWhatTheManualSays(t *testing.T) {
	r := newRig(t, newSQLite(t))
	r.oneRow(t, 1)
	reader := sdk.NewManualReader()
	relay, err := NewRelay(r.db.DB, r.table, r.sender(t).Raw(), &RelayOptions{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
	require.NoError(t, err)
	stop, err := relay.observe()
	require.NoError(t, err)
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	manual, err := os.ReadFile("TELEMETRY.md")
	require.NoError(t, err)
	lines := regexp.MustCompile("(?m)^\\| `(azsearch[^`]+)` \\| (counter|gauge) \\| `([^`]+)` \\| (.*) \\|$").FindAllStringSubmatch(string(manual), -1)
	type metric struct{ kind, unit, text string }
	want, got := map[string]metric{}, map[string]metric{}
	for _, l := range lines {
		want[l[1]] = metric{l[2], l[3], l[4]}
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		kind := "gauge"
		if _, sums := m.Data.(metricdata.Sum[int64]); sums {
			kind = "counter"
		}
		got[m.Name] = metric{kind, m.Unit, m.Description}
		if m.Name == "azsearch.outbox.rows" {
			require.EqualValues(t, 1, m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value)
		}
	}
	require.Equal(t, want, got)
	stop()
	require.NoError(t, reader.Collect(context.Background(), &all))
	require.Empty(t, all.ScopeMetrics)
}

func TestWhatADatabaseThatFailsDoesNotSayIsNotReported(t *testing.T) {
	r := newRig(t, newSQLite(t))
	r.oneRow(t, 1)
	reader := sdk.NewManualReader()
	relay, err := NewRelay(r.db.DB, r.table, r.sender(t).Raw(), &RelayOptions{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
	require.NoError(t, err)
	stop, err := relay.observe()
	require.NoError(t, err)
	defer stop()
	_, err = r.db.ExecContext(t.Context(), `ALTER TABLE azsearch_outbox RENAME TO away`)
	require.NoError(t, err)
	for range 3 {
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		for _, m := range all.ScopeMetrics[0].Metrics {
			require.NotContains(t, []string{"azsearch.outbox.rows", "azsearch.outbox.oldest_age"}, m.Name)
		}
	}
}

// A relay reads from the beginning every two minutes. While its queue is paused, the age grows.
func TestTheAgeOfTheLastFullPassIsThatOfOneThatHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		reader := sdk.NewManualReader()
		table := &Table{Dialect: SQLite, Queue: "q"}
		o := calm(RelayOptions{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
		tryRelay(t, db, table, newScripted(), o)
		age := func() float64 {
			var all metricdata.ResourceMetrics
			require.NoError(t, reader.Collect(t.Context(), &all))
			for _, m := range all.ScopeMetrics[0].Metrics {
				if m.Name == "azsearch.outbox.pass.age" {
					return m.Data.(metricdata.Gauge[float64]).DataPoints[0].Value
				}
			}
			return -1
		}
		passes(time.Minute)
		require.InDelta(t, 60, age(), 1, "the first read is a pass")
		passes(70 * time.Second)
		require.InDelta(t, 10, age(), 1)
		require.NoError(t, table.Pause(t.Context(), db))
		passes(10 * time.Minute)
		require.InDelta(t, 610, age(), 1)
		require.NoError(t, table.Resume(t.Context(), db))
		passes(10 * time.Second)
		require.Less(t, age(), 10.0)
	})
}
