package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// runAll runs each row in a process of its own, at most parallel at once, and
// returns the results in the order of the rows. Progress goes to stderr.
func runAll(ctx context.Context, s setting, chosen []row, parallel int, stderr io.Writer) ([]*result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
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
			res, err := runProcess(ctx, program, task{chosen[i].name, s.documents, s.seed, s.fast, s.inFlight, s.adaptive})
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

// longestFirst returns the places of the rows so that those which take longest
// begin first.
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

// runProcess runs one row in another process.
func runProcess(ctx context.Context, program string, t task) (*result, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "row", string(text))
	var stdout, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &messages
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(messages.Bytes()))
	}
	res := new(result)
	if err := json.Unmarshal(stdout.Bytes(), res); err != nil {
		return nil, fmt.Errorf("its result: %w", err)
	}
	return res, nil
}
