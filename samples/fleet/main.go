// Command fleet keeps forty indexes of one service up to date with one fleet, and shows
// what they do to each other while things go wrong: next to nothing.
//
//	go run ./samples/fleet
//
// The index "products" gets live updates in the class Expedited and, in the second half, a
// backfill in BestEffort; the other indexes get a steady trickle. Meanwhile one index answers 503 for a
// while, and one is deleted. The service is emulated, and takes 25 ms for a request; a live update waits
// 50 ms at the most for others to share its request.
//
// Read indexes.go first: it is what your program would have. ledger.go notes what was accepted
// and what became of it, verify.go compares that with the indexes at the end, and the other files play the
// world around it. The exit code is 1 unless every accepted document has exactly one outcome, every one that
// was completed is in its index, and every one that was not is of the index that was deleted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// The exit codes, beside 0.
const (
	exitProblem = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	lasts   time.Duration
	verbose bool
}

func parseFlags(args []string, stdout io.Writer) (c config, err error) {
	set := flag.NewFlagSet("fleet", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.DurationVar(&c.lasts, "for", 6*time.Second, "write for this `DURATION`, half of it without the backfill")
	set.BoolVar(&c.verbose, "v", false, "log what the fleet and its senders log, on stderr")
	err = set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		set.SetOutput(stdout)
		set.PrintDefaults()
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", set.Arg(0))
	case err == nil && c.lasts < time.Second:
		err = fmt.Errorf("-for %v is less than a second, in which not much happens", c.lasts)
	}
	return c, err
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return complain(stderr, err, exitUsage)
	}
	logger := slog.New(slog.DiscardHandler)
	if c.verbose {
		logger = slog.New(slog.NewTextHandler(stderr, nil))
	}
	if err := play(ctx, c, logger, stdout); err != nil {
		return complain(stderr, err, exitProblem)
	}
	return 0
}

func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "fleet: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}
