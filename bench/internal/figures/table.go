// Package figures has tables of what was measured and what it should be.
package figures

import (
	"fmt"
	"io"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// Table collects figures and what they should be.
type Table struct{ lines []*line }

type line struct {
	what   string
	target Target
	values []float64
}

// Target is what the median of a figure should be.
type Target struct {
	words string
	holds func(v float64) bool // nil: there is no target, it is for information
}

// AtLeast wants so much.
func AtLeast(n float64) Target {
	return Target{"≥ " + short(n), func(v float64) bool { return v >= n }}
}

// AtMost wants no more than so much.
func AtMost(n float64) Target {
	return Target{"≤ " + short(n), func(v float64) bool { return v <= n }}
}

// Informs wants nothing.
var Informs = Target{words: "–"}

// Add adds what was measured in a round.
func (t *Table) Add(what string, wanted Target, value float64) {
	for _, l := range t.lines {
		if l.what == what {
			l.values = append(l.values, value)
			return
		}
	}
	t.lines = append(t.lines, &line{what, wanted, []float64{value}})
}

// Write writes the lines of a row.
func (t *Table) Write(w io.Writer, name, what string) {
	fmt.Fprintf(w, "### %s: %s\n\n| | target | got | range | |\n|---|---|---|---|---|\n", name, what)
	for _, l := range t.lines {
		s := measure.SpreadOf(l.values)
		missed := ""
		if l.target.holds != nil && !l.target.holds(s.Median) {
			missed = "**missed**"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s–%s | %s |\n", l.what, l.target.words, short(s.Median), short(s.Min), short(s.Max), missed)
	}
	fmt.Fprintln(w)
}

func short(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
