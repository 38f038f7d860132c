// Package telemetry tests what a sender says of itself: metrics, spans, statistics, health, logs. Each number
// moves when its thing happens and at no other time, and TELEMETRY.md names them all.
package telemetry

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
