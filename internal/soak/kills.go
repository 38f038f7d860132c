package main

import (
	"context"
	"os/exec"

	"github.com/go-azsearch/azsearch/internal/queuekill"
)

// kills runs the tests that kill processes, with ten times as many kills as in CI: of a durable queue, and of azsearch
// load, backup and restore, whose tests print how much was done again. It needs redis-server, see
// internal/testkit/servers.
var kills = soak{
	name:  "kills",
	about: "processes that use a queue, in a directory and in Redis, are killed two hundred times each; azsearch load, backup and restore fifty times",
	rounds: commands{func(ctx context.Context, _ uint64) (*exec.Cmd, error) {
		return goTest(ctx, []string{queuekill.Env + "=200"}, "-count=1", "-run=Killed", "-v", "-timeout=1h",
			"./cmd/azsearch", "./bufferedsender/queue/filequeue", "./bufferedsender/queue/redisqueue", "./samples/durable"), nil
	}},
}
