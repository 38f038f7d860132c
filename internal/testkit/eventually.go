package testkit

import (
	"fmt"
	"testing"
	"time"
)

const (
	// patience is longer than any condition takes on a loaded machine.
	patience              = 2 * time.Minute
	lookEvery, lookRarely = 2 * time.Millisecond, 50 * time.Millisecond
)

// Eventually polls until holds returns true, for conditions that servers or other processes bring about. After two
// minutes it fails the test with what, a format and its arguments. The polling interval grows. Use testing/synctest
// instead for everything that can run in simulated time.
func Eventually(t testing.TB, holds func() bool, what ...any) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(min(max(lookEvery, time.Since(began)/10), lookRarely)) {
		if time.Since(began) > patience {
			if len(what) == 0 {
				what = []any{"the condition is not met"}
			}
			t.Fatalf("after %v: %s", patience, fmt.Sprintf(fmt.Sprint(what[0]), what[1:]...))
		}
	}
}
