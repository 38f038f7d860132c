// Package allocations is for developers of the SDK and for CI. It runs benchmarks of the SDK and fails if one
// allocates more often than at the last commit. It ignores time.
//
//	go run . allocations            # compare with allocations.txt
//	go run . allocations -update    # write allocations.txt: commit it with the change
//
// Run it in the folder bench. plan.go lists the benchmarks. Each runs a fixed number of iterations on one processor
// without the garbage collector, so that the figures hardly depend on the machine or its load. allocations.txt is in
// the Go benchmark format, without values that differ between machines, such as times.
package allocations

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/perf/benchfmt"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// Command fails if a figure got worse or could not be measured.
var Command = check{root: "..", file: "allocations.txt", plan: plan}.command()

// check is one comparison.
type check struct {
	root string // of the measured module
	file string // figures of the last commit
	plan []suite
}

func (c check) command() cli.Command {
	return cli.Command{
		Name:  "allocations",
		About: "whether a benchmark of the SDK allocates more often than at the last commit",
		Run: func(ctx context.Context, args []string, s cli.Streams) error {
			set := cli.Flags("allocations", s)
			update := set.Bool("update", false, "write the figures to "+c.file+" instead of failing")
			if err := cli.Parse(set, args, nil); err != nil {
				return err
			}
			return c.run(ctx, *update, s)
		},
	}
}

var errDiffers = errors.New("the allocations are not those of the last commit; if that is meant, run in bench: " +
	"go run . allocations -update, and commit allocations.txt")

func (c check) run(ctx context.Context, update bool, s cli.Streams) error {
	was, err := readFile(c.file)
	if err != nil && (!update || !errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("%w (go run . allocations -update writes it)", err)
	}
	is, err := measure(ctx, c.root, c.plan)
	if err != nil {
		return err
	}
	if err := c.benchstat(ctx, is, s); err != nil {
		return err
	}
	changes := compare(was, is)
	for _, change := range changes {
		fmt.Fprintln(s.Out, change)
	}
	failed := failures(changes)
	switch {
	case update:
		fmt.Fprintf(s.Out, "written to %s\n", c.file)
		return writeFile(c.file, is)
	case failed > 0:
		return fmt.Errorf("%d of %d figures: %w", failed, len(medians(is)), errDiffers)
	case len(changes) > 0:
		fmt.Fprintln(s.Out, "Nothing is worse. To keep what is better: go run . allocations -update")
	default:
		fmt.Fprintf(s.Out, "%d figures as before\n", len(medians(is)))
	}
	return nil
}

// benchstat prints the comparison in the format of benchstat.
func (c check) benchstat(ctx context.Context, is []*benchfmt.Result, s cli.Streams) error {
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
	command.Stdout, command.Stderr = s.Out, s.Err
	if err := command.Run(); err != nil {
		return fmt.Errorf("benchstat: %w", err)
	}
	return nil
}
