// Package waiting tests the calls that wait for documents: Flush, Close and IndexDocumentsAndWait. They return also
// if callbacks block, panic or end their goroutine.
package waiting

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
