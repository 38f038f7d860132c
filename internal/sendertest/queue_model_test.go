package sendertest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// TestProcessesThatShareAQueueLoseNothing runs random programs of processes that are killed, stopped, closed and
// replaced; see sendertest.RunQueueModel. "go run ./internal/soak queue" runs more of them.
func TestProcessesThatShareAQueueLoseNothing(t *testing.T) {
	held := map[string]int{}
	programs := 60
	if testing.Short() { // as under the race detector
		programs = 30
	}
	for seed := range uint64(programs) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		what, err := sendertest.RunQueueModel(t, rnd.IntN)
		require.NoError(t, err, "seed %d", seed)
		for _, w := range what {
			held[w]++
		}
	}
	for _, what := range sendertest.QueueModelHolds() {
		require.True(t, held[what] > 0 || testing.Short(), "no program held a %s: %v", what, held)
	}
}
