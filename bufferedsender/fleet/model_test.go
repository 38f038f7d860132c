package fleet_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-azsearch/azsearch/internal/fleetmodel"
	"github.com/stretchr/testify/require"
)

// Random programs of indexes that sicken and heal; see fleetmodel.Run. "go run ./internal/soak fleet" runs more of
// them, or one of these seeds again. They are not made smaller when one fails: what goroutines do at one and the same
// moment is not in the seed.
func TestRandomFleetsKeepTheirPromises(t *testing.T) {
	held := map[string]int{}
	programs := 400
	if testing.Short() { // as under the detector
		programs = 40
	}
	for seed := range uint64(programs) {
		what, err := fleetmodel.Run(t, rand.New(rand.NewPCG(seed, 0)).IntN)
		require.NoError(t, err, "seed %d", seed)
		for _, w := range what {
			held[w]++
		}
	}
	for _, what := range fleetmodel.Holds() {
		require.True(t, held[what] > 0 || testing.Short(), "no program held: %s; %v", what, held)
	}
}
