package scale

import (
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// outcome is one run as its process and the sink tell it.
type outcome struct {
	measurement
	sink server.Counts
}

// row is a step with all its runs.
type row struct {
	step
	outcomes []outcome
	problems []string // runs that gave no figures

	// The columns: medians, of the runs that gave figures.
	rate   float64 // documents a second
	cpu    float64 // seconds of processor time for a million documents
	allocs float64 // of a document
	// The memory when a tenth of the documents had been accepted, when all of
	// them had, and the most of it, in bytes.
	tenth, end, peak float64
	// incomplete and lost are sums: documents of which the sender did not say
	// that they are in the index, and documents that the sink has not seen.
	incomplete, lost int64
}

// conclude fills in the columns.
func (r *row) conclude() {
	column := func(value func(o *outcome) float64) float64 {
		var values []float64
		for i := range r.outcomes {
			values = append(values, value(&r.outcomes[i]))
		}
		return measure.Median(values)
	}
	n := float64(r.documents)
	r.rate = column(func(o *outcome) float64 { return n / o.Seconds })
	r.cpu = column(func(o *outcome) float64 { return o.CPUSeconds / n * 1e6 })
	r.allocs = column(func(o *outcome) float64 { return float64(o.Allocations) / n })
	r.tenth = column(func(o *outcome) float64 { return float64(o.RSS[sampleCount/10]) })
	r.end = column(func(o *outcome) float64 { return float64(o.RSS[sampleCount]) })
	r.peak = column(func(o *outcome) float64 { return float64(o.PeakRSS) })
	r.incomplete, r.lost = 0, 0
	for _, o := range r.outcomes {
		r.incomplete += int64(r.documents) - o.Completed
		r.lost += int64(r.documents) - o.sink.Distinct
	}
}
