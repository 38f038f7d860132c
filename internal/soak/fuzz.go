package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fuzz runs all fuzz targets. Go's fuzzing has no seeds; a failure is reproduced by the input that it found.
var fuzz = soak{
	name:   "fuzz",
	about:  "every fuzz target, for equal parts of -for or a thousand inputs a round; the seed means nothing here",
	rounds: fuzzing{},
}

type fuzzing struct{}

// `found` is the folder for failing inputs, outside of the packages so that they are not committed by mistake. An input
// committed in testdata/fuzz of its package fails go test until the fault is fixed.
const found = ".ci/artifacts/fuzz"

// leastFuzzing is the minimum time for a target.
const leastFuzzing = 3 * time.Second

func (fuzzing) run(ctx context.Context, _ string, p *plan) error {
	targets, err := listTests(ctx, "^Fuzz")
	if err != nil {
		return err
	}
	lasts := fmt.Sprint(p.rounds*p.times*1000, "x")
	if p.rounds == 0 { // only fuzzing counts; building the targets takes about as long
		lasts = max(p.until.Sub(p.began)/time.Duration(len(targets)), leastFuzzing).Round(time.Second).String()
	}
	var errs []error
	for _, t := range targets {
		out, err := inModule(exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+lasts, "-timeout=0", t.pkg)).CombinedOutput()
		switch {
		case ctx.Err() != nil:
			return errors.Join(append(errs, ctx.Err())...)
		case err == nil:
			fmt.Fprintf(p.out, "%s: %s\n", t.name, last(elapsed, out))
		case ranOutOfTime(out):
			fmt.Fprintf(p.out, "%s: ended by the engine's own deadline, no failing input\n", t.name)
		default:
			fmt.Fprintf(p.out, "%s %s:\n%s", t.pkg, t.name, out)
			errs = append(errs, keep(t, out, err))
		}
	}
	return errors.Join(errs...)
}

var (
	elapsed = regexp.MustCompile(`(?m)^fuzz: elapsed.*$`)
	failing = regexp.MustCompile(`(?m)Failing input written to (\S+)$`)
	blamed  = regexp.MustCompile(`panic|_test\.go:`)
)

// last returns the last match.
func last(pattern *regexp.Regexp, out []byte) []byte {
	all := pattern.FindAll(out, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// ranOutOfTime reports whether the engine has reported its own deadline, reached while the last input ran, as a
// failure.
func ranOutOfTime(out []byte) bool {
	return bytes.Contains(out, []byte("context deadline exceeded")) && !failing.Match(out) && !blamed.Match(out)
}

// keep moves a failing input out of the package of its target.
func keep(t test, out []byte, err error) error {
	match := failing.FindSubmatch(out)
	if match == nil {
		return fmt.Errorf("%s %s: %w", t.pkg, t.name, err)
	}
	root, errRoot := moduleRoot()
	where, errWhere := inModule(exec.Command("go", "list", "-f", "{{.Dir}}", t.pkg)).Output()
	if errRoot != nil || errWhere != nil {
		return errors.Join(errRoot, errWhere)
	}
	folder := strings.TrimSpace(string(where))
	inside, err := filepath.Rel(root, folder)
	if err != nil {
		return err
	}
	from := filepath.Join(folder, string(match[1]))
	to := filepath.Join(root, found, inside, t.name, filepath.Base(from))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return fmt.Errorf("%s %s fails with the input in %s", t.pkg, t.name, filepath.Join(found, inside, t.name, filepath.Base(from)))
}
