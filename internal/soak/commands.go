package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// commands is a soak whose rounds each run another program on all cores. The output of the program is printed.
type commands struct {
	// command returns the command for a seed. It runs in the folder Dir of the module, the root if Dir is empty.
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

// goTest returns a go test command with additional environment variables.
func goTest(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// inModule makes the folder of a command relative to the root of this module.
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

// test is a test function or fuzz target of a package of this module.
type test struct{ pkg, name string }

// listTests returns the tests whose names match; none is an error. It parses the test files, because the go command
// would first build every test program of the module.
func listTests(ctx context.Context, pattern string) ([]test, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	cmd := inModule(exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "./..."))
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &problems)
	}
	var found []test
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := decoder.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && match.MatchString(f.Name.Name) {
					found = append(found, test{p.ImportPath, f.Name.Name})
				}
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no test whose name matches %s", pattern)
	}
	return found, nil
}
