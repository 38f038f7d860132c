// Package load compares azsearch load with its sender: files of hotels as JSON Lines, CSV and Parquet, and the same
// hotels as structs, all into a sink that replies at once.
//
//	go run . load -docs 1000000
//	go run . load -gb 10
//	go run . load -peers folder
//
// The last one also runs elasticdump, esbulk and the buffered senders of the official libraries for JavaScript and
// Python, and prints the losses of each with the faults of package disturb; with -rounds 0 only those. It leaves out
// what is not installed. To install them:
//
//	cd folder && npm install elasticdump @azure/search-documents && python3 -m venv . &&
//	  bin/pip install azure-search-documents && GOBIN=$PWD/bin go install github.com/miku/esbulk/cmd/esbulk@latest
//
// Each run and each sink is its own process. Loaders are timed from start to exit. The slower ones load a fifteenth of
// the documents.
package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/buffered"
	"github.com/go-azsearch/azsearch/bench/internal/child"
	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/corpus"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bufferedsender"
)

// Command fails if a document is missing. It only marks a missed target.
var Command = cli.Command{
	Name:  "load",
	About: "azsearch load of JSON Lines, CSV and Parquet, compared with the sender from structs",
	Run:   run,
	Tasks: map[string]cli.Task{"structs": cli.TaskOf(structs)},
}

// contestant is one row of the table.
type contestant struct {
	name   string
	target float64 // documents/s, as a share of those of structs
	// The other fields are for loaders of JSON Lines by other authors.
	command func(ctx context.Context, endpoint, file string) *exec.Cmd
	beat    float64 // azsearch must be so many times as fast
	slow    bool    // it loads a fifteenth of the documents
	needs   string  // the file or folder that exists if it is installed
}

var contestants = []contestant{{name: "structs"}, {name: "jsonl", target: 0.6}, {name: "csv", target: 0.45}, {name: "parquet", target: 0.4}}

// file returns the kind of file that the contestant reads.
func (c contestant) file() string {
	if c.command != nil {
		return "jsonl"
	}
	return c.name
}

// share returns how many of the documents the contestant loads.
func (c contestant) share(documents int) int {
	if c.slow {
		return max(1, documents/15)
	}
	return documents
}

type task struct {
	Endpoint  string
	Documents int
}

// result has the common fields of a task's result and of azsearch's report.
type result struct {
	Completed int64   `json:"completed"`
	Seconds   float64 `json:"seconds"`
}

func structs(ctx context.Context, t task) (result, error) {
	w := corpus.New(t.Documents, 300, corpus.NewHotel, func(h *corpus.Hotel, key string) { h.ID = key })
	began := time.Now()
	sender, err := buffered.New(t.Endpoint, &bufferedsender.Options[corpus.Hotel]{
		Limits: bufferedsender.Limits{MaxInFlight: 4, MaxBatchBytes: 4 << 20},
	})
	if err != nil {
		return result{}, err
	}
	err = buffered.Upload(ctx, sender, w, 2, 16)
	stats, closing := buffered.Finish(ctx, sender)
	return result{stats.Completed, time.Since(began).Seconds()}, errors.Join(err, closing)
}

