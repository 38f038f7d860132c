// Package outcomes tests the outcome of accepted documents: exactly one, truthful, in the order of the key, also if
// an action is folded, superseded, withdrawn or becomes a dead letter. The files peers_* test faults of other
// senders.
package outcomes

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
