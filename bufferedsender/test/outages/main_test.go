// Package outages tests a sender while its service or index is busy, failing or unreachable: retries, pauses, the
// breaker. Nothing is lost, and sending resumes soon after the fault ends.
package outages

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
