package main

import (
	"math/rand/v2"
	"testing"

	"github.com/go-azsearch/azsearch/internal/sendertest"
)

// queue runs the model of processes that share a durable queue: a round is a program of additions, kills, stops, closes
// and outages.
var queue = soak{
	name:  "queue",
	about: "random programs of processes that share a durable queue and are killed, stopped and closed",
	rounds: programs{
		once: func(t *testing.T, rnd *rand.Rand) ([]string, error) {
			return sendertest.RunQueueModel(t, rnd.IntN)
		},
		holds: sendertest.QueueModelHolds,
	},
}
