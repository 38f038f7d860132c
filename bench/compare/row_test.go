package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// measured returns the outcome of a run of 1000 documents.
func measured(seconds, cpu float64, allocations, distinct int64) outcome {
	return outcome{
		measurement: measurement{Usage: measure.Usage{Seconds: seconds, CPUSeconds: cpu, Allocations: allocations, AllocatedBytes: 2 * allocations, PeakRSS: 10_000_000}},
		Documents:   1000,
		Sink:        server.Counts{Distinct: distinct, Documents: distinct},
	}
}

func newRow(name string, outcomes ...outcome) *row {
	c, err := contestantNamed(name)
	if err != nil {
		panic(err)
	}
	r := &row{contestant: c, Name: name, Outcomes: outcomes}
	r.conclude()
	return r
}

func TestRowsAreMediansAndLossesAreSums(t *testing.T) {
	r := newRow("ours, 1 producer, 1 in flight", measured(1, 0.002, 3000, 1000), measured(2, 0.004, 5000, 990), measured(4, 0.003, 4000, 999))
	assert.Equal(t, measure.Spread{Median: 500, Min: 250, Max: 1000}, r.Rate)
	assert.InDelta(t, 3, r.CPU, 1e-9)
	assert.InDelta(t, 4, *r.Allocs, 1e-9)
	assert.InDelta(t, 8, *r.Bytes, 1e-9)
	assert.EqualValues(t, 11, r.Lost)
	assert.Nil(t, newRow("JavaScript, 1 producer", measured(1, 1, -1, 1000)).Allocs, "allocations are not counted")
}

func TestLastLineComparesTheFastest(t *testing.T) {
	tables := []*table{{Rows: []*row{
		newRow("ours, 1 producer, 1 in flight", measured(2, 0.003, 100, 998)),
		newRow("ours, 2 producers, 1 in flight", measured(1, 0.002, 200, 1000)),
		newRow("ours, 1 producer, 1 in flight, 100 documents a call", measured(0.2, 0.001, 1, 1000)), // peers do not do this
		newRow("esutil, 1 producer, 1 worker", measured(4, 1, 1, 1000)),
		newRow("docappender, 1 producer", measured(2.5, 1, 1, 900)),
		newRow("floor A: Marshal, POST, Unmarshal", measured(0.1, 1, 1, 1000)),
		newRow("floor B: HTTP only", measured(0.5, 1, 1, 1000)),
	}}}
	assert.Equal(t, "ratio_fastest_peer=2.50 ratio_floor_b=0.50 cpu_s_per_m=2.00 allocs_per_doc=0.200 lost=2", summarize(tables, nil).String())
}

func TestLastLineHasDashesForWhatWasNotMeasured(t *testing.T) {
	tables := []*table{{Rows: []*row{newRow("ours, 1 producer, 1 in flight", measured(1, 0.002, 100, 1000))}}}
	assert.Equal(t, "ratio_fastest_peer=- ratio_floor_b=- cpu_s_per_m=2.00 allocs_per_doc=0.100 lost=0", summarize(tables, nil).String())
	tables[0].Rows = []*row{newRow("floor B: HTTP only", measured(1, 1, 1, 1000)), {contestant: contestants[0], Problems: []string{"it did not start"}}}
	assert.Equal(t, "ratio_fastest_peer=- ratio_floor_b=- cpu_s_per_m=- allocs_per_doc=- lost=-", summarize(tables, nil).String())
}

// TestLostWithoutAWordCounts checks that only unreported losses count as lost in the last line.
func TestLostWithoutAWordCounts(t *testing.T) {
	cell := func(distinct, reported int64) *faultCell {
		o := measured(1, 1, 1, distinct)
		o.Reported = reported
		return &faultCell{Outcome: &o}
	}
	f := &faultRow{contestant: contestants[0], Cells: []*faultCell{cell(1000, 0), cell(950, 50), cell(900, 40), {Problem: "hung"}}}
	assert.EqualValues(t, 60, f.unreported())
	assert.Equal(t, []string{"0", "50 (50 reported)", "100 (40 reported)", "-"}, []string{f.Cells[0].String(), f.Cells[1].String(), f.Cells[2].String(), f.Cells[3].String()})
	assert.Equal(t, "100 (log only)", cell(900, silent).String())
}
