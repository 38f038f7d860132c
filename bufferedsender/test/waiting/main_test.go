// Package waiting tests the calls that wait for documents: Flush, Close and IndexDocumentsAndWait. Callbacks that
// block, panic or end their goroutine keep none of them from its answer.
package waiting

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
