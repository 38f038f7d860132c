package outcomes

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// TestModel runs some hundred programs of the model, see sendertest.RunModel; rapid shrinks the first failing one. To
// run more:
//
//	go run ./internal/soak sender -for 1h
func TestModel(t *testing.T) {
	for _, half := range []string{"one", "two"} { // one core each
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			sendertest.CheckModel(t)
		})
	}
}
