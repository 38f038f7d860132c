// Package faults checks the sender against a slow, throttling, failing or missing service. Each row of its table puts
// an emulated service under load, causes one kind of fault, and compares the sender's report of each document with
// the service's record.
//
//	go run . faults                 # the table; exit code 1 if a row does not hold
//	go run . faults -only hung,giants -json
//	go run . faults -fast           # all times divided by ten, options included
//
// Sender and emulator run in separate processes, so that memory is the sender's alone and broken connections are
// real.
package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// Command fails if a row does not hold or cannot run.
var Command = cli.Command{
	Name:  "faults",
	About: "faults under load: compare the sender's report of each document with the service's record",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var c commandLine
		if err := c.parse(args, s); err != nil {
			return err
		}
		return c.run(ctx, s.Out, s.Err)
	},
	Tasks: map[string]cli.Task{"row": cli.TaskOf(executeRow), "serve": serve},
}

// errRows means that a row does not hold; the table names it.
var errRows = fmt.Errorf("not every row holds: %w", cli.ErrFailed)

// commandLine has the values of the flags.
type commandLine struct {
	setting
	only     []string
	json     bool
	list     bool
	parallel int
}

func (c *commandLine) parse(args []string, s cli.Streams) error {
	set := cli.Flags("faults", s)
	set.IntVar(&c.documents, "docs", 20_000, "`actions` a row sends; some send a multiple")
	set.Uint64Var(&c.seed, "seed", 1, "of the documents and the faults")
	only := set.String("only", "", "run only these `rows`, separated by commas")
	set.BoolVar(&c.json, "json", false, "write JSON instead of a table")
	set.BoolVar(&c.fast, "fast", false, "divide all times by ten: of the faults and of the sender's options (default: the sender's defaults)")
	set.IntVar(&c.inFlight, "in-flight", 0, "`requests` that may be under way at once (default the sender's)")
	set.BoolVar(&c.adaptive, "adaptive", false, "let tuning.Adaptive choose the limits instead of the sender's default")
	set.BoolVar(&c.list, "list", false, "list the rows with their faults")
	set.IntVar(&c.parallel, "parallel", 10, "`rows` to run at once; most of their time is waiting")
	return cli.Parse(set, args, func() error { return c.check(*only) })
}

// check completes the parsed flags and returns every error.
func (c *commandLine) check(only string) error {
	var errs []error
	if c.documents < 400 {
		errs = append(errs, fmt.Errorf("-docs %d: use at least 400, or some faults have no chance to happen", c.documents))
	}
	if c.inFlight < 0 {
		errs = append(errs, fmt.Errorf("-in-flight %d: use a positive number, or 0 for the default", c.inFlight))
	}
	if c.parallel < 1 {
		errs = append(errs, fmt.Errorf("-parallel %d: use at least 1", c.parallel))
	}
	if only != "" {
		c.only = strings.Split(only, ",")
	}
	all := rows(c.setting)
	for _, name := range c.only {
		if !slices.ContainsFunc(all, func(r row) bool { return r.name == name }) {
			errs = append(errs, fmt.Errorf("-only %s: there is no such row, see -list", name))
		}
	}
	return errors.Join(errs...)
}

// run runs the rows and writes their results.
func (c *commandLine) run(ctx context.Context, stdout, stderr io.Writer) error {
	var chosen []row
	for _, r := range rows(c.setting) {
		if len(c.only) == 0 || slices.Contains(c.only, r.name) {
			chosen = append(chosen, r)
		}
	}
	if c.list {
		for _, r := range chosen {
			fmt.Fprintf(stdout, "%-20s %s\n", r.name, r.what)
		}
		return nil
	}
	results, err := runAll(ctx, c.setting, chosen, c.parallel, stderr)
	if err != nil {
		return err
	}
	return c.conclude(stdout, results)
}

// conclude writes the results. It returns errRows if one has a problem.
func (c *commandLine) conclude(w io.Writer, results []*result) error {
	write := writeTable
	if c.json {
		write = func(w io.Writer, results []*result) error { return cli.WriteJSON(w, results) }
	}
	if err := write(w, results); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r *result) bool { return len(r.Problems) > 0 }) {
		return errRows
	}
	return nil
}

// task is a row that another process of this program runs.
type task struct {
	Row       string `json:"row"`
	Documents int    `json:"documents"`
	Seed      uint64 `json:"seed"`
	Fast      bool   `json:"fast"`
	InFlight  int    `json:"inFlight"`
	Adaptive  bool   `json:"adaptive"`
}

// executeRow starts a service and runs the row against it.
func executeRow(ctx context.Context, t task) (*result, error) {
	s := setting{documents: t.Documents, seed: t.Seed, fast: t.Fast, inFlight: t.InFlight, adaptive: t.Adaptive}
	all := rows(s)
	at := slices.IndexFunc(all, func(r row) bool { return r.name == t.Row })
	if at < 0 {
		return nil, fmt.Errorf("there is no row %q", t.Row)
	}
	service, err := startProcess(ctx, all[at].service)
	if err != nil {
		return nil, err
	}
	res, err := all[at].execute(ctx, s, service, nil)
	if err := errors.Join(err, service.stop()); err != nil {
		return nil, fmt.Errorf("row %s: %w", t.Row, err)
	}
	return res, nil
}
