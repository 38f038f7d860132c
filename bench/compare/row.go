package compare

import (
	"fmt"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/sink/server"
)

// outcome is the result of one task according to its process and to the sink.
type outcome struct {
	measurement
	Documents int           `json:"documents"`
	Sink      server.Counts `json:"sink"`
}

// lost is the number of sent documents that the sink never applied.
func (o outcome) lost() int64 { return int64(o.Documents) - o.Sink.Distinct }

// row has all rounds of a contestant.
type row struct {
	contestant contestant
	Name       string         `json:"contestant"`
	Rate       measure.Spread `json:"documentsPerSecond"`
	CPU        float64        `json:"cpuSecondsPerMillionDocuments"`
	Allocs     *float64       `json:"allocationsPerDocument"` // nil: not counted
	Bytes      *float64       `json:"allocatedBytesPerDocument"`
	PeakRSS    int64          `json:"peakRSS"`
	Lost       int64          `json:"lost"` // total of all rounds
	Outcomes   []outcome      `json:"rounds"`
	Problems   []string       `json:"problems,omitempty"` // rounds without figures
}

// conclude computes the columns.
func (r *row) conclude() {
	var rate, cpu, allocs, bytes, peak []float64
	r.Lost = 0
	for _, o := range r.Outcomes {
		n := float64(o.Documents)
		rate = append(rate, measure.Ratio(n, o.Seconds))
		cpu = append(cpu, o.CPUSeconds/n*1e6)
		if o.Allocations >= 0 {
			allocs = append(allocs, float64(o.Allocations)/n)
			bytes = append(bytes, float64(o.AllocatedBytes)/n)
		}
		peak = append(peak, float64(o.PeakRSS))
		r.Lost += o.lost()
	}
	r.Rate, r.CPU, r.PeakRSS = measure.SpreadOf(rate), measure.Median(cpu), int64(measure.Median(peak))
	if len(allocs) > 0 {
		a, b := measure.Median(allocs), measure.Median(bytes)
		r.Allocs, r.Bytes = &a, &b
	}
}

// table has the rows of one shape and one latency.
type table struct {
	Shape     string  `json:"shape"`
	Latency   string  `json:"latency"`
	Documents int     `json:"documents"`
	JSONBytes float64 `json:"bytesPerDocument"`
	Rows      []*row  `json:"rows"`
}

// fastest returns the row with the highest median among those that match, nil if none has figures.
func (t *table) fastest(match func(contestant) bool) *row {
	var best *row
	for _, r := range t.Rows {
		if match(r.contestant) && len(r.Outcomes) > 0 && (best == nil || r.Rate.Median > best.Rate.Median) {
			best = r
		}
	}
	return best
}

// summary is the last line of the output. It compares our fastest row with one document per call, as the peers have,
// with the fastest peer and with floor B, in the first table.
type summary struct {
	Row              string   `json:"row"`
	FastestPeer      string   `json:"fastestPeer"`
	RatioFastestPeer *float64 `json:"ratioFastestPeer"`
	RatioFloorB      *float64 `json:"ratioFloorB"`
	CPU              *float64 `json:"cpuSecondsPerMillionDocuments"`
	Allocs           *float64 `json:"allocationsPerDocument"`
	Lost             *int64   `json:"lost"`
}

// summarize needs at least one table. Lost includes all our rows in all tables, and unreported losses in runs with
// faults.
func summarize(tables []*table, faults []*faultRow) summary {
	var s summary
	first := tables[0]
	best := first.fastest(func(c contestant) bool { return c.family == ours && c.perCall == 0 })
	if best == nil {
		return s
	}
	s.Row, s.CPU, s.Allocs = best.Name, &best.CPU, best.Allocs
	if peer := first.fastest(contestant.peer); peer != nil {
		s.FastestPeer = peer.Name
		s.RatioFastestPeer = measure.Known(measure.Ratio(best.Rate.Median, peer.Rate.Median))
	}
	if floor := first.fastest(func(c contestant) bool { return c.family == floorTransport }); floor != nil {
		s.RatioFloorB = measure.Known(measure.Ratio(best.Rate.Median, floor.Rate.Median))
	}
	var lost int64
	for _, t := range tables {
		for _, r := range t.Rows {
			if r.contestant.family == ours {
				lost += r.Lost
			}
		}
	}
	for _, f := range faults {
		if f.contestant.family == ours {
			lost += f.unreported()
		}
	}
	s.Lost = &lost
	return s
}

// String returns the machine-readable line, with a dash for each unknown value.
func (s summary) String() string {
	lost := "-"
	if s.Lost != nil {
		lost = fmt.Sprint(*s.Lost)
	}
	return fmt.Sprintf("ratio_fastest_peer=%s ratio_floor_b=%s cpu_s_per_m=%s allocs_per_doc=%s lost=%s",
		measure.Figure(s.RatioFastestPeer, 2), measure.Figure(s.RatioFloorB, 2), measure.Figure(s.CPU, 2), measure.Figure(s.Allocs, 3), lost)
}
