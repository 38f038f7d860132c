package testkit

import (
	"os"
	"testing"
)

// Long skips a test that takes seconds, most often for a process that it starts and stops or a heap that it fills, when
// tests must be short: while one works, and under the race detector, which is for what shares memory.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

// thorough is a variable of the environment: set, tests of many cases try all of them, as in step thorough of .ci/run
// long, and for a mutant.
const thorough = "AZSEARCH_TEST_THOROUGH"

// Cases returns how many of its cases a test tries: short with -short, as under the race detector, else usual, and all
// in step thorough of .ci/run long.
func Cases(short, usual, all int) int {
	switch {
	case os.Getenv(thorough) != "":
		return all
	case testing.Short():
		return short
	}
	return usual
}
