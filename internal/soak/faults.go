package main

import (
	"context"
	"fmt"
	"os/exec"
)

// faults runs the fault matrix of bench/, which is another module.
var faults = soak{
	name:  "faults",
	about: "the fault matrix of bench/: every kind of trouble under load, with all times a tenth",
	rounds: commands{func(ctx context.Context, seed uint64) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, "go", "run", "./faults", "-fast", "-docs", "4000", "-seed", fmt.Sprint(seed))
		cmd.Dir = "bench"
		return cmd, nil
	}},
}
