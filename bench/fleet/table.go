package main

import (
	"fmt"
	"io"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// table collects figures and what they should be.
type table struct{ lines []*line }

type line struct {
	what   string
	target target
	values []float64
}

// target is what the median of a figure should be.
type target struct {
	words string
	holds func(v float64) bool // nil: there is no target, it is for information
}

func atLeast(n float64) target {
	return target{"≥ " + short(n), func(v float64) bool { return v >= n }}
}

func atMost(n float64) target {
	return target{"≤ " + short(n), func(v float64) bool { return v <= n }}
}

var informs = target{words: "–"}

func (t *table) add(what string, wanted target, value float64) {
	for _, l := range t.lines {
		if l.what == what {
			l.values = append(l.values, value)
			return
		}
	}
	t.lines = append(t.lines, &line{what, wanted, []float64{value}})
}

// write writes the lines of a row.
func (t *table) write(w io.Writer, r row) {
	fmt.Fprintf(w, "### %s: %s\n\n| | target | got | range | |\n|---|---|---|---|---|\n", r.name, r.what)
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
