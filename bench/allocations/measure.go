package allocations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/perf/benchfmt"
)

// measure runs the benchmarks of the plan in the module at root.
func measure(ctx context.Context, root string, plan []suite) ([]*benchfmt.Result, error) {
	folder, err := os.MkdirTemp("", "allocations")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "test.exe") // Windows needs the extension
	var all []*benchfmt.Result
	for _, s := range plan {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./"+s.folder)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the tests of %s: %w\n%s", s.folder, err, out)
		}
		for _, b := range s.benchmarks {
			results, err := b.run(ctx, program, filepath.Join(root, s.folder))
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.folder, b.name, err)
			}
			all = append(all, results...)
		}
	}
	return all, nil
}

// run runs a benchmark of a program in the folder of its package.
func (b benchmark) run(ctx context.Context, program, folder string) ([]*benchfmt.Result, error) {
	command := exec.CommandContext(ctx, program, "-test.run=^$", "-test.bench=^"+b.name+"$", "-test.benchmem",
		"-test.benchtime="+strconv.Itoa(b.iterations)+"x", "-test.count="+strconv.Itoa(runs),
		"-test.cpu=1", // with several processors the order of goroutines, and with it the figures, would be random
		"-test.timeout=5m")
	command.Dir = folder
	// A collection empties the pools. The limit is for benchmarks that would not fit into memory without any.
	command.Env = append(os.Environ(), "GOGC=off", "GOMEMLIMIT=1GiB", "GODEBUG=")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s%s", err, &stdout, &stderr)
	}
	results, err := read(&stdout, b.name)
	if err == nil && len(results) == 0 {
		err = errors.New("there is no such benchmark: the list is in bench/allocations/plan.go")
	}
	return results, err
}
