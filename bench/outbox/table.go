package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// table collects figures.
type table struct{ cells []cell }

type cell struct {
	row, contestant, figure string
	values                  []float64
}

func (t *table) add(r row, contestant string, figures []figure) {
	for _, f := range figures {
		c := t.find(r.name, contestant, f.name)
		c.values = append(c.values, f.value)
	}
}

func (t *table) find(row, contestant, figure string) *cell {
	for i := range t.cells {
		if c := &t.cells[i]; c.row == row && c.contestant == contestant && c.figure == figure {
			return c
		}
	}
	t.cells = append(t.cells, cell{row: row, contestant: contestant, figure: figure})
	return &t.cells[len(t.cells)-1]
}

// write writes the row: a line for each figure of each contestant, with a bar that compares them.
func (t *table) write(w io.Writer, r row) {
	fmt.Fprintf(w, "### %s: %s\n\n| | | median | range | |\n|---|---|---|---|---|\n", r.name, r.what)
	most := map[string]float64{}
	for i := range t.cells {
		if c := &t.cells[i]; c.row == r.name {
			most[c.figure] = max(most[c.figure], measure.Median(c.values))
		}
	}
	for i := range t.cells {
		c := &t.cells[i]
		if c.row != r.name {
			continue
		}
		s := measure.SpreadOf(c.values)
		bar := ""
		if len(r.contestants) > 1 && most[c.figure] > 0 {
			bar = strings.Repeat("█", max(1, int(20*s.Median/most[c.figure])))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s–%s | %s |\n", c.contestant, c.figure, short(s.Median), short(s.Min), short(s.Max), bar)
	}
	fmt.Fprintln(w)
}

func short(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
