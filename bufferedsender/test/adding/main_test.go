// Package adding tests what a call that adds documents accepts and what it refuses: options, types, keys,
// encoding. While the buffer is full it waits, fails, or has older documents purged, and memory stays bounded.
package adding

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
