// Package batching tests when requests are sent and their content: limits, intervals, splits, tuning, and settings
// that change at run time. Classes, and the slots of a pool, determine the order.
package batching

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
