// Package telemetry tests metrics, spans, statistics, health and logs of a sender. Each number changes exactly when
// its event happens, and TELEMETRY.md lists all of them.
package telemetry

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
