// Package testkit supports the tests of this module: a TestMain that fails if tests leave goroutines behind, golden
// files, long tests and polling. Only _test.go files import it.
package testkit

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

// Main parses the flags, runs the tests of a package, fails if goroutines that they started still run, and exits. Every
// package that starts goroutines has
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
//
// Goroutines have about two seconds to end after the last test.
func Main(m *testing.M) {
	flag.Parse()
	os.Exit(Run(m))
}

// Run is Main without the exit, for a TestMain that must clean up or read a flag first. It returns the exit code.
func Run(m interface{ Run() int }) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the heaps of tests are small: a tenth of the CPU time of all would be their collection
	}
	code := m.Run()
	if code != 0 || fuzzing() {
		// After a failure leaked goroutines are usually a consequence, and their report would hide the cause.
		return code
	}
	// Idle connections of the default client belong to the test that used it. Those of the SDK's clients are leaks.
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	if err := leaked(); err != nil {
		fmt.Fprintf(os.Stderr, "testkit: the tests passed but left goroutines behind: %v\n", err)
		return 1
	}
	return 0
}

// leaked waits for the goroutines of the tests and returns an error with those that do not end. goleak waits less than
// half a second, which a loaded machine under the race detector can exceed.
func leaked() (err error) {
	for range 5 {
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}

// fuzzing reports whether this process fuzzes. Goroutines of the fuzzing engine, and of an input interrupted at the
// end, do not count as leaks.
func fuzzing() bool {
	for _, name := range []string{"test.fuzz", "test.fuzzworker"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != f.DefValue {
			return true
		}
	}
	return false
}
