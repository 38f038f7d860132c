package scale

import (
	"fmt"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// summary is the last line of the output. Unknown values are nil.
type summary struct {
	// flatCPU is the ratio of the highest to the lowest processor time per document within a table in which documents
	// grow: the larger of the two tables.
	flatCPU *float64
	// rssGrowth is the difference in final memory, in MB, between the rows with the most and the fewest documents,
	// with one producer and one request in flight. With more producers it would only show the buffer, which the first
	// documents fill.
	rssGrowth *float64
	// rate is in documents per second, at lineLatency with lineInFlight.
	rate *float64
	// producers is the rate with lineProducers divided by the rate with one.
	producers *float64
	lost      *int64
}

// The steps of the last line.
const (
	lineLatency   = 100 * time.Millisecond
	lineInFlight  = 8
	lineProducers = 16
)

func (r *report) summarize() summary {
	var s summary
	for _, row := range r.rows {
		if len(row.outcomes) == 0 {
			continue
		}
		if s.lost == nil {
			s.lost = new(int64)
		}
		*s.lost += row.lost
	}
	flat, growth := math.NaN(), math.NaN()
	for _, series := range r.series {
		rows := r.measured(series)
		switch series.grows {
		case documents:
			flat = larger(flat, flatness(rows))
			if series.lone() {
				growth = rssGrowth(rows)
			}
		case producers:
			s.producers = measure.Known(rateOf(rows, func(w *row) bool { return w.producers == lineProducers }) /
				rateOf(rows, func(w *row) bool { return w.producers == 1 }))
		case inFlight:
			if rate := rateOf(rows, func(w *row) bool { return w.inFlight == lineInFlight && w.latency == lineLatency }); rate > 0 {
				s.rate = measure.Known(rate)
			}
		}
	}
	s.flatCPU, s.rssGrowth = measure.Known(flat), measure.Known(growth)
	return s
}

// measured returns the rows of a series that have figures.
func (r *report) measured(s *series) []*row {
	var rows []*row
	for _, step := range s.steps {
		if row := r.rows[step]; len(row.outcomes) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// flatness returns the ratio of the highest to the lowest processor time per document, NaN for fewer than two rows.
func flatness(rows []*row) float64 {
	if len(rows) < 2 {
		return math.NaN()
	}
	least, most := math.Inf(1), 0.0
	for _, r := range rows {
		least, most = min(least, r.cpu), max(most, r.cpu)
	}
	return measure.Ratio(most, least)
}

// rssGrowth returns the difference in final memory, in MB, between the last row, which has the most documents, and
// the first. It is NaN for fewer than two rows, or if memory is not measured.
func rssGrowth(rows []*row) float64 {
	if len(rows) < 2 || rows[0].end == 0 {
		return math.NaN()
	}
	return (rows[len(rows)-1].end - rows[0].end) / 1e6
}

// rateOf returns the rate of the row that matches, in documents per second, NaN if none does.
func rateOf(rows []*row, match func(*row) bool) float64 {
	for _, r := range rows {
		if match(r) {
			return r.rate
		}
	}
	return math.NaN()
}

// larger returns the larger of two numbers, ignoring NaN.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// String returns the machine-readable line, with a dash for each unknown value.
func (s summary) String() string {
	lost := "-"
	if s.lost != nil {
		lost = fmt.Sprint(*s.lost)
	}
	return fmt.Sprintf("flat_cpu=%s rss_growth=%s docs_s_at_100ms_8=%s sixteen_producers_vs_one=%s lost=%s",
		measure.Figure(s.flatCPU, 2), measure.Figure(s.rssGrowth, 0), measure.Figure(s.rate, 0), measure.Figure(s.producers, 2), lost)
}
