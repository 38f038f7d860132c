// Command rebuild shows how an index gets another analyzer, which the service does not change in place, while programs write
// five thousand documents a second and readers search.
//
//	go run ./samples/rebuild           # needs nothing: SQLite in a temporary file, and the service is emulated
//	go run ./samples/rebuild -v        # with what rebuild logs
//
// What your program would have is in table.go: the truth that the new index is filled with, and a writer with a tap. story.go has the
// rebuild, the writers, and a reader that looks every 10 ms whether anything has vanished. At the end it compares the new index with
// the table, and exits with 1 if they differ.
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

// run is the program. The end of ctx is Ctrl-C.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("rebuild", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	verbose := set.Bool("v", false, "print what rebuild logs")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		set.SetOutput(stdout)
		set.PrintDefaults()
		return 0
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", set.Arg(0))
	}
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	logs := io.Discard
	if *verbose {
		logs = stderr
	}
	err = tell(ctx, stdout, logs)
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
	fmt.Fprintf(stderr, "rebuild: %s\n", plain.Line(err.Error()))
	return code
}
