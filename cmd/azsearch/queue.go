package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
)

func newQueueCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "queue",
		Usage: "look into the durable queue of a sender, and mend what is stuck in it",
		Description: `URL is the directory of a file queue, as a path or file:///PATH, or
redis://HOST:PORT/0?name=QUEUE, or rediss:// with TLS; a Redis Cluster by any of its nodes.
stats, peek and parked read a directory while its program runs, as of the moment
of the command, and need no right to write. release, drop, pause and resume have that
program do it, so they need its user. drain and repair need the directory for
themselves: stop the program first.`,
		OnUsageError: usageError,
		Action:       refuseArguments(cli.ShowSubcommandHelp),
		Commands: []*cli.Command{
			queueCommand(stdout, cli.Command{
				Name: "stats", Usage: "print how much is in the queue, and what has become of the rest",
			}, reading, queueStats),
			queueCommand(stdout, cli.Command{
				Name: "peek", Usage: "print keys in the order in which they are sent, or the KEYs", ArgsUsage: "URL [KEY...]",
				Flags: append([]cli.Flag{
					&cli.StringSliceFlag{Name: "state", Usage: "print keys that are in `STATE` only: waiting, leased or parked"},
				}, listingFlags()...),
			}, reading, queuePeek),
			queueCommand(stdout, cli.Command{
				Name: "parked", Usage: "print the keys that are parked, and why", ArgsUsage: "URL [KEY...]", Flags: listingFlags(),
			}, reading, func(ctx context.Context, c *queueCall) error { return c.list(ctx, queue.Parked) }),
			queueCommand(stdout, cli.Command{
				Name: "release", Usage: "make parked KEYs wait again, to be sent at their old places", ArgsUsage: "URL KEY... | URL --all --yes",
				Flags: allFlags(),
			}, changing, queueRelease),
			queueCommand(stdout, cli.Command{
				Name: "drop", Usage: "remove the parked records of KEYs for good; what waits behind them is sent then", ArgsUsage: "URL KEY... | URL --all --yes",
				Flags: allFlags(),
			}, changing, queueDrop),
			queueCommand(stdout, cli.Command{
				Name: "pause", Usage: "let no process reserve anything until resume, also after a restart",
				Flags: []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`TEXT` for whoever wonders", Value: "azsearch queue pause"}},
			}, changing, queuePause),
			queueCommand(stdout, cli.Command{Name: "resume", Usage: "end a pause"}, changing, queueResume),
			queueCommand(stdout, cli.Command{
				Name: "drain", Usage: "move everything but what is parked into another queue",
				Description: `Each record is appended to the second queue before it is removed from the first one:
after Ctrl-C or a crash run the same command again, at worst some records are in both.
Stop adding to the first queue or let it go on, but add nothing to the second one and
stop the senders of the first one until it is done, or an old record may come after a newer one.`,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "to", Usage: "the `URL` of the other queue, which is made if it does not exist"},
					&cli.StringFlag{Name: "to-name", Usage: "the `NAME` of the other queue, if it is on Redis and its URL has none"},
				},
			}, writing, queueDrain(stderr)),
			newRepairCommand(stdout),
		},
	}
}

func listingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "limit", Usage: "print `N` keys at the most", Value: 20},
		&cli.BoolFlag{Name: "bodies", Usage: "print the documents as well"},
	}
}

func allFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "all keys that are parked"},
		&cli.BoolFlag{Name: "yes", Usage: "do it for all keys without a question"},
	}
}

// queueCall is one command at work.
type queueCall struct {
	*cli.Command
	place place
	began time.Time // what is read of a directory is as of then, or a little later
	q     operated  // administered, unless it is for changing
	keys  []string  // arguments behind the URL
	out   listing.Printer
}

// commonFlags are those of all commands about a queue.
func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "name", Usage: "the `NAME` of the queue, if it is on Redis and the URL has none"},
		&cli.BoolFlag{Name: "json", Usage: "print JSON, one line for each result"},
	}
}

// queueCommand makes a command that opens the queue of its first argument. What goes wrong
// after that had started.
func queueCommand(stdout io.Writer, c cli.Command, how access, action func(context.Context, *queueCall) error) *cli.Command {
	takesKeys := c.ArgsUsage != ""
	if !takesKeys {
		c.ArgsUsage = "URL"
	}
	c.OnUsageError = usageError
	c.Flags = append(c.Flags, commonFlags()...)
	c.Action = func(ctx context.Context, cmd *cli.Command) (err error) {
		args := cmd.Args().Slice()
		switch {
		case len(args) == 0:
			return fmt.Errorf("the queue is missing: name its directory or its redis:// URL (see %s -help)", cmd.FullName())
		case len(args) > 1 && !takesKeys:
			return fmt.Errorf("unknown argument %q (see %s -help)", args[1], cmd.FullName())
		}
		call := &queueCall{Command: cmd, began: time.Now(), keys: args[1:], out: listing.New(stdout, cmd.Bool("json"))}
		if err := call.check(); err != nil {
			return err
		}
		if call.place, err = parsePlace(args[0], cmd.String("name")); err != nil {
			return err
		}
		if call.q, err = call.place.operate(ctx, how); err != nil {
			return err
		}
		err = action(ctx, call)
		if closeErr := call.q.Close(); err == nil && closeErr != nil {
			err = failed(closeErr)
		}
		return err
	}
	return &c
}

// check reports what is wrong with the flags that several commands have.
func (c *queueCall) check() error {
	var errs []error
	for _, key := range c.keys {
		if key == "" {
			errs = append(errs, errors.New("a key is empty"))
		}
	}
	has := func(flag string) bool {
		for _, f := range c.Flags {
			if f.Names()[0] == flag {
				return true
			}
		}
		return false
	}
	if has("limit") && c.Int("limit") < 1 {
		errs = append(errs, fmt.Errorf("-limit %d: at least one key must be printed", c.Int("limit")))
	}
	if has("all") {
		switch all := c.Bool("all"); {
		case all && len(c.keys) > 0:
			errs = append(errs, errors.New("-all and keys cannot be used together"))
		case !all && len(c.keys) == 0:
			errs = append(errs, errors.New("name the keys, or -all"))
		}
	}
	if has("to") && c.String("to") == "" {
		errs = append(errs, errors.New("-to is missing: name the queue to move everything into"))
	}
	return errors.Join(errs...)
}
