package main

import (
	"context"
	"fmt"
	"os/exec"
)

// rebuilds runs writers, rebuilds and faults in simulated time, and kills of processes. A round is a thousand
// schedules, the number from which the test requires every feature of modelHolds, such as a Run killed at each step.
var rebuilds = soak{
	name:  "rebuild",
	about: "random writers, rebuilds that are killed, stopped and aborted, and a store and a service that fail, and processes that are killed",
	rounds: commands{func(ctx context.Context, seed uint64) (*exec.Cmd, error) {
		return goTest(ctx, []string{fmt.Sprint("RAPID_SEED=", seed)}, "-count=1", "-v", "-timeout=20m", "-run=RandomSchedules|KilledAgainAndAgain", "./search/rebuild", "-rapid.checks=1000"), nil
	}},
}
