package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
)

// progress prints line() repeatedly until stop is called: on a terminal five times a second in one redrawn line,
// otherwise every ten seconds in a new one. stop waits for the last write.
func progress(to terminal.Terminal, quiet bool, line func() string) (stop func()) {
	if quiet {
		return func() {}
	}
	every, shown := 10*time.Second, func(line string) string { return "azsearch: " + line + "\n" }
	if to.Live {
		every, shown = 200*time.Millisecond, terminal.Redrawn
	}
	done := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fmt.Fprint(to, shown(line()))
			case <-done:
				if to.Live {
					fmt.Fprint(to, terminal.Erased)
				}
				return
			}
		}
	})
	return func() {
		close(done)
		showing.Wait()
	}
}

// share formats the progress of done documents out of total: percentage, rate and remaining time. If total is 0, it
// formats the number and the rate only. what is the verb, such as "copied".
func share(done, total int64, what string, began time.Time) string {
	seconds := max(time.Since(began).Seconds(), 1e-3)
	line := fmt.Sprintf("%s %s  %s/s", amount.Of(done, "document"), what, humanize.Comma(int64(float64(done)/seconds)))
	if total > 0 && done > 0 {
		part := min(float64(done)/float64(total), 1)
		line = fmt.Sprintf("%3.0f%%  %s  ETA %s", 100*part, line, time.Duration((1-part)/part*seconds*float64(time.Second)).Round(time.Second))
	}
	return line
}
