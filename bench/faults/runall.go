package faults

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/child"
)

// rowTimeout ends a row that hangs. The limit of each row is far shorter.
const rowTimeout = 30 * time.Minute

// runAll runs each row in its own process, at most parallel at once, and returns the results in the order of the
// rows. It writes progress to stderr.
func runAll(ctx context.Context, s setting, chosen []row, parallel int, stderr io.Writer) ([]*result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]*result, len(chosen))
	slots := make(chan struct{}, parallel)
	var (
		group  sync.WaitGroup
		mu     sync.Mutex // guards failed and stderr
		failed error
	)
	for _, i := range longestFirst(chosen) {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			res := new(result)
			err := child.Run(ctx, rowTimeout, func(ctx context.Context) (*exec.Cmd, error) {
				return child.Task(ctx, "faults", "row", task{chosen[i].name, s.documents, s.seed, s.fast, s.inFlight, s.adaptive})
			}, res)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if failed == nil {
					failed = fmt.Errorf("row %s: %w", chosen[i].name, err)
				}
				cancel()
				return
			}
			results[i] = res
			fmt.Fprintf(stderr, "%-20s %6.1f s  %s\n", res.Row, res.Seconds, verdict(res))
		})
	}
	group.Wait()
	return results, failed
}

// longestFirst returns the indexes of the rows, longest expected duration first.
func longestFirst(chosen []row) []int {
	order := make([]int, len(chosen))
	for i := range order {
		order[i] = i
	}
	expected := func(r *row) time.Duration {
		switch r.name {
		case "hung":
			return 2 * time.Minute // RequestTimeout, twice
		}
		if n := len(r.phases); n > 0 {
			return max(r.phases[n-1].at, r.spread)
		}
		return r.spread
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(expected(&chosen[b]) - expected(&chosen[a])) })
	return order
}
