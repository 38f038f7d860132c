package measure

import (
	"fmt"
	"io"
	"strings"
)

// Table collects figures of contestants, by rows.
type Table struct{ cells []cell }

type cell struct {
	row, contestant, figure string
	values                  []float64
}

// Add adds a value of a figure.
func (t *Table) Add(row, contestant, figure string, value float64) {
	c := t.find(row, contestant, figure)
	c.values = append(c.values, value)
}

func (t *Table) find(row, contestant, figure string) *cell {
	for i := range t.cells {
		if c := &t.cells[i]; c.row == row && c.contestant == contestant && c.figure == figure {
			return c
		}
	}
	t.cells = append(t.cells, cell{row: row, contestant: contestant, figure: figure})
	return &t.cells[len(t.cells)-1]
}

// Write writes a row, of which what says what it is: a line for each figure of each contestant, with a
// bar that compares them if wanted.
func (t *Table) Write(w io.Writer, row, what string, bars bool) {
	fmt.Fprintf(w, "### %s: %s\n\n| | | median | range | |\n|---|---|---|---|---|\n", row, what)
	most := map[string]float64{}
	for i := range t.cells {
		if c := &t.cells[i]; c.row == row {
			most[c.figure] = max(most[c.figure], Median(c.values))
		}
	}
	for i := range t.cells {
		c := &t.cells[i]
		if c.row != row {
			continue
		}
		s := SpreadOf(c.values)
		bar := ""
		if bars && most[c.figure] > 0 {
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
