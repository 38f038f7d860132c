// Package queue tests a sender with a queue, alone or with other processes. Nothing is lost when leases expire,
// callers leave, or the queue does not reply.
package queue

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
