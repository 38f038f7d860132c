package fleet_test

import (
	"testing"

	"github.com/go-azsearch/azsearch/internal/fleetmodel"
	"pgregory.net/rapid"
)

// Random programs of indexes that sicken and heal; see fleetmodel.Run. "go run ./internal/soak fleet" runs more of them, and says whether
// they hold all that they may.
func TestRandomFleetsKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		_, err := fleetmodel.Run(t, func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "n") })
		if err != nil {
			r.Fatal(err)
		}
	})
}
