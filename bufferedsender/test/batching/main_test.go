// Package batching tests when a request leaves and what it carries: limits, intervals, splits, tuning, and
// settings that change meanwhile. Classes, and the slots of a pool, decide who is next.
package batching

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
