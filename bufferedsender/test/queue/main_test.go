// Package queue tests a sender that keeps its documents in a queue, alone or beside other processes. Lost leases,
// callers that leave, and a queue that does not answer lose nothing.
package queue

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
