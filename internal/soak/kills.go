package main

import (
	"context"
	"os/exec"

	"github.com/go-azsearch/azsearch/internal/queuekill"
)

// kills runs the tests that kill processes with a durable queue, with ten times as many kills as in CI. It needs
// redis-server, see internal/testkit/servers.
var kills = soak{
	name:  "kills",
	about: "processes that use a queue, in a directory and in Redis, are killed two hundred times each",
	rounds: commands{func(ctx context.Context, _ uint64) (*exec.Cmd, error) {
		return goTest(ctx, []string{queuekill.Env + "=200"}, "-count=1", "-run=Killed", "-v",
			"./bufferedsender/queue/filequeue", "./bufferedsender/queue/redisqueue", "./samples/durable"), nil
	}},
}
