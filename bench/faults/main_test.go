package main

import (
	"os"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// TestMain lets the binary of the tests stand in for the command: rows and
// services are processes of the same program.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && (os.Args[1] == "serve" || os.Args[1] == "row") {
		main()
	}
	testkit.Main(m)
}
