// Package refusals tests what is blamed when the service refuses: a document, a property that the index lacks, or
// the index. A document fails for its own fault only, and holds up no others.
package refusals

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
