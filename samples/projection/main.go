// Command projection shows how a search index follows a join: hotels, their rooms and their reviews are three
// tables of a database, and one document. Whatever changes in one of the tables, the document is made again.
//
//	go run ./samples/projection              # needs nothing: SQLite in a temporary file, and the service is emulated
//	go run ./samples/projection -hotels 5000
//
// What your program would have is in two files. tables.go has triggers, which write down the key of the hotel
// that a change is about, in the transaction that changes it; loader.go reads the hotels of many such keys at once.
// story.go makes changes and prints the documents; truth.go checks each time that the index says what the tables say.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-azsearch/azsearch/samples/internal/plain"
)

// The exit codes, beside 0.
const (
	exitProblem     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	hotels  int
	verbose bool
}

// The story needs the fewest; with the most the program takes a minute.
const leastHotels, mostHotels = 10, 50_000

func parseFlags(args []string, stdout io.Writer) (c config, err error) {
	set := flag.NewFlagSet("projection", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.IntVar(&c.hotels, "hotels", 500, "fill the tables with `N` hotels")
	set.BoolVar(&c.verbose, "v", false, "print what relay and sender log")
	if err = set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			set.SetOutput(stdout)
			set.PrintDefaults()
		}
		return c, err
	}
	var errs []error
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unknown argument %q", set.Arg(0)))
	}
	if c.hotels < leastHotels || c.hotels > mostHotels {
		errs = append(errs, fmt.Errorf("-hotels %d is not between %d and %d", c.hotels, leastHotels, mostHotels))
	}
	return c, errors.Join(errs...)
}

// run is the program. The end of ctx is Ctrl-C.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return complain(stderr, err, exitUsage)
	}
	err = tell(ctx, c, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case err != nil:
		return complain(stderr, err, exitProblem)
	}
	return 0
}

// complain prints what is wrong on one line.
func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "projection: %s\n", plain.Line(err.Error()))
	return code
}
