package scale

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlatnessIsTheDearestRowByTheCheapest(t *testing.T) {
	rows := func(cpu ...float64) []*row {
		var all []*row
		for _, c := range cpu {
			all = append(all, &row{cpu: c})
		}
		return all
	}
	assert.InDelta(t, 1.5, flatness(rows(5, 4, 6)), 1e-9)
	assert.InDelta(t, 1.5, flatness(rows(6, 4)), 1e-9, "cheaper with more documents is not flat either")
	assert.InDelta(t, 1, flatness(rows(5, 5)), 1e-9)
	assert.True(t, math.IsNaN(flatness(rows(5))), "one row does not show a trend")
	assert.True(t, math.IsNaN(flatness(nil)))
	assert.True(t, math.IsNaN(flatness(rows(0, 0))), "nothing was measured")
}

func TestGrowthIsFromTheFewestDocumentsToTheMost(t *testing.T) {
	assert.InDelta(t, 7, rssGrowth([]*row{{end: 20e6}, {end: 99e6}, {end: 27e6}}), 1e-9)
	assert.InDelta(t, -3, rssGrowth([]*row{{end: 20e6}, {end: 17e6}}), 1e-9)
	assert.True(t, math.IsNaN(rssGrowth([]*row{{end: 20e6}})))
	assert.True(t, math.IsNaN(rssGrowth([]*row{{}, {}})), "nothing was measured")
}

// TestLastLine checks that each figure is of the right rows, and that the worse of the two tables with growing
// documents counts.
func TestLastLine(t *testing.T) {
	r := newReport(parsed(t).plan())
	run := func(_ context.Context, s step) (*outcome, error) {
		o := ran(s)
		switch s {
		case step{10_000_000, 1, 1, 0}:
			o.CPUSeconds *= 1.25
			o.RSS[sampleCount] += 3_000_000
		case step{10_000_000, 4, 8, 0}:
			o.CPUSeconds *= 1.1
			o.RSS[sampleCount] += 200_000_000 // the buffer
		case step{1_000_000, 16, 8, 0}:
			o.Seconds /= 3
		case step{1_000_000, 1, 8, 0}:
			o.Seconds /= 2
		case step{800_000, 4, 8, 100 * time.Millisecond}:
			o.Seconds = 10
			o.sink.Distinct -= 4
		}
		return o, nil
	}
	require.NoError(t, r.fill(t.Context(), 1, run, t.Output()))
	assert.Equal(t, "flat_cpu=1.25 rss_growth=3 docs_s_at_100ms_8=80000 sixteen_producers_vs_one=1.50 lost=4", r.summarize().String())
}

func TestLastLineHasDashesForWhatWasNotMeasured(t *testing.T) {
	r := filled(t, "-docs", "1e5", "-producers", "1,4", "-latency", "0")
	assert.Equal(t, "flat_cpu=- rss_growth=- docs_s_at_100ms_8=- sixteen_producers_vs_one=- lost=0", r.summarize().String())

	r = newReport(parsed(t).plan())
	run := func(context.Context, step) (*outcome, error) { return nil, errors.New("it did not start") }
	require.NoError(t, r.fill(t.Context(), 1, run, t.Output()))
	assert.Equal(t, "flat_cpu=- rss_growth=- docs_s_at_100ms_8=- sixteen_producers_vs_one=- lost=-", r.summarize().String())
}
