package testkit

import (
	"fmt"
	"testing"
	"time"
)

const (
	// patience is longer than anything takes on a machine that is busy with other things: a test is not about time.
	patience              = 2 * time.Minute
	lookEvery, lookRarely = 2 * time.Millisecond, 50 * time.Millisecond
)

// Eventually returns once something holds that others bring about, such as a server or another process. It fails the
// test with what, a format and its arguments, when that takes minutes. Everything that can happen in simulated time
// is tested with testing/synctest instead. It looks the more rarely the longer that takes.
func Eventually(t testing.TB, holds func() bool, what ...any) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(min(max(lookEvery, time.Since(began)/10), lookRarely)) {
		if time.Since(began) > patience {
			if len(what) == 0 {
				what = []any{"it does not hold"}
			}
			t.Fatalf("after %v: %s", patience, fmt.Sprintf(fmt.Sprint(what[0]), what[1:]...))
		}
	}
}
