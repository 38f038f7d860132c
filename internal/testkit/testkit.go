// Package testkit is for the tests of this module: the TestMain that fails a
// package whose tests leave goroutines behind, and golden files. Nothing but
// _test.go files imports it.
package testkit

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main parses the flags, runs the tests of a package, fails if a goroutine that
// they started is still running, and exits. Every package that starts a
// goroutine has
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
//
// Goroutines get about two seconds to end after the last test.
func Main(m *testing.M) {
	flag.Parse()
	os.Exit(Run(m))
}

// Run is Main without the exit, for a TestMain that has something to clean up
// or that must look at a flag first. It returns the exit code.
func Run(m interface{ Run() int }) int {
	code := m.Run()
	if code != 0 || fuzzing() {
		// After a failure the leak is most often its consequence, and the report
		// would push the cause off the screen.
		return code
	}
	// Kept-alive connections of the default client belong to the test that used
	// it. One of the SDK's own clients left open is a leak.
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	if err := leaked(); err != nil {
		fmt.Fprintf(os.Stderr, "testkit: the tests passed but left goroutines behind: %v\n", err)
		return 1
	}
	return 0
}

// leaked waits for the goroutines of the tests to end, and names those that do
// not. One look of goleak's is patient for less than half a second, which a
// loaded machine under the race detector can exceed.
func leaked() (err error) {
	for range 5 {
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}

// fuzzing reports whether this process fuzzes. The fuzzing engine's own
// goroutines, and those of an input that was interrupted when the time was up,
// are no leaks.
func fuzzing() bool {
	for _, name := range []string{"test.fuzz", "test.fuzzworker"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != f.DefValue {
			return true
		}
	}
	return false
}
