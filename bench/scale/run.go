package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/go-azsearch/azsearch/bench/internal/child"
)

// measure runs the measurements of the command line.
func (c *commandLine) measure(ctx context.Context, stdout, stderr io.Writer) error {
	r := newReport(c.plan())
	if err := r.fill(ctx, c.rounds, c.run, stderr); err != nil {
		return err
	}
	if err := r.write(stdout); err != nil {
		return err
	}
	var err error
	if c.svg != "" {
		err = r.draw(c.svg)
	}
	return errors.Join(err, r.problem())
}

// run runs a step once against a new sink.
func (c *commandLine) run(ctx context.Context, s step) (*outcome, error) {
	o := new(outcome)
	var err error
	o.sink, err = child.AgainstSink(ctx, c.timeout, func(ctx context.Context, address string) (*exec.Cmd, error) {
		return child.Task(ctx, "scale", "task", task{Documents: s.documents, Producers: s.producers, InFlight: s.inFlight, Endpoint: address})
	}, &o.measurement, "-latency", s.latency.String())
	if err != nil {
		return nil, err
	}
	return o, nil
}

// report has all results.
type report struct {
	series []*series
	steps  []step // each once, in the order of running
	rows   map[step]*row
}

func newReport(all []*series) *report {
	r := &report{series: all, rows: map[step]*row{}}
	for _, s := range all {
		for _, step := range s.steps {
			if r.rows[step] == nil {
				r.rows[step] = &row{step: step}
				r.steps = append(r.steps, step)
			}
		}
	}
	return r
}

// fill runs all rounds. A run without figures does not end the others.
func (r *report) fill(ctx context.Context, rounds int, run func(context.Context, step) (*outcome, error), progress io.Writer) error {
	for round := range rounds {
		for _, s := range r.steps {
			if round >= s.turns(rounds) {
				continue
			}
			row := r.rows[s]
			o, err := run(ctx, s)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				row.problems = append(row.problems, err.Error())
				fmt.Fprintf(progress, "round %d of %d: %v: %v\n", round+1, s.turns(rounds), s, err)
				continue
			}
			row.outcomes = append(row.outcomes, *o)
			fmt.Fprintf(progress, "round %d of %d: %v: %.0f documents/s\n", round+1, s.turns(rounds), s, float64(s.documents)/o.Seconds)
		}
	}
	for _, row := range r.rows {
		row.conclude()
	}
	return nil
}

// problem returns an error if a run has no figures or a document was lost.
func (r *report) problem() error {
	var gaps int
	var incomplete, lost int64
	for _, row := range r.rows {
		gaps += len(row.problems)
		incomplete += row.incomplete
		lost += row.lost
	}
	var errs []error
	if gaps > 0 {
		errs = append(errs, fmt.Errorf("%d runs gave no figures", gaps))
	}
	if incomplete != 0 {
		errs = append(errs, fmt.Errorf("%d documents were accepted and not completed", incomplete))
	}
	if lost != 0 {
		errs = append(errs, fmt.Errorf("%d documents are not in the sink", lost))
	}
	return errors.Join(errs...)
}
