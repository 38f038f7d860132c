package servers

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// Required is an environment variable. Its value "required" turns a missing server into a failure.
const Required = "AZSEARCH_TEST_SERVERS"

// Main is testkit.Main for a package whose tests use servers. It stops shared servers after the last test.
func Main(m *testing.M) {
	flag.Parse()
	// Parallel tests of these packages wait for leases and processes instead of computing. So more of them run than there
	// are cores, unless the command sets the number.
	const together = "test.parallel"
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == together })
	if !said {
		if err := flag.Set(together, "8"); err != nil {
			panic(err) // the testing package no longer has this flag
		}
	}
	os.Exit(testkit.Run(thenStop{m}))
}

type thenStop struct{ m *testing.M }

func (s thenStop) Run() int {
	code := s.m.Run()
	for _, err := range stopShared() {
		fmt.Fprintln(os.Stderr, "servers:", err)
		code = max(code, 1)
	}
	return code
}

// program returns the path of a program. Without it the test is skipped, or fails if servers are required.
func program(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, install)
	}
	long(t)
	return path
}

// long skips the test if tests must be short, unless servers are required, as in CI under the race detector.
func long(t testing.TB) {
	t.Helper()
	if os.Getenv(Required) != "required" {
		testkit.Long(t)
	}
}

func missing(t testing.TB, name, install string) {
	t.Helper()
	if os.Getenv(Required) == "required" {
		t.Fatalf("%s is not installed, and %s=required: %s", name, Required, install)
	}
	t.Skipf("DID NOT RUN: %s is not installed: %s", name, install)
}

// shared is a server that is started once for all tests of the process.
type shared[S any] struct {
	once  sync.Once
	value S
	err   error
}

var atExit struct {
	mu   sync.Mutex
	stop []func() error
}

// get starts the server on the first call. A failed start is not repeated: each test that calls get fails with the same
// error.
func (s *shared[S]) get(t testing.TB, start func() (S, func() error, error)) S {
	t.Helper()
	value, err := s.try(start)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func (s *shared[S]) try(start func() (S, func() error, error)) (S, error) {
	s.once.Do(func() {
		var stop func() error
		if s.value, stop, s.err = start(); s.err == nil {
			atExit.mu.Lock()
			atExit.stop = append(atExit.stop, stop)
			atExit.mu.Unlock()
		}
	})
	return s.value, s.err
}

func stopShared() (errs []error) {
	atExit.mu.Lock()
	defer atExit.mu.Unlock()
	for _, stop := range atExit.stop {
		if err := stop(); err != nil {
			errs = append(errs, err)
		}
	}
	atExit.stop = nil
	return errs
}
