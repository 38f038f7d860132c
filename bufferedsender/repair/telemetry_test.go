package repair

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
)

// TELEMETRY.md must list exactly the metrics, with unit and description, and a pass must change them.
func TestTelemetryIsWhatTheManualSays(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		w.behind(key(1), nil)
		w.behind(key(2), nil)
		w.refuses[key(2)] = true
		w.behind(key(3), &hotel{ID: key(3)})
		w.behind(key(4), &hotel{ID: key(4), Version: 9})
		w.behind("x", &hotel{ID: "x"})
		time.Sleep(time.Minute)
		reader := sdk.NewManualReader()
		provider := sdk.NewMeterProvider(sdk.WithReader(reader))
		report, err := w.repair(&Options{MeterProvider: provider, Name: "hotels"})
		require.NoError(t, err)
		require.Equal(t, []int64{2, 1, 1, 1, 2, 1, 1}, []int64{report.Missing, report.Different, report.Ahead, report.Surplus, report.Repaired, report.Deleted, report.Rejected})
		_, err = w.repair(&Options{MeterProvider: provider, Pause: -1})
		require.Error(t, err)
		report, err = withTree(t, w, digesttree.Options{}).runTree(&Options{MeterProvider: provider, Name: "hotels", DryRun: true})
		require.NoError(t, err)
		require.Equal(t, map[Kind][]string{Missing: {key(2)}, Ahead: {key(4)}}, report.Keys)

		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		manual, err := os.ReadFile("TELEMETRY.md")
		require.NoError(t, err)
		got := map[string]int64{}
		for _, m := range all.ScopeMetrics[0].Metrics {
			assert.Contains(t, string(manual), "| `"+m.Name+"` |")
			assert.Contains(t, string(manual), "| `"+m.Unit+"` | "+m.Description)
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					name := m.Name
					for _, a := range p.Attributes.ToSlice() {
						if name += " " + a.Value.String(); a.Key != "azsearch.repair.name" {
							assert.Contains(t, string(manual), "`"+string(a.Key)+"`")
						}
					}
					got[name] = p.Value
				}
			case metricdata.Gauge[int64]:
				got[m.Name] = data.DataPoints[0].Value
			case metricdata.Histogram[float64]:
				assert.EqualValues(t, 1, data.DataPoints[0].Count)
			}
		}
		assert.Equal(t, strings.Count(string(manual), "| `azsearch.repair."), len(all.ScopeMetrics[0].Metrics))
		assert.Equal(t, map[string]int64{
			"azsearch.repair.rows hotels source": 100, "azsearch.repair.rows hotels index": 99,
			"azsearch.repair.differences missing hotels": 3, "azsearch.repair.differences different hotels": 1,
			"azsearch.repair.differences ahead hotels": 2, "azsearch.repair.differences surplus hotels": 1,
			"azsearch.repair.outcomes hotels repaired": 2, "azsearch.repair.outcomes hotels deleted": 1, "azsearch.repair.outcomes hotels rejected": 1,
			"azsearch.repair.tree.keys hotels true": 2, "azsearch.repair.tree.unknown": 0,
		}, got)
	})
}
