package main

import (
	"math/rand/v2"
	"testing"

	"github.com/go-azsearch/azsearch/internal/queuefiles"
)

// files runs programs on the real files of a queue. Programs with a full disk run only as root.
var files = soak{
	name:  "files",
	about: "random programs on the files of a queue: closed, killed, compacted and on a full disk, compared with a model",
	rounds: programs{
		once: func(_ *testing.T, rnd *rand.Rand) ([]string, error) {
			return queuefiles.Run(rnd, queuefiles.Options{})
		},
		holds:     queuefiles.Holds,
		blindFrom: 1000,
	},
}
