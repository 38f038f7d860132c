package retry_test

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// The tests of Error talk to real servers, whose goroutines must end.
func TestMain(m *testing.M) { testkit.Main(m) }
