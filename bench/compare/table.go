package compare

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/go-azsearch/azsearch/bench/internal/disturb"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// versions returns the version and settings of each chosen family.
func versions(chosen []contestant, j *javaScriptRunner) map[string]string {
	all := map[string]string{"Go": runtime.Version()}
	for _, m := range modules {
		if slices.ContainsFunc(chosen, func(c contestant) bool { return c.family == m.family }) {
			all[m.family] = m.path + " " + version(m.path) + ". " + m.settings
		}
	}
	if j != nil && slices.ContainsFunc(chosen, isJavaScript) {
		all[javaScript] = "@azure/search-documents " + j.version + ". SearchIndexingBufferedSender: initialBatchActionCount as many as make 1,000,000 bytes"
	}
	return all
}

func writeHead(w io.Writer, versions map[string]string, notes []string) {
	fmt.Fprintf(w, "%s, %s/%s, GOMAXPROCS %d. Batches of at most 1,000,000 bytes, one document per call unless noted.\n",
		versions["Go"], runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	for _, family := range []string{ours, esutilFamily, openSearch, docAppender, javaScript} {
		if text, ok := versions[family]; ok {
			fmt.Fprintf(w, "%s: %s.\n", family, text)
		}
	}
	for _, note := range notes {
		fmt.Fprintln(w, note+".")
	}
}

func writeTable(w io.Writer, t *table) {
	fmt.Fprintf(w, "\nShape %s: %d documents of %.0f bytes; latency %s.\n", t.Shape, t.Documents, t.JSONBytes, t.Latency)
	width := 0
	for _, r := range t.Rows {
		width = max(width, len(r.Name))
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "%-*s\tdocuments/s\tmin\tmax\tCPU s/M\tallocs/doc\tB/doc\tpeak RSS MB\tlost\t\n", width, "contestant")
	for _, r := range t.Rows {
		name := fmt.Sprintf("%-*s", width, r.Name)
		if len(r.Outcomes) == 0 {
			fmt.Fprintf(tab, "%s\t-\t-\t-\t-\t-\t-\t-\t-\t\n", name)
			continue
		}
		fmt.Fprintf(tab, "%s\t%.0f\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%d\t\n", name,
			r.Rate.Median, r.Rate.Min, r.Rate.Max, r.CPU, measure.Figure(r.Allocs, 3), measure.Figure(r.Bytes, 0), measure.Megabytes(r.PeakRSS), r.Lost)
	}
	tab.Flush()
	for _, r := range t.Rows {
		for _, problem := range r.Problems {
			fmt.Fprintf(w, "%s: no figures from one round: %s\n", r.Name, problem)
		}
	}
}

// String returns the number of lost documents, and how many of them the contestant reported.
func (c *faultCell) String() string {
	switch {
	case c.Outcome == nil:
		return "-"
	case c.Outcome.lost() == 0:
		return "0"
	case c.Outcome.Reported == silent:
		return fmt.Sprintf("%d (log only)", c.Outcome.lost())
	}
	return fmt.Sprintf("%d (%d reported)", c.Outcome.lost(), c.Outcome.Reported)
}

func writeFaults(w io.Writer, rows []*faultRow, documents int) {
	fmt.Fprintf(w, "\nDocuments lost of %d, by fault.\n", documents)
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Name))
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "%-*s", width, "contestant")
	for _, f := range disturb.All {
		fmt.Fprintf(tab, "\t%s", f.Name)
	}
	fmt.Fprintln(tab, "\t")
	for _, r := range rows {
		fmt.Fprintf(tab, "%-*s", width, r.Name)
		for _, cell := range r.Cells {
			fmt.Fprintf(tab, "\t%s", cell)
		}
		fmt.Fprintln(tab, "\t")
	}
	tab.Flush()
	fmt.Fprintln(w, "For Azure AI Search, 429 for a document is its quota and final; too busy, which is 429 in the other protocol, is 503.")
	for _, r := range rows {
		for _, cell := range r.Cells {
			if cell.Problem != "" {
				fmt.Fprintf(w, "%s: %s: no figures: %s\n", r.Name, cell.Fault, cell.Problem)
			}
		}
	}
}

// writeSummary writes the last line, and before it the names of the compared rows.
func writeSummary(w io.Writer, s summary) error {
	fmt.Fprintln(w)
	if s.Row != "" {
		fmt.Fprintf(w, "The last line is about %q", s.Row)
		if s.FastestPeer != "" {
			fmt.Fprintf(w, "; the fastest peer is %q", s.FastestPeer)
		}
		fmt.Fprintln(w, ".")
	}
	_, err := fmt.Fprintln(w, s)
	return err
}
