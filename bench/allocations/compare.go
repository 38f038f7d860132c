package allocations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/perf/benchfmt"
)

// change is a figure that differs from the last commit.
type change struct {
	figure
	kind    kind
	was, is float64
}

// kind is the kind of a change. All but better are failures.
type kind string

const (
	worse  kind = "worse"
	gone   kind = "gone"
	added  kind = "new"
	better kind = "better"
)

func (c change) String() string {
	switch c.kind {
	case gone:
		return fmt.Sprintf("gone: %v (was %g)", c.figure, c.was)
	case added:
		return fmt.Sprintf("new: %v (is %g)", c.figure, c.is)
	}
	percent := ""
	if c.was != 0 {
		percent = fmt.Sprintf(", %+.1f %%", 100*(c.is-c.was)/c.was)
	}
	return fmt.Sprintf("%s: %v was %g and is %g (%+.4g%s)", c.kind, c.figure, c.was, c.is, c.is-c.was, percent)
}

// slack is the difference that does not count as a change. Most figures are the same in every run. Benchmarks with
// goroutines differed by at most 1 % in five runs on a busy machine. allocs/op are rounded down, so 1 % changes them
// by one; 5 % allows that from twenty on, and below twenty one more allocation is a regression. 0.02 is for
// allocs/doc, where a thousand documents share the allocations of one request.
func slack(was float64) float64 { return max(0.02, 0.05*was) }

// compare returns the changes, failures first.
func compare(was, is []*benchfmt.Result) []change {
	before, after := medians(was), medians(is)
	var changes []change
	for f, w := range before {
		i, ok := after[f]
		switch {
		case !ok:
			changes = append(changes, change{figure: f, kind: gone, was: w})
		case i > w+slack(w):
			changes = append(changes, change{f, worse, w, i})
		case i < w-slack(w):
			changes = append(changes, change{f, better, w, i})
		}
	}
	for f := range maps.Keys(after) {
		if _, ok := before[f]; !ok {
			changes = append(changes, change{figure: f, kind: added, is: after[f]})
		}
	}
	order := []kind{worse, gone, added, better}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.kind), slices.Index(order, b.kind)),
			cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.benchmark, b.benchmark), cmp.Compare(a.unit, b.unit))
	})
	return changes
}

// failures counts the changes that fail the check.
func failures(changes []change) int {
	n := 0
	for _, c := range changes {
		if c.kind != better {
			n++
		}
	}
	return n
}
