package faults

import (
	"testing"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// TestMain lets the test binary act as the program, because rows and services are its processes.
func TestMain(m *testing.M) {
	cli.StandIn(Command)
	testkit.Main(m)
}
