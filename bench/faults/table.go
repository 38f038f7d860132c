package faults

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// writeTable writes the results as a table.
func writeTable(w io.Writer, results []*result) error {
	longest := 0
	for _, r := range results {
		longest = max(longest, len(r.Row))
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, fmt.Sprintf("%-*s", longest, "row")+"\taccepted\tcompleted\tfailed\tunsent\tunknown\tlost\twrong\tapplied twice\tresent\trequests\tmemory MB\tto recover s\tdrained s\ttook s\t  ")
	for _, r := range results {
		fmt.Fprintf(tab, "%-*s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%s\t%s\t%.1f\t  %s\n",
			longest, r.Row, r.Accepted, r.Completed, r.Failed, r.Unsent, r.Unknown, r.Lost, r.Wrong, r.AppliedTwice, r.Resent, r.Requests,
			float64(r.MemoryBytes)/1e6, seconds(r.Recovered), seconds(r.Drained), r.Seconds, verdict(r))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, r := range results {
		fmt.Fprintf(w, "%s: %s.\n", r.Row, r.What)
		if len(r.Met) > 0 {
			fmt.Fprintf(w, "    met: %s\n", counts(r.Met))
		}
		if len(r.Failures) > 0 {
			fmt.Fprintf(w, "    failed: %s\n", counts(r.Failures))
		}
		for _, problem := range r.Problems {
			fmt.Fprintf(w, "    FAILED: %s\n", problem)
		}
	}
	failed := 0
	for _, r := range results {
		failed += btoi(len(r.Problems) > 0)
	}
	_, err := fmt.Fprintf(w, "\n%d rows, %d failed\n", len(results), failed)
	return err
}

func verdict(r *result) string {
	if len(r.Problems) > 0 {
		return "FAILED"
	}
	return "ok"
}

func seconds(s *float64) string {
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *s)
}

func counts(m map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s × %d", what, m[what]))
	}
	return strings.Join(parts, ", ")
}
