// Package refusals tests which cause a refusal has: a document, a property that the index lacks, or the index. A
// document fails only for its own fault, and delays no others.
package refusals

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
