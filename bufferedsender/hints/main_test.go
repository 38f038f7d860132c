package hints

import (
	"os"
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// The test binary also runs as the second process of some tests.
func TestMain(m *testing.M) {
	if dir := os.Getenv(otherProcessDir); dir != "" {
		os.Exit(otherProcess(dir))
	}
	testkit.Main(m)
}
