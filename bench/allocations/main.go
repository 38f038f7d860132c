// Command allocations is for whoever changes the code of the SDK, and for CI: it
// runs the benchmarks beside that code and fails if one of them allocates more
// often than the last commit says. Time is not looked at.
//
//	go run ./allocations            # compare with allocations.txt
//	go run ./allocations -update    # write allocations.txt: commit it with the change
//
// It works in the folder bench only. plan.go has the list of benchmarks. Each runs
// a fixed number of times, on one processor and without the garbage collector, so
// that the figures hardly depend on the machine and on what else runs there.
// allocations.txt is in the format of Go benchmarks; what differs between two
// machines, times above all, is left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"golang.org/x/perf/benchfmt"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	check := check{root: "..", file: "allocations.txt", plan: plan, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(check.command(ctx, os.Args[1:]))
}

// check is one run of the command.
type check struct {
	root           string // of the module that is measured
	file           string // with the figures of the last commit
	plan           []suite
	stdout, stderr io.Writer
}

// command returns the exit code: 0, 1 if something got worse or could not be
// measured, 2 for a mistake in the arguments.
func (c *check) command(ctx context.Context, args []string) int {
	set := flag.NewFlagSet("allocations", flag.ContinueOnError)
	set.SetOutput(c.stderr)
	update := set.Bool("update", false, "write the figures to "+c.file+" instead of failing")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if set.NArg() > 0 {
		fmt.Fprintf(c.stderr, "allocations: unexpected argument %q\n", set.Arg(0))
		return 2
	}
	if err := c.run(ctx, *update); err != nil {
		fmt.Fprintln(c.stderr, "allocations:", err)
		return 1
	}
	return 0
}

var errDiffers = errors.New("the allocations are not those of the last commit; if that is meant, run in bench: " +
	"go run ./allocations -update, and commit allocations.txt")

func (c *check) run(ctx context.Context, update bool) error {
	was, err := readFile(c.file)
	if err != nil && (!update || !errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("%w (go run ./allocations -update writes it)", err)
	}
	is, err := measure(ctx, c.root, c.plan)
	if err != nil {
		return err
	}
	if err := c.benchstat(ctx, is); err != nil {
		return err
	}
	changes := compare(was, is)
	for _, change := range changes {
		fmt.Fprintln(c.stdout, change)
	}
	failed := failures(changes)
	switch {
	case update:
		fmt.Fprintf(c.stdout, "written to %s\n", c.file)
		return writeFile(c.file, is)
	case failed > 0:
		return fmt.Errorf("%d of %d figures: %w", failed, len(medians(is)), errDiffers)
	case len(changes) > 0:
		fmt.Fprintln(c.stdout, "Nothing is worse. To keep what is better: go run ./allocations -update")
	default:
		fmt.Fprintf(c.stdout, "%d figures as before\n", len(medians(is)))
	}
	return nil
}

// benchstat prints the comparison as everybody knows it.
func (c *check) benchstat(ctx context.Context, is []*benchfmt.Result) error {
	folder, err := os.MkdirTemp("", "allocations")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	now := filepath.Join(folder, "now.txt")
	if err := writeFile(now, is); err != nil {
		return err
	}
	args := []string{"tool", "benchstat"}
	if _, err := os.Stat(c.file); err == nil {
		args = append(args, "was="+c.file)
	}
	command := exec.CommandContext(ctx, "go", append(args, "is="+now)...)
	command.Stdout, command.Stderr = c.stdout, c.stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("benchstat: %w", err)
	}
	return nil
}
