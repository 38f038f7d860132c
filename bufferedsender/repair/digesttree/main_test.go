package digesttree

import (
	"os"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// The test binary is also the other process of the tests that need one.
func TestMain(m *testing.M) {
	if dir := os.Getenv(otherProcessDir); dir != "" {
		os.Exit(otherProcess(dir))
	}
	testkit.Main(m)
}
