package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// commands are rounds that are each a run of another program, which has all the
// cores. What it prints is printed.
type commands struct {
	// command makes the command of a seed; it is run in a folder of the module, the
	// root if Dir is empty.
	command func(ctx context.Context, seed uint64) (*exec.Cmd, error)
}

func (r commands) run(ctx context.Context, name string, p *plan) error {
	for {
		seed, more := p.next()
		if !more {
			_, err := p.result()
			return err
		}
		cmd, err := r.command(ctx, seed)
		if err == nil {
			fmt.Fprintf(p.out, "seed %d\n", seed)
			cmd.Stdout, cmd.Stderr = p.out, p.out
			err = inModule(cmd).Run()
		}
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case err != nil:
			err = &failure{name, seed, err.Error()}
		}
		p.end(err)
	}
}

// goTest is a run of go test with more of an environment.
func goTest(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// inModule makes the folder of a command one of this module's.
func inModule(cmd *exec.Cmd) *exec.Cmd {
	root, err := moduleRoot()
	if err != nil && cmd.Err == nil {
		cmd.Err = err
	}
	cmd.Dir = filepath.Join(root, cmd.Dir)
	return cmd
}

var moduleRoot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == "" || file == os.DevNull {
		return "", fmt.Errorf("run it in a folder of the module")
	}
	return filepath.Dir(file), nil
})

// test is a test of a package of this module, or a fuzz target.
type test struct{ pkg, name string }

// listTests returns the tests whose names match. There must be one.
func listTests(ctx context.Context, pattern string) ([]test, error) {
	cmd := inModule(exec.CommandContext(ctx, "go", "test", "-list", pattern, "./..."))
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go test -list: %w\n%s%s", err, out, &problems)
	}
	var found []test
	var names []string
	for line := range strings.Lines(string(out)) {
		switch fields := strings.Fields(line); {
		case len(fields) == 1: // its package follows
			names = append(names, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, name := range names {
				found = append(found, test{fields[1], name})
			}
			names = nil
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no test whose name matches %s", pattern)
	}
	return found, nil
}