func run(ctx context.Context, args []string, s cli.Streams) error {
	var documents, rounds int
	var folder, peers string
	var gigabytes float64
	var limit time.Duration
	set := cli.Flags("load", s)
	set.IntVar(&documents, "docs", 300_000, "`documents` in each file")
	set.IntVar(&rounds, "rounds", 5, "`rounds`; each contestant runs once per round; with -peers 0 shows only the losses")
	set.Float64Var(&gigabytes, "gb", 0, "show instead the memory used for JSON Lines and Parquet files of this many `GB`")
	set.StringVar(&folder, "dir", "", "`folder` for the files, which later runs reuse (default: a temporary one)")
	set.StringVar(&peers, "peers", "", "compare with the loaders installed in this `folder`")
	set.DurationVar(&limit, "limit", 5*time.Minute, "`time` that a loader may take with a fault")
	if err := cli.Parse(set, args, nil); err != nil {
		return err
	}
	if folder == "" {
		temp, err := os.MkdirTemp("", "load")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		folder = temp
	}
	program, err := filepath.Abs(filepath.Join(folder, "azsearch"))
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", program, "./cmd/azsearch").CombinedOutput(); err != nil {
		return fmt.Errorf("building azsearch: %w: %s", err, out)
	}
	if gigabytes > 0 {
		return big(ctx, gigabytes, program, folder, s)
	}
	others, err := findPeers(peers, folder, s)
	if err != nil {
		return err
	}
	if rounds == 0 && others != nil {
		return trouble(ctx, others, program, folder, limit, s)
	}
	all := slices.Concat(contestants, others)
	rates, memory := map[string][]float64{}, map[string]int64{}
	for range rounds {
		for _, c := range all {
			n := c.share(documents)
			file := filepath.Join(folder, fmt.Sprintf("hotels-%d.%s", n, c.file()))
			if err := write(c.file(), file, n); err != nil {
				return err
			}
			got, rss, err := measureOne(ctx, c, program, file, n, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			rates[c.name] = append(rates[c.name], float64(got.Completed)/got.Seconds)
			memory[c.name] = max(memory[c.name], rss)
		}
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tdocuments/s\tof structs\ttarget\tmemory MB\t")
	anchor := measure.Median(rates["structs"])
	for _, c := range all {
		rate, goal := measure.Median(rates[c.name]), ""
		if c.target > 0 {
			goal = fmt.Sprintf("%.2f", c.target) + map[bool]string{true: " missed"}[rate/anchor < c.target]
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.3f\t%s\t%s\t\n", c.name, rate, rate/anchor, goal, measure.Megabytes(memory[c.name]))
	}
	if err := table.Flush(); err != nil || len(others) == 0 {
		return err
	}
	for _, c := range others {
		times := measure.Median(rates["jsonl"]) / measure.Median(rates[c.name])
		fmt.Fprintf(s.Out, "azsearch load of JSON Lines is %.1f times as fast as %s (target %g)%s\n", times, c.name, c.beat, map[bool]string{true: ": missed"}[times < c.beat])
	}
	return trouble(ctx, others, program, folder, limit, s)
}

// measureOne runs one contestant and checks that the sink has every document. w may be nil.
func measureOne(ctx context.Context, c contestant, program, file string, documents int, w *watch) (result, int64, error) {
	r, err := runOne(ctx, c, program, file, documents, time.Hour, w)
	if err == nil && (r.code != 0 || r.got.Completed != int64(documents) || r.distinct != int64(documents)) {
		err = fmt.Errorf("exit code %d, %d documents of %d completed, and the sink has %d: %s", r.code, r.got.Completed, documents, r.distinct, r.says)
	}
	return r.got, r.memory, err
}

// outcome is the result of one run.
type outcome struct {
	got      result
	code     int    // exit code
	says     string // end of its standard error
	distinct int64  // documents in the sink
	memory   int64
}

var errNotDone = errors.New("it did not end in time")

// runOne runs one contestant against a new sink with these flags. An exit code other than 0 is not an error. If the
// contestant is not done after limit, it is killed, and the error is errNotDone.
func runOne(ctx context.Context, c contestant, program, file string, documents int, limit time.Duration, w *watch, flags ...string) (o outcome, err error) {
	sink, err := child.StartSink(ctx, flags...)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, sink.Stop()) }()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var cmd *exec.Cmd
	switch {
	case c.command != nil:
		cmd = c.command(limited, sink.Address, file)
	case c.name == "structs":
		if cmd, err = child.Task(limited, "load", c.name, task{sink.Address, documents}); err != nil {
			return o, err
		}
	default:
		cmd = exec.CommandContext(limited, program, "load", "-index", corpus.IndexName, "-json", "-quiet", "-rejects", file+".rejects", "-split", "tags=|", file)
		cmd.Env = append(os.Environ(), "AZURE_SEARCH_ENDPOINT="+sink.Address, "AZURE_SEARCH_API_KEY=bench")
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return o, err
	}
	if w != nil {
		w.begin(cmd.Process.Pid)
		defer w.end()
	}
	ended := cmd.Wait()
	seconds := time.Since(began).Seconds()
	counts, err := sink.Counts(ctx)
	if err != nil {
		return o, err
	}
	o.distinct = counts.Distinct
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return o, errNotDone
	case cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0:
		return o, ended
	}
	o.code, o.says = cmd.ProcessState.ExitCode(), tail(problems.String())
	if c.command != nil {
		o.got.Completed = counts.Distinct
	} else if err := json.Unmarshal(out.Bytes(), &o.got); err != nil {
		return o, fmt.Errorf("exit code %d: %w: %s", o.code, err, o.says)
	}
	if c.name != "structs" {
		o.got.Seconds = seconds // with start and exit
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.memory = int64(usage.Maxrss) << 10
	}
	return o, nil
}

// tail returns the last bytes of a text.
func tail(text string) string { return text[max(0, len(text)-500):] }
