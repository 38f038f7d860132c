package test

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// TestModel runs the model: see sendertest.RunModel.
//
// CI runs 10,000 schedules on each of two cores; for a soak use, for example,
//
//	go test ./bufferedsender/test -run TestModel -rapid.checks=500000 -timeout 0
func TestModel(t *testing.T) {
	for _, half := range []string{"one", "two"} { // a core each
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			sendertest.CheckModel(t)
		})
	}
}
