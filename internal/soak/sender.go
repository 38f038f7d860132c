package main

import (
	"math/rand/v2"
	"testing"

	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// sender runs the model of the buffered sender: a round is a program of callers, options, faults and deadlines.
var sender = soak{
	name:  "sender",
	about: "random programs against the buffered sender, compared with a naive model",
	rounds: programs{
		once: func(t *testing.T, rnd *rand.Rand) ([]string, error) {
			return sendertest.RunModel(t, rnd.IntN, nil)
		},
		holds: sendertest.ModelHolds,
	},
}
