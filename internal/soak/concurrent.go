package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
)

// concurrent runs the tests about concurrent use, whose failures one run may miss.
var concurrent = soak{
	name:  "concurrent",
	about: "the tests whose names end in ConcurrentSafe, ten times a round under the race detector",
	rounds: commands{func(ctx context.Context, seed uint64) (*exec.Cmd, error) {
		const pattern = "^Test.*ConcurrentSafe$"
		packages, err := packagesOf(ctx, pattern)
		if err != nil {
			return nil, err
		}
		// Without the race detector in the translated C code of SQLite, as in .ci/run.
		args := append([]string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false", "-vet=off", "-count=10", "-timeout=14m", "-run=" + pattern}, packages...)
		return goTest(ctx, []string{fmt.Sprint("RAPID_SEED=", seed)}, args...), nil
	}},
}

var listed struct {
	once     sync.Once
	packages []string
	err      error
}

// packagesOf returns the packages with matching tests. It lists all tests once.
func packagesOf(ctx context.Context, pattern string) ([]string, error) {
	listed.once.Do(func() {
		var tests []test
		tests, listed.err = listTests(ctx, pattern)
		for _, t := range tests {
			listed.packages = append(listed.packages, t.pkg)
		}
		listed.packages = slices.Compact(listed.packages)
	})
	return listed.packages, listed.err
}
