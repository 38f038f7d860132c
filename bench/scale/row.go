package scale

import (
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// outcome is the result of a run according to its process and to the sink.
type outcome struct {
	measurement
	sink server.Counts
}

// row is a step with all its runs.
type row struct {
	step
	outcomes []outcome
	problems []string // runs without figures

	// The columns: medians of the runs with figures.
	rate   float64 // documents per second
	cpu    float64 // seconds of processor time per million documents
	allocs float64 // per document
	// Memory in bytes: after a tenth of the documents, after all of them, and its peak.
	tenth, end, peak float64
	// incomplete and lost are sums: documents that the sender did not report as completed, and documents that did not
	// reach the sink.
	incomplete, lost int64
}

// conclude computes the columns.
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
