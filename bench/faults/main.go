// Command faults is for whoever wants to know what the sender does when the
// service is slow, throttling, sick or gone: it breaks an emulated service in
// every way that a row of its table names, under load, and compares what the
// sender said about each document with what the service has seen.
//
//	go run ./faults                 # the table; exit code 1 if a row does not hold
//	go run ./faults -only hung,giants -json
//	go run ./faults -fast           # everything ten times shorter, options too
//
// Each row is a process with a sender, and the emulator is another one: memory
// is the sender's alone, and broken connections are real.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// errRows says that a row does not hold; the table says which.
var errRows = errors.New("not every row holds")

// command returns the exit code: 0, 1 if a row does not hold or could not be
// run, 2 for a mistake in the arguments.
func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var err error
	switch {
	case len(args) == 2 && args[0] == "serve":
		err = serve(args[1], stdin, stdout)
	case len(args) == 2 && args[0] == "row":
		err = executeRow(ctx, args[1], stdout)
	default:
		var c commandLine
		if err := c.parse(args, stderr); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return 0
			}
			fmt.Fprintln(stderr, "faults:", err)
			return 2
		}
		err = c.run(ctx, stdout, stderr)
	}
	if err == nil {
		return 0
	}
	if !errors.Is(err, errRows) {
		fmt.Fprintln(stderr, "faults:", err)
	}
	return 1
}

// commandLine is what the flags say.
type commandLine struct {
	setting
	only     []string
	json     bool
	list     bool
	parallel int
}

func (c *commandLine) parse(args []string, stderr io.Writer) error {
	set := flag.NewFlagSet("faults", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.IntVar(&c.documents, "docs", 20_000, "`actions` a row sends; some send a multiple")
	set.Uint64Var(&c.seed, "seed", 1, "of the documents and the faults")
	only := set.String("only", "", "run only these `rows`, separated by commas")
	set.BoolVar(&c.json, "json", false, "write JSON instead of a table")
	set.BoolVar(&c.fast, "fast", false, "everything ten times shorter: the faults, and the times in the sender's options, which are the defaults otherwise")
	set.IntVar(&c.inFlight, "in-flight", 0, "`requests` that may be under way at once (default the sender's)")
	set.BoolVar(&c.adaptive, "adaptive", false, "let tuning.Adaptive choose the limits instead of the sender's default")
	set.BoolVar(&c.list, "list", false, "list the rows and what goes wrong in them")
	set.IntVar(&c.parallel, "parallel", 10, "`rows` to run at once; most of their time is waiting")
	if err := set.Parse(args); err != nil {
		return err
	}
	var errs []error
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unexpected argument %q", set.Arg(0)))
	}
	if c.documents < 400 {
		errs = append(errs, fmt.Errorf("-docs %d: use at least 400, or some faults have no chance to happen", c.documents))
	}
	if c.inFlight < 0 {
		errs = append(errs, fmt.Errorf("-in-flight %d: use a positive number, or 0 for the default", c.inFlight))
	}
	if c.parallel < 1 {
		errs = append(errs, fmt.Errorf("-parallel %d: use at least 1", c.parallel))
	}
	if *only != "" {
		c.only = strings.Split(*only, ",")
	}
	all := rows(c.setting)
	for _, name := range c.only {
		if !slices.ContainsFunc(all, func(r row) bool { return r.name == name }) {
			errs = append(errs, fmt.Errorf("-only %s: there is no such row, see -list", name))
		}
	}
	return errors.Join(errs...)
}

// run runs the rows and writes what came of them.
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

// conclude writes the results. The error is errRows if one of them is bad.
func (c *commandLine) conclude(w io.Writer, results []*result) error {
	write := writeTable
	if c.json {
		write = writeJSON
	}
	if err := write(w, results); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r *result) bool { return len(r.Problems) > 0 }) {
		return errRows
	}
	return nil
}

// task is a row for another process of this program.
type task struct {
	Row       string `json:"row"`
	Documents int    `json:"documents"`
	Seed      uint64 `json:"seed"`
	Fast      bool   `json:"fast"`
	InFlight  int    `json:"inFlight"`
	Adaptive  bool   `json:"adaptive"`
}

// executeRow is the command "faults row": it starts a service and runs the row
// against it.
func executeRow(ctx context.Context, text string, stdout io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return fmt.Errorf("the task: %w", err)
	}
	s := setting{documents: t.Documents, seed: t.Seed, fast: t.Fast, inFlight: t.InFlight, adaptive: t.Adaptive}
	all := rows(s)
	at := slices.IndexFunc(all, func(r row) bool { return r.name == t.Row })
	if at < 0 {
		return fmt.Errorf("there is no row %q", t.Row)
	}
	service, err := startProcess(ctx, all[at].service)
	if err != nil {
		return err
	}
	res, err := all[at].execute(ctx, s, service, nil)
	if err := errors.Join(err, service.stop()); err != nil {
		return fmt.Errorf("row %s: %w", t.Row, err)
	}
	return json.NewEncoder(stdout).Encode(res)
}
