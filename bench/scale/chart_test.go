package scale

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
)

// drawn returns the SVG of a report with an outcome in every row.
func drawn(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chart.svg")
	require.NoError(t, filled(t, args...).draw(file))
	svg, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(svg)
}

func TestChartNamesWhatItShowsAndItsUnits(t *testing.T) {
	svg := drawn(t)
	for _, text := range []string{
		"Throughput, 100ms a request", "requests in flight", "documents/s",
		"documents sent", "CPU s per million documents", "documents accepted", "RSS, MB",
		"4 producers, 8 in flight", "1 producer, 1 in flight", "proportional",
		">16<", ">100 k<", ">10 M<", "Arial",
	} {
		assert.Contains(t, svg, text)
	}
	assert.NotContains(t, svg, "NaN")
}

func TestChartHasNoPanelForWhatWasNotMeasured(t *testing.T) {
	svg := drawn(t, "-latency", "0")
	assert.NotContains(t, svg, "Throughput")
	assert.Contains(t, svg, "CPU s per million documents")

	r := filled(t)
	for _, row := range r.rows {
		for i := range row.outcomes {
			row.outcomes[i].RSS = [sampleCount + 1]int64{}
		}
	}
	panel, err := r.memoryPanel()
	require.NoError(t, err)
	assert.Nil(t, panel, "not measured on this system")
}

func TestChartOfOneStepIsDrawn(t *testing.T) {
	assert.NotContains(t, drawn(t, "-docs", "1", "-in-flight", "1"), "NaN")
}

func TestNothingMeasuredIsNoChart(t *testing.T) {
	c := parsed(t)
	r := newReport(c.plan())
	file := filepath.Join(t.TempDir(), "chart.svg")
	assert.ErrorIs(t, r.draw(file), errNoChart)
	assert.NoFileExists(t, file)
}

func TestTicksAreRoundNumbers(t *testing.T) {
	labels := func(ticks []plot.Tick) []string {
		var all []string
		for _, tick := range ticks {
			all = append(all, tick.Label)
		}
		return all
	}
	for most, want := range map[float64][]string{
		6.9: {"0", "2", "4", "6"},
		370: {"0", "100", "200", "300"},
		1e7: {"0", "2 M", "4 M", "6 M", "8 M", "10 M"},
		3:   {"0", "1", "2", "3"},
		29:  {"0", "5", "10", "15", "20", "25"},
	} {
		assert.Equal(t, want, labels(evenTicks(most)))
	}
	assert.Equal(t, []string{"10 k", "20 k", "50 k", "100 k", "200 k", "500 k"}, labels(decadeTicks(13_000, 230_000)))
}

func TestLatencyOfThePanelIsTheHighest(t *testing.T) {
	p, err := filled(t, "-latency", "0,10ms,1s,20ms").ratePanel()
	require.NoError(t, err)
	assert.Equal(t, "Throughput, "+time.Second.String()+" a request", p.Title.Text)
}
