package faults

import (
	"testing"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// TestMain lets the binary of the tests stand in for the program: rows and
// services are processes of it.
func TestMain(m *testing.M) {
	cli.StandIn(Command)
	testkit.Main(m)
}
