// Command outbox shows a transactional outbox at work: programs book and cancel rooms of hotels in a
// database, and a search index follows. Some of their transactions commit, some roll back, and some end with
// their connection, in the middle. In the end the index is compared with the table, key by key.
//
//	go run ./samples/outbox                      # SQLite in a temporary file: nothing to install
//	go run ./samples/outbox -kill                # all are processes of their own, and kill -9 ends them at random
//	go run ./samples/outbox -kill -dsn postgres://localhost/postgres
//
// What your program would have is in three files, to be read in this order: booking.go is the transaction,
// database.go has the tables, relay.go sends. The others start writers and relays, end them, and compare. With
// -dsn everything is in a schema of its own, which is dropped at the end.
//
// What to look at in the output: nothing that was rolled back was ever in the index, not even for a
// moment; and relays send less than was committed, because what changes often is folded. With -kill the keys of a relay that
// was killed wait until its leases have run out, here for nine seconds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/plain"
)

// The exit codes, beside 0.
const (
	exitProblem = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	dsn     string
	kill    bool
	lasts   time.Duration
	verbose bool
	job     job // of a worker, role "" in the process that starts them
}

func parseFlags(args []string, stdout io.Writer) (c config, err error) {
	set := flag.NewFlagSet("outbox", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&c.dsn, "dsn", "", "use the PostgreSQL database at this `URL` (default: SQLite, in a temporary file)")
	set.BoolVar(&c.kill, "kill", false, "have a process for each writer and relay, and kill them at random")
	set.DurationVar(&c.lasts, "for", 0, "write for this `DURATION` (default 15s with -kill, else 5s)")
	set.BoolVar(&c.verbose, "v", false, "print what relays and senders log")
	set.StringVar(&c.job.role, "role", "", "of a process that this program has started: `ROLE` write or relay")
	set.StringVar(&c.job.at.file, "file", "", "its database, the `FILE` of SQLite")
	set.StringVar(&c.job.at.schema, "schema", "", "or the `SCHEMA` of PostgreSQL")
	set.StringVar(&c.job.endpoint, "endpoint", "", "the `URL` of the service")
	if err = set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			set.SetOutput(stdout)
			set.PrintDefaults()
		}
		return c, err
	}
	c.job.at.dsn, c.job.verbose = c.dsn, c.verbose
	given := false
	set.Visit(func(f *flag.Flag) { given = given || f.Name == "for" })
	if !given {
		c.lasts = 5 * time.Second
		if c.kill {
			c.lasts = 15 * time.Second
		}
	}
	var errs []error
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unknown argument %q", set.Arg(0)))
	}
	if c.lasts <= 0 {
		errs = append(errs, fmt.Errorf("-for %v is not positive", c.lasts))
	}
	switch c.job.role {
	case "", roleWrite, roleRelay:
	default:
		errs = append(errs, fmt.Errorf("-role %q is unknown", c.job.role))
	}
	return c, errors.Join(errs...)
}

// run is the program: the one that somebody starts, and those that it starts itself. The end of ctx is Ctrl-C,
// which ends the writing early: what was written is sent, and compared.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return complain(stderr, err, exitUsage)
	case c.job.role != "":
		c.job.log = stderr
		err = c.job.work(context.WithoutCancel(ctx), stdin, stdout) // Ctrl-C is for the one that has started it
	default:
		err = tell(ctx, &c, stdout, stderr)
	}
	if err != nil {
		return complain(stderr, err, exitProblem)
	}
	return 0
}

// complain prints what is wrong on one line. Servers may have said it, so it commands no terminal.
func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "outbox: %s\n", plain.Line(err.Error()))
	return code
}

// shorten makes a list of problems fit to be read.
func shorten(problems []string) string {
	const most = 10
	if len(problems) > most {
		problems = append(problems[:most:most], "…")
	}
	return strings.Join(problems, "; ")
}
