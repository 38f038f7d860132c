package main

import (
	"math/rand/v2"
	"testing"

	"github.com/go-azsearch/azsearch/internal/fleetmodel"
)

// fleets runs the model of a fleet: a round is a program of additions, outages, pauses, purges, drops and changed
// settings.
var fleets = soak{
	name:  "fleet",
	about: "random programs against a fleet of senders over indexes that sicken and heal",
	rounds: programs{
		once: func(t *testing.T, rnd *rand.Rand) ([]string, error) {
			return fleetmodel.Run(t, rnd.IntN)
		},
		holds: fleetmodel.Holds,
	},
}
