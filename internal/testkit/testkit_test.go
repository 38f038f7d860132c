package testkit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

// tests stands for a *testing.M.
type tests func() int

func (f tests) Run() int { return f() }

func TestGoroutineLeftBehindFailsThePackage(t *testing.T) {
	stop, ended := make(chan struct{}), make(chan struct{})
	code := Run(tests(func() int {
		go func() { <-stop; close(ended) }()
		return 0
	}))
	close(stop)
	<-ended
	require.Equal(t, 1, code)
}

func TestFailedTestsKeepTheirExitCode(t *testing.T) {
	require.Equal(t, 2, Run(tests(func() int { return 2 })))
}
