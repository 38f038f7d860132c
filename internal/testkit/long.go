package testkit

import "testing"

// Long skips a test that takes seconds, most often for a server or a process that it starts and stops, when tests are
// to be short: while one works, and under the race detector, which is for what shares memory.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}
