package scale

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// write writes a table for each series, and the last line.
func (r *report) write(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s/%s, GOMAXPROCS %d. Documents of 650 bytes, one per call, in batches of at most 1,000,000 bytes.\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	for _, s := range r.series {
		fmt.Fprintf(w, "\nMore %s (%s).\n", s.grows, s.fixed)
		r.writeTable(w, s)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.summarize())
	return err
}

func (r *report) writeTable(w io.Writer, s *series) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "documents\tproducers\tin flight\tlatency\tdocuments/s\tCPU s/M\tallocs/doc\tRSS MB at a tenth\tat the end\tat most\tincomplete\tlost\t")
	for _, step := range s.steps {
		row := r.rows[step]
		fmt.Fprintf(tab, "%d\t%d\t%d\t%v\t", row.documents, row.producers, row.inFlight, row.latency)
		if len(row.outcomes) == 0 {
			fmt.Fprintln(tab, "-\t-\t-\t-\t-\t-\t-\t-\t")
			continue
		}
		fmt.Fprintf(tab, "%.0f\t%.2f\t%.2f\t%s\t%s\t%s\t%d\t%d\t\n", row.rate, row.cpu, row.allocs,
			megabytes(row.tenth), megabytes(row.end), megabytes(row.peak), row.incomplete, row.lost)
	}
	tab.Flush()
	for _, step := range s.steps {
		for _, problem := range r.rows[step].problems {
			fmt.Fprintf(w, "%v: no figures from one round: %s\n", step, problem)
		}
	}
}

func megabytes(bytes float64) string { return measure.Megabytes(int64(bytes)) }
