// Package outcomes tests what becomes of an accepted document: one truthful outcome, in the order of its key, also
// if it is folded, superseded, withdrawn or a dead letter. The files peers_* have what other senders get wrong.
package outcomes

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
