// Package adding tests adding calls: which options, types, keys and encodings they accept or refuse. While the buffer
// is full, a call waits, fails, or purges older documents, and memory stays bounded.
package adding

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
