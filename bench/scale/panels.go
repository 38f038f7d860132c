package scale

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// legendRoom is the height of a panel relative to its highest line: the legend is above the lines.
const legendRoom = 1.45

// ratePanel shows the rate by requests in flight at the highest latency. Without latency there is no panel.
func (r *report) ratePanel() (*plot.Plot, error) {
	var rows []*row
	for _, s := range r.series {
		measured := r.measured(s)
		if s.grows == inFlight && len(measured) > 0 && measured[0].latency > 0 && (rows == nil || measured[0].latency > rows[0].latency) {
			rows = measured
		}
	}
	if rows == nil {
		return nil, nil
	}
	var points, proportional plotter.XYs
	var at []float64
	least, most := rows[0].rate, 0.0
	for _, row := range rows {
		n := float64(row.inFlight)
		at = append(at, n)
		points = append(points, plotter.XY{X: n, Y: row.rate})
		proportional = append(proportional, plotter.XY{X: n, Y: rows[0].rate / float64(rows[0].inFlight) * n})
		least, most = min(least, row.rate), max(most, row.rate, proportional[len(proportional)-1].Y)
	}
	p := newPanel(fmt.Sprintf("Throughput, %v a request", rows[0].latency), "requests in flight", "documents/s")
	if err := addReference(p, "proportional", proportional); err != nil {
		return nil, err
	}
	if err := addLine(p, named(rows[0].producers, "producer"), 0, points); err != nil {
		return nil, err
	}
	logAxis(&p.X, ticksAt(at), at[0], at[len(at)-1])
	logAxis(&p.Y, decadeTicks(least, most), least, most)
	return p, nil
}

// cpuPanel shows the processor time per document by number of documents.
func (r *report) cpuPanel() (*plot.Plot, error) {
	p := newPanel("Processor time of a document", "documents sent", "CPU s per million documents")
	most := 0.0
	var at []float64
	for i, rows := range r.documentRows() {
		var points plotter.XYs
		at = nil
		for _, row := range rows {
			at = append(at, float64(row.documents))
			points = append(points, plotter.XY{X: float64(row.documents), Y: row.cpu})
			most = max(most, row.cpu)
		}
		if err := addLine(p, setting(rows[0]), i, points); err != nil {
			return nil, err
		}
	}
	if at == nil {
		return nil, nil
	}
	logAxis(&p.X, ticksAt(at), at[0], at[len(at)-1])
	linearAxis(&p.Y, most*legendRoom)
	return p, nil
}

// memoryPanel shows the memory during the first-round runs with the most documents.
func (r *report) memoryPanel() (*plot.Plot, error) {
	p := newPanel("Memory of the process", "documents accepted", "RSS, MB")
	most, total := 0.0, 0.0
	for i, rows := range r.documentRows() {
		last := rows[len(rows)-1]
		var points plotter.XYs
		for k, rss := range last.outcomes[0].RSS {
			points = append(points, plotter.XY{X: float64(last.documents) * float64(k) / sampleCount, Y: float64(rss) / 1e6})
			most = max(most, float64(rss)/1e6)
		}
		total = max(total, float64(last.documents))
		if err := addLine(p, setting(last), i, points); err != nil {
			return nil, err
		}
	}
	if most == 0 { // not measured on this system
		return nil, nil
	}
	linearAxis(&p.X, total)
	linearAxis(&p.Y, most*legendRoom)
	return p, nil
}

// documentRows returns the rows with figures, for each series in which documents grow.
func (r *report) documentRows() [][]*row {
	var all [][]*row
	for _, s := range r.series {
		if rows := r.measured(s); s.grows == documents && len(rows) > 0 {
			all = append(all, rows)
		}
	}
	return all
}

// setting returns the constant quantities of a row.
func setting(r *row) string {
	return fmt.Sprintf("%s, %d in flight", named(r.producers, "producer"), r.inFlight)
}

func named(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
