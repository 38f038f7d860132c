package main

import (
	"context"
	"fmt"
	"os/exec"
)

// rebuilds runs writers, rebuilds and what may happen to them in simulated time, and kills of processes: a round is a
// thousand schedules, which is as many as the test wants to have held everything, such as a Run that was killed at
// each step: see modelHolds.
var rebuilds = soak{
	name:  "rebuild",
	about: "random writers, rebuilds that are killed, stopped and aborted, and a store and a service that fail, and processes that are killed",
	rounds: commands{func(ctx context.Context, seed uint64) (*exec.Cmd, error) {
		return goTest(ctx, []string{fmt.Sprint("RAPID_SEED=", seed)}, "-count=1", "-v", "-timeout=20m", "-run=RandomSchedules|KilledAgainAndAgain", "./search/rebuild", "-rapid.checks=1000"), nil
	}},
}
