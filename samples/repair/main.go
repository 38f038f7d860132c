// Command repair shows how an index is made like its table again, whatever has happened to it, while an application writes at
// full speed.
//
//	go run ./samples/repair            # needs nothing: SQLite in a temporary file, and the service is emulated
//	go run ./samples/repair -for 60s
//
// What your program would have is in table.go: the table as a source, and the index as rows. story.go has the application, somebody who
// deletes, spoils and invents documents behind everybody's back, and the repair beside them. At the end it compares index and
// table, and exits with 1 if they differ.
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
	"time"

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
	set := flag.NewFlagSet("repair", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	length := set.Duration("for", 6*time.Second, "let all write for so `long`")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		set.SetOutput(stdout)
		set.PrintDefaults()
		return 0
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", set.Arg(0))
	case err == nil && *length <= 0:
		err = fmt.Errorf("-for %v is not positive", *length)
	}
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	err = tell(ctx, *length, stdout)
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
	fmt.Fprintf(stderr, "repair: %s\n", plain.Line(err.Error()))
	return code
}
