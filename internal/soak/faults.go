package main

import (
	"context"
	"fmt"
	"os/exec"
)

// faults runs the fault matrix of bench/, which is another module.
var faults = soak{
	name:  "faults",
	about: "the fault matrix of bench/: every kind of trouble under load, with all times a tenth; odd seeds with eight requests in flight",
	rounds: commands{func(ctx context.Context, seed uint64) (*exec.Cmd, error) {
		flags := []string{"run", ".", "faults", "-fast", "-docs", "4000", "-seed", fmt.Sprint(seed)}
		if seed%2 == 1 {
			flags = append(flags, "-in-flight", "8")
		}
		cmd := exec.CommandContext(ctx, "go", flags...)
		cmd.Dir = "bench"
		return cmd, nil
	}},
}
