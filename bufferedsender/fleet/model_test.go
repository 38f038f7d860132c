package fleet_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/fleetmodel"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// Random programs of failing and recovering indexes; see fleetmodel.Run. "go run ./internal/soak fleet" runs more of
// them, or one of these seeds again. Failures are not shrunk, because the seed does not fix the order of concurrent
// goroutines.
func TestRandomFleetsKeepTheirPromises(t *testing.T) {
	held := map[string]int{}
	const enough = 400 // for each of Holds
	programs := testkit.Cases(30, 120, enough)
	for seed := range uint64(programs) {
		what, err := fleetmodel.Run(t, rand.New(rand.NewPCG(seed, 0)).IntN)
		require.NoError(t, err, "seed %d", seed)
		for _, w := range what {
			held[w]++
		}
	}
	for _, what := range fleetmodel.Holds() {
		require.True(t, held[what] > 0 || programs < enough, "no program held: %s; %v", what, held)
	}
}
