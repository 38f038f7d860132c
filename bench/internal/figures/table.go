// Package figures prints tables of measurements with their targets: medians of the rounds, with the range.
package figures

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// Figure is one measured value.
type Figure struct {
	Name  string
	Value float64
}

// Table collects the figures of a row.
type Table struct{ lines []*line }

type line struct {
	contestant, what string
	target           Target
	values           []float64
}

// Target is the required median of a figure.
type Target struct {
	words string
	holds func(v float64) bool // nil: no target
}

// AtLeast requires a value of at least n.
func AtLeast(n float64) Target {
	return Target{"≥ " + short(n), func(v float64) bool { return v >= n }}
}

// AtMost requires a value of at most n.
func AtMost(n float64) Target {
	return Target{"≤ " + short(n), func(v float64) bool { return v <= n }}
}

// Informs requires nothing: the figure is for information.
var Informs = Target{words: "–"}

// Add adds the value of a round.
func (t *Table) Add(what string, wanted Target, value float64) { t.add("", what, wanted, value) }

// AddOf adds the value of one contestant in a round. A table has either contestants or targets.
func (t *Table) AddOf(contestant string, f Figure) { t.add(contestant, f.Name, Informs, f.Value) }

func (t *Table) add(contestant, what string, wanted Target, value float64) {
	for _, l := range t.lines {
		if l.contestant == contestant && l.what == what {
			l.values = append(l.values, value)
			return
		}
	}
	t.lines = append(t.lines, &line{contestant, what, wanted, []float64{value}})
}

// Write writes the table of a row. what describes the row. Common figures of contestants have a bar for comparison,
// and a figure that misses its target is marked.
func (t *Table) Write(w io.Writer, name, what string) {
	fmt.Fprintf(w, "### %s: %s\n\n", name, what)
	contest, several := len(t.lines) > 0 && t.lines[0].contestant != "", false
	most := map[string]float64{}
	for _, l := range t.lines {
		most[l.what] = max(most[l.what], measure.Median(l.values))
		several = several || l.contestant != t.lines[0].contestant
	}
	head := "| | target | got | range | |"
	if contest {
		head = "| | | median | range | |"
	}
	fmt.Fprintln(w, head+"\n|---|---|---|---|---|")
	for _, l := range t.lines {
		s := measure.SpreadOf(l.values)
		before, after := l.what+" | "+l.target.words, ""
		if contest {
			before = l.contestant + " | " + l.what
		}
		switch {
		case several && most[l.what] > 0:
			after = strings.Repeat("█", max(1, int(20*s.Median/most[l.what])))
		case l.target.holds != nil && !l.target.holds(s.Median):
			after = "**missed**"
		}
		fmt.Fprintf(w, "| %s | %s | %s–%s | %s |\n", before, short(s.Median), short(s.Min), short(s.Max), after)
	}
	fmt.Fprintln(w)
}

func short(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
