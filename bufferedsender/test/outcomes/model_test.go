package outcomes

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// TestModel runs the model, see sendertest.RunModel: a few hundred programs, of which
// rapid makes the first that fails as small as it can. More of them takes
//
//	go run ./internal/soak sender -for 1h
func TestModel(t *testing.T) {
	for _, half := range []string{"one", "two"} { // a core each
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			sendertest.CheckModel(t)
		})
	}
}
