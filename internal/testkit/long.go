package testkit

import (
	"os"
	"testing"
)

// Long skips a test that takes seconds, usually because it starts and stops a process or fills a heap, if tests must be
// short: during development, and under the race detector, which is for code that shares memory.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

// thorough is an environment variable. If it is set, tests with many cases try all of them, as in the step thorough of
// .ci/run long and for a mutant.
const thorough = "AZSEARCH_TEST_THOROUGH"

// Cases returns how many of its cases a test tries: short with -short, as under the race detector; all if the variable
// thorough is set; otherwise usual.
func Cases(short, usual, all int) int {
	switch {
	case os.Getenv(thorough) != "":
		return all
	case testing.Short():
		return short
	}
	return usual
}
