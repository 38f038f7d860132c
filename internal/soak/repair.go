package main

import (
	"context"
	"fmt"
	"os/exec"
)

// repairs runs writers during a repair in simulated time, and kills of a repairing process: a round is two thousand
// schedules.
var repairs = soak{
	name:  "repair",
	about: "random writers and changes of the index during passes of a repair, and a repair whose process is killed",
	rounds: commands{func(ctx context.Context, seed uint64) (*exec.Cmd, error) {
		return goTest(ctx, []string{fmt.Sprintf("AZSEARCH_TEST_SEED=%d", seed*2000)}, "-count=1", "-timeout=30m", "-run=RandomWriters|KilledProcess", "./bufferedsender/repair"), nil
	}},
}
