package main

import (
	"context"
	"fmt"
	"os/exec"
)

// outbox runs the model of the outbox, and longer than go test the writers on a real server: a round is 500 schedules,
// ten seconds of writers, and the buckets of 100 000 keys. It needs PostgreSQL, see internal/testkit/servers.
var outbox = soak{
	name:  "outbox",
	about: "random schedules of writers, relays, crashes and faults on SQLite, and twenty writers on PostgreSQL",
	rounds: commands{func(ctx context.Context, seed uint64) (*exec.Cmd, error) {
		return goTest(ctx, []string{fmt.Sprintf("AZSEARCH_TEST_SEED=%d", seed*500), "AZSEARCH_TEST_SCHEDULES=500",
			"AZSEARCH_TEST_STRESS=10s", "AZSEARCH_TEST_SERVERS=required"}, "-count=1", "-v", "-timeout=30m", "-run=RandomSchedules|TwentyWriters|BucketOfAKey", "./bufferedsender/outbox"), nil
	}},
}
