package repair

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/models"
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
		assert.Equal(t, strings.Count(string(manual), "| `azsearch.repair.")-1, len(all.ScopeMetrics[0].Metrics), "all but that of a Watch")
		assert.Equal(t, map[string]int64{
			"azsearch.repair.rows hotels source": 100, "azsearch.repair.rows hotels index": 99,
			"azsearch.repair.differences missing hotels": 3, "azsearch.repair.differences different hotels": 1,
			"azsearch.repair.differences ahead hotels": 2, "azsearch.repair.differences surplus hotels": 1,
			"azsearch.repair.outcomes hotels repaired": 2, "azsearch.repair.outcomes hotels deleted": 1, "azsearch.repair.outcomes hotels rejected": 1,
			"azsearch.repair.tree.keys hotels true": 2, "azsearch.repair.tree.unknown": 0,
		}, got)
	})
}

func TestTheAgeOfTheLastPassIsThatOfOneWithoutAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.fill(100)
		time.Sleep(time.Minute)
		reader := sdk.NewManualReader()
		ctx, cancel := context.WithTimeout(t.Context(), 3*24*time.Hour)
		defer cancel()
		manual, err := os.ReadFile("TELEMETRY.md")
		require.NoError(t, err)
		age := func() (seconds float64, there bool) {
			var all metricdata.ResourceMetrics
			require.NoError(t, reader.Collect(context.Background(), &all))
			for _, s := range all.ScopeMetrics {
				for _, m := range s.Metrics {
					if m.Name == "azsearch.repair.pass.age" {
						assert.Contains(t, string(manual), "| `"+m.Name+"` | gauge | `"+m.Unit+"` | "+m.Description)
						return m.Data.(metricdata.Gauge[float64]).DataPoints[0].Value, true
					}
				}
			}
			return 0, false
		}
		var broken atomic.Bool
		source := Functions{ScanRows: func(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
			if broken.Load() {
				return func(yield func(models.Row, error) bool) { yield(models.Row{}, errors.New("down")) }
			}
			return half{w, "source"}.Scan(ctx, after, through)
		}, LookupKeys: half{w, "source"}.Lookup, ReadKeys: half{w, "source"}.Read}
		passes := 0
		done := make(chan error, 1)
		o := &Options{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader)), Name: "hotels", Logger: quiet, DryRun: true}
		go func() {
			done <- repairer(source, half{w, "index"}, w.sender(nil).Raw(), o).Watch(ctx, time.Hour, func(_ Report, err error) {
				if passes++; passes == 2 {
					require.NoError(t, err)
					broken.Store(true)
				}
			})
		}()
		time.Sleep(30 * time.Hour)
		seconds, there := age()
		require.True(t, there)
		require.InDelta(t, 28*3600, seconds, 1.2*3600, "two passes of the first two hours have ended")
		broken.Store(false)
		time.Sleep(3 * time.Hour)
		seconds, _ = age()
		require.Less(t, seconds, 1.2*3600)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		_, there = age()
		require.False(t, there)
	})
}
