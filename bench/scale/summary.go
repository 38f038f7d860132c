package scale

import (
	"fmt"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// summary is the last line. What was not measured is nil.
type summary struct {
	// flatCPU is how much dearer a document is in the dearest row than in the
	// cheapest of a table in which documents grow, as a ratio: in the worse of
	// the two tables.
	flatCPU *float64
	// rssGrowth is how many MB more the process has at the end of the row with
	// the most documents than at the end of that with the fewest, with one
	// producer and one request in flight. With more producers it would be about
	// the buffer, which the first documents fill.
	rssGrowth *float64
	// rate is documents a second at lineLatency with lineInFlight.
	rate *float64
	// producers is the rate with lineProducers divided by that with one.
	producers *float64
	lost      *int64
}

// What the last line is about.
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

// flatness is how much more processor time a document costs in the dearest row
// than in the cheapest, as a ratio. It is NaN if there are not two rows.
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

// rssGrowth is how many MB more the process has at the end of the last row,
// which has the most documents, than at the end of the first. It is NaN if
// there are not two rows, or nobody measures.
func rssGrowth(rows []*row) float64 {
	if len(rows) < 2 || rows[0].end == 0 {
		return math.NaN()
	}
	return (rows[len(rows)-1].end - rows[0].end) / 1e6
}

// rateOf returns the documents a second of the row that matches, NaN if there is
// none.
func rateOf(rows []*row, match func(*row) bool) float64 {
	for _, r := range rows {
		if match(r) {
			return r.rate
		}
	}
	return math.NaN()
}

// larger returns the larger of two numbers, or the one that is a number.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// String is the line that programs read. What was not measured is a dash.
func (s summary) String() string {
	lost := "-"
	if s.lost != nil {
		lost = fmt.Sprint(*s.lost)
	}
	return fmt.Sprintf("flat_cpu=%s rss_growth=%s docs_s_at_100ms_8=%s sixteen_producers_vs_one=%s lost=%s",
		measure.Figure(s.flatCPU, 2), measure.Figure(s.rssGrowth, 0), measure.Figure(s.rate, 0), measure.Figure(s.producers, 2), lost)
}
