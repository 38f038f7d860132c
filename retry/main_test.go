package retry_test

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// The tests of Error use real servers, whose goroutines must end.
func TestMain(m *testing.M) { testkit.Main(m) }
