// Command durable shows that nothing which was added is lost, whatever dies: programs
// that add documents and send them, with a durable queue between, are killed and frozen at random, and at the end
// the index is compared with what adding calls had acknowledged.
//
//	go run ./samples/durable                     # a queue in a directory; its one process is started again half-way
//	go run ./samples/durable -kill               # the same, with kill -9 and a process that stops for a while
//	go run ./samples/durable -kill -redis redis://localhost:6379/0
//
// With -redis two processes only add and two only send, and the server keeps the queue. It
// needs Redis 7 with appendonly yes.
//
// Read worker.go first: it is what your program would have, which is a queue that is opened
// and handed to the sender, and nothing about crashes. ledger.go says what must be in the index; the other
// files start processes and end them. What to look at in the output: how many documents were sent, compared
// with how many were added. While a process is dead its keys go on changing, and only the last
// change of each is sent when it is back.
//
// One promise ends at the service, which knows no leases: with -redis, a process that is frozen at the very
// moment at which it writes a request may send it when it wakes, after a newer one of another process. The window is
// a few microseconds wide, and a later change of the key heals it.
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
)

// The exit codes, beside 0.
const (
	exitProblem = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	redis   string
	kill    bool
	lasts   time.Duration
	verbose bool
	job     job // of a worker, role "" in the process that starts them
}

func parseFlags(args []string, stdout io.Writer) (c config, err error) {
	set := flag.NewFlagSet("durable", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&c.redis, "redis", "", "keep the queue on the Redis server at `URL`, and have several processes (default: a temporary directory, and one)")
	set.BoolVar(&c.kill, "kill", false, "kill and freeze the processes at random")
	set.DurationVar(&c.lasts, "for", 15*time.Second, "add documents for this `DURATION`")
	set.BoolVar(&c.verbose, "v", false, "print what the senders log")
	set.StringVar(&c.job.role, "role", "", "of a process that this program has started: `ROLE` add, send or both")
	set.StringVar(&c.job.dir, "dir", "", "its `DIRECTORY`, with role both")
	set.StringVar(&c.job.name, "name", "", "the `NAME` of its queue")
	set.StringVar(&c.job.endpoint, "endpoint", "", "the `URL` of the service")
	set.IntVar(&c.job.adder, "adder", 0, "its number `N` among those that add")
	set.Int64Var(&c.job.next, "next", 1, "the number `N` of its first write")
	if err = set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			set.SetOutput(stdout)
			set.PrintDefaults()
		}
		return c, err
	}
	c.job.redis, c.job.kill, c.job.verbose = c.redis, c.kill, c.verbose
	var errs []error
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unknown argument %q", set.Arg(0)))
	}
	if c.lasts <= 0 {
		errs = append(errs, fmt.Errorf("-for %v is not positive", c.lasts))
	}
	if c.kill && !canFreeze {
		errs = append(errs, errors.New("-kill is not supported on this system: it needs the signals STOP and CONT"))
	}
	switch c.job.role {
	case "", "add", "send", "both":
	default:
		errs = append(errs, fmt.Errorf("-role %q is unknown", c.job.role))
	}
	return c, errors.Join(errs...)
}

// run is the program: the one that somebody starts, and those that it starts itself.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return complain(stderr, err, exitUsage)
	case c.job.role != "":
		err = c.job.work(context.WithoutCancel(ctx), stdin, stdout) // Ctrl-C is for the one that has started it
	default:
		err = story(ctx, &c, stdout, stderr)
	}
	if err != nil {
		return complain(stderr, err, exitProblem)
	}
	return 0
}

func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "durable: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}
