package main

import "context"

// row is one question.
type row struct {
	name, what  string
	contestants []contestant
	once        bool // several rounds would say no more
	postgres    bool
}

// contestant is one way to do it.
type contestant struct {
	name    string
	anchor  string // the one it is compared with in each round, "" for none
	measure func(ctx context.Context, p *plan, dir string) ([]figure, error)
}

// figure is one answer.
type figure struct {
	name  string
	value float64
}

// Figures that are compared with those of an anchor.
const (
	cpuFigure  = "CPU s per 10⁶"
	rateFigure = "a second"
)

var rows = []row{
	{name: "relay", what: "650 bytes a row, all written beforehand: read, sent to a sink that answers at once, deleted", contestants: relays, postgres: true},
	{name: "held", what: "rows are written while the relay runs; REPEATABLE READ: a transaction elsewhere that has read something is open all the time", contestants: held, postgres: true},
	{name: "price", what: "transactions on four connections, each changes an entity of 650 bytes; with what tells the index of it, and without, in turns", contestants: prices, postgres: true},
	{name: "sqlite", what: "rows of 650 bytes, 100 a transaction in, and out again", contestants: trips},
	{name: "drivers", what: "the same by the driver of SQLite, rows first in and then out", contestants: drivers},
	{name: "latency", what: "ms from the commit of a lone transaction until it is applied by a service 50 ms away", contestants: latencies, once: true, postgres: true},
	{name: "idle", what: "calls of the database by a relay that has nothing to do", contestants: idlers, once: true, postgres: true},
}

func rowNames() (names []string) {
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// compare returns what figures are in proportion to those of the anchor in the same round.
func (r row) compare(figures []figure, anchor string, with []figure) (ratios []figure) {
	for _, f := range figures {
		for _, w := range with {
			if w.name == f.name && w.value > 0 && (f.name == cpuFigure || f.name == rateFigure) {
				ratios = append(ratios, figure{f.name + ", to " + anchor, f.value / w.value})
			}
		}
	}
	return ratios
}
