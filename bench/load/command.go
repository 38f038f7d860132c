// Package load measures azsearch load against the sender that it is made of: files of hotels, JSON Lines, CSV and
// Parquet, and the same hotels as structs, into a sink that answers at once.
//
//	go run . load -docs 1000000
//	go run . load -gb 10
//
// Each run is a process of its own, and its sink another one. The figures of azsearch are those of its -json report.
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

// Command fails if a document is missing; a target that is missed is marked.
var Command = cli.Command{
	Name:  "load",
	About: "azsearch load of JSON Lines, CSV and Parquet, compared with the sender from structs",
	Run:   run,
	Tasks: map[string]cli.Task{"structs": cli.TaskOf(structs)},
}

// The contestants, and what share of the first one's documents a second is the target.
var contestants = []struct {
	name   string
	target float64
}{{"structs", 0}, {"jsonl", 0.6}, {"csv", 0.45}, {"parquet", 0.4}}

type task struct {
	Endpoint  string
	Documents int
}

// result is what both a task and the report of azsearch have.
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
	var folder string
	var gigabytes float64
	set := cli.Flags("load", s)
	set.IntVar(&documents, "docs", 300_000, "`documents` in each file")
	set.IntVar(&rounds, "rounds", 5, "`rounds` in which each has a turn")
	set.Float64Var(&gigabytes, "gb", 0, "instead show the memory that JSON Lines and Parquet of this many `GB` take, once")
	set.StringVar(&folder, "dir", "", "`folder` for the files, which are used again; by default one that is removed")
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
	rates, memory := map[string][]float64{}, map[string]int64{}
	for range rounds {
		for _, c := range contestants {
			file := filepath.Join(folder, fmt.Sprintf("hotels-%d.%s", documents, c.name))
			if err := write(c.name, file, documents); err != nil {
				return err
			}
			got, rss, err := measureOne(ctx, c.name, program, file, documents, nil)
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
	for _, c := range contestants {
		share := measure.Median(rates[c.name]) / anchor
		mark := ""
		if share < c.target {
			mark = " missed"
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.2f\t%.2f%s\t%s\t\n", c.name, measure.Median(rates[c.name]), share, c.target, mark, measure.Megabytes(memory[c.name]))
	}
	return table.Flush()
}

// measureOne runs one contestant, and checks that the sink has every document. w may be nil.
func measureOne(ctx context.Context, name, program, file string, documents int, w *watch) (got result, rss int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	sink, err := child.StartSink(ctx)
	if err != nil {
		return got, 0, err
	}
	defer func() { err = errors.Join(err, sink.Stop()) }()
	var cmd *exec.Cmd
	if name == "structs" {
		if cmd, err = child.Task(ctx, "load", name, task{sink.Address, documents}); err != nil {
			return got, 0, err
		}
	} else {
		cmd = exec.CommandContext(ctx, program, "load", "-index", corpus.IndexName, "-json", "-quiet", "-rejects", file+".rejects", "-split", "tags=|", file)
		cmd.Env = append(os.Environ(), "AZURE_SEARCH_ENDPOINT="+sink.Address, "AZURE_SEARCH_API_KEY=bench")
	}
	cmd.Stderr = os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return got, 0, err
	}
	if w != nil {
		w.begin(cmd.Process.Pid)
		defer w.end()
	}
	if err = cmd.Wait(); err == nil {
		err = json.Unmarshal(out.Bytes(), &got)
	}
	if err != nil {
		return got, 0, err
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = int64(usage.Maxrss) << 10
	}
	counts, err := sink.Counts(ctx)
	if err == nil && (got.Completed != int64(documents) || counts.Distinct != int64(documents)) {
		err = fmt.Errorf("%d documents of %d completed, and the sink has %d", got.Completed, documents, counts.Distinct)
	}
	return got, rss, err
}
