package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/disturb"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// report has all results, as -json writes them.
type report struct {
	Versions map[string]string `json:"versions"`
	Tables   []*table          `json:"tables"`
	Faults   []*faultRow       `json:"faults,omitempty"`
	Summary  summary           `json:"summary"`
}

// compare runs the comparison of the command line.
func (c *commandLine) compare(ctx context.Context, stdout, stderr io.Writer) error {
	temp, err := os.MkdirTemp("", "compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	p := &processes{timeout: c.timeout}
	var notes []string
	var missing error
	if p.javaScript, missing = findJavaScript(ctx, c.javaScript, temp); missing != nil && slices.ContainsFunc(c.chosen(true), isJavaScript) {
		notes = append(notes, "JavaScript is not compared: "+missing.Error())
	}
	chosen := c.chosen(p.javaScript != nil)
	if len(chosen) == 0 {
		return errors.New("-only matches no contestant")
	}
	r := &report{Versions: versions(chosen, p.javaScript)}
	if !c.json {
		writeHead(stdout, r.Versions, notes)
	}
	for _, s := range c.shapes {
		for _, latency := range c.latencies {
			t, err := c.fill(ctx, p, chosen, s, latency, stderr)
			if err != nil {
				return err
			}
			r.Tables = append(r.Tables, t)
			if !c.json {
				writeTable(stdout, t)
			}
		}
	}
	if c.faults {
		if r.Faults, err = c.breakThings(ctx, p, chosen, stderr); err != nil {
			return err
		}
		if !c.json {
			writeFaults(stdout, r.Faults, min(c.documents, faultDocuments))
		}
	}
	r.Summary = summarize(r.Tables, r.Faults)
	if c.json {
		err = cli.WriteJSON(stdout, r)
	} else {
		err = writeSummary(stdout, r.Summary)
	}
	return errors.Join(err, r.problems())
}

// problems returns an error if a run has no figures.
func (r *report) problems() error {
	n := 0
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			n += len(row.Problems)
		}
	}
	for _, f := range r.Faults {
		for _, cell := range f.Cells {
			if cell.Problem != "" {
				n++
			}
		}
	}
	if n > 0 {
		return fmt.Errorf("%d runs gave no figures", n)
	}
	return nil
}

// fill runs all rounds of one table. Each contestant runs once per round, so that a slowdown of the machine affects
// all of them.
func (c *commandLine) fill(ctx context.Context, p *processes, chosen []contestant, s shape, latency time.Duration, progress io.Writer) (*table, error) {
	t := &table{Shape: s.name, Latency: latency.String(), Documents: s.scale(c.documents)}
	for _, who := range chosen {
		t.Rows = append(t.Rows, &row{contestant: who, Name: who.name})
	}
	for round := range c.rounds {
		for _, r := range t.Rows {
			o, err := p.run(ctx, r.contestant, c.task(s, t.Documents), "-latency", latency.String())
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				r.Problems = append(r.Problems, err.Error())
				fmt.Fprintf(progress, "%s, %v, round %d of %d: %s: %v\n", s.name, latency, round+1, c.rounds, r.Name, err)
				continue
			}
			r.Outcomes = append(r.Outcomes, *o)
			t.JSONBytes = o.BytesPerDocument
			fmt.Fprintf(progress, "%s, %v, round %d of %d: %s: %.0f documents/s\n", s.name, latency, round+1, c.rounds, r.Name, measure.Ratio(float64(o.Documents), o.Seconds))
		}
	}
	for _, r := range t.Rows {
		r.conclude()
	}
	return t, nil
}

func (c *commandLine) task(s shape, documents int) task {
	return task{Shape: s.name, Documents: documents, BatchBytes: c.batchBytes, Profile: c.profile}
}

// breakThings runs one contestant of each family with each fault, all concurrently: it measures only losses, and the
// runs mostly wait.
func (c *commandLine) breakThings(ctx context.Context, p *processes, chosen []contestant, progress io.Writer) ([]*faultRow, error) {
	standard, err := shapeNamed(defaultShape)
	if err != nil {
		return nil, err
	}
	t := c.task(standard, min(c.documents, faultDocuments))
	t.Profile, t.Watch = "", true
	var rows []*faultRow
	var running sync.WaitGroup
	var mu sync.Mutex // guards progress
	slots := make(chan struct{}, 8)
	for _, who := range chosen {
		if !who.main {
			continue
		}
		r := &faultRow{contestant: who, Name: who.name}
		rows = append(rows, r)
		for _, f := range disturb.All {
			cell := &faultCell{Fault: f.Name}
			r.Cells = append(r.Cells, cell)
			running.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				o, err := p.run(ctx, who, t, f.Sink...)
				if err != nil {
					cell.Problem = err.Error()
				}
				cell.Outcome = o
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(progress, "%s: %s: %s\n", f.Name, who.name, cell)
			})
		}
	}
	running.Wait()
	return rows, context.Cause(ctx)
}
