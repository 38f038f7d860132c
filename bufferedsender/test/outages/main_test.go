// Package outages tests what a sender does while its service or index is busy, broken or away: retries, pauses,
// the breaker. Nothing is lost, and sending goes on soon after it is over.
package outages

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
