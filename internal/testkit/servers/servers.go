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

// Required is the variable of the environment that turns a server which is not installed
// into a failure, if its value is "required".
const Required = "AZSEARCH_TEST_SERVERS"

// Main is testkit.Main for a package whose tests use servers: it ends the shared ones after
// the last test.
func Main(m *testing.M) {
	flag.Parse()
	// Tests that call Parallel here wait for leases and processes, and do not compute: more of them run than there are
	// cores, unless the command says how many.
	const together = "test.parallel"
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == together })
	if !said {
		if err := flag.Set(together, "8"); err != nil {
			panic(err) // the testing package has no such flag any more
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

// program returns the path of a program, or ends the test: skipped, or failed if servers
// are required.
func program(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, install)
	}
	long(t)
	return path
}

// long ends the test where tests must be short, unless servers are required, as they are under the race detector of CI.
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

// shared keeps a server that is started once for all tests of the process.
type shared[S any] struct {
	once  sync.Once
	value S
	err   error
}

var atExit struct {
	mu   sync.Mutex
	stop []func() error
}

// get starts the server if no test has before. A start that failed is not tried again: each
// test that asks fails with the reason.
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
