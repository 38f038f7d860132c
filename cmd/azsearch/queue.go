package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
)

func newQueueCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "queue",
		Usage: "inspect and repair a durable queue",
		Description: `URL is the directory of a file queue, as a path or file:///PATH, or
redis://HOST:PORT/0?name=QUEUE, or rediss:// with TLS; for a Redis Cluster, any of its nodes.
stats, peek and parked read a snapshot of the directory while the program that owns it runs;
read access is enough. release, drop, pause and resume are carried out by that program if it
runs, so use its user account. drain and repair need exclusive access: stop the program first.
` + redisPassword + ` and ` + redisUser + ` keep a password out of the URL, which other users can see.

` + examples("queue", "stats DIR", "parked 'redis://localhost:6379/0?name=hotels'", "peek -limit 3 DIR"),
		OnUsageError: usageError,
		Action:       refuseArguments(cli.ShowSubcommandHelp),
		Commands: []*cli.Command{
			queueCommand(stdout, cli.Command{
				Name: "stats", Usage: "print the numbers of waiting, leased and parked keys, and counters of records",
				Description: examples("queue stats", "DIR", "'redis://localhost:6379/0?name=hotels'", "-json DIR | jq .waiting"),
			}, reading, queueStats),
			queueCommand(stdout, cli.Command{
				Name: "peek", Usage: "print keys in sending order, or the named KEYs", ArgsUsage: "URL [KEY...]",
				Description: examples("queue peek", "DIR", "-state leased -limit 100 DIR", "-bodies DIR 17 18"),
				Flags: append([]cli.Flag{
					&cli.StringSliceFlag{Name: "state", Usage: "print only keys in `STATE`: waiting, leased or parked"},
				}, listingFlags()...),
			}, reading, queuePeek),
			queueCommand(stdout, cli.Command{
				Name: "parked", Usage: "print parked keys and the reasons", ArgsUsage: "URL [KEY...]", Flags: listingFlags(),
				Description: examples("queue parked", "DIR", "-bodies -limit 100 DIR", "-json DIR | jq -r .key"),
			}, reading, func(ctx context.Context, c *queueCall) error { return c.list(ctx, queue.Parked) }),
			queueCommand(stdout, cli.Command{
				Name: "release", Usage: "unpark KEYs: their records are sent again, at their old places in the queue", ArgsUsage: "URL KEY... | URL -all -yes",
				Description: examples("queue release", "DIR 17", "DIR 17 18 19", "DIR -all -yes"),
				Flags:       allFlags(),
			}, changing, queueRelease),
			queueCommand(stdout, cli.Command{
				Name: "drop", Usage: "delete the parked records of KEYs permanently; later records of these keys are sent", ArgsUsage: "URL KEY... | URL -all -yes",
				Description: examples("queue drop", "DIR 17", "DIR 17 18 19", "DIR -all -yes"),
				Flags:       allFlags(),
			}, changing, queueDrop),
			queueCommand(stdout, cli.Command{
				Name: "pause", Usage: "stop all sending until resume; survives restarts",
				Description: examples("queue pause", "DIR", "-reason 'rebuild until 14:00' DIR", "'redis://localhost:6379/0?name=hotels'"),
				Flags:       []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`TEXT` shown by stats", Value: "azsearch queue pause"}},
			}, changing, queuePause),
			queueCommand(stdout, cli.Command{
				Name: "resume", Usage: "end a pause",
				Description: examples("queue resume", "DIR", "-json DIR", "'redis://localhost:6379/0?name=hotels'"),
			}, changing, queueResume),
			queueCommand(stdout, cli.Command{
				Name: "drain", Usage: "move all records to another queue, except those of keys with parked records",
				Description: `Each record is appended to the second queue before it is removed from the first. After Ctrl-C
or a crash, run the same command again; at worst some records are in both queues. Until it is
done, stop the senders of the first queue and add nothing to the second, or an old record may
follow a newer one. Adding to the first queue is allowed.

` + examples("queue drain", "DIR -to OTHER", "DIR -to 'redis://localhost:6379/0?name=hotels'", "-json DIR -to OTHER | jq .records"),
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "to", Usage: "move to the queue at `URL`, created if it does not exist"},
					&cli.StringFlag{Name: "to-name", Usage: "use the name `NAME` for the other queue, if it is on Redis and its URL has none"},
				},
			}, writing, queueDrain(stderr)),
			newRepairCommand(stdout),
		},
	}
}

func listingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "limit", Usage: "print at most `N` entries", Value: 20},
		&cli.BoolFlag{Name: "bodies", Usage: "print the documents, too"},
	}
}

func allFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "select all parked keys"},
		&cli.BoolFlag{Name: "yes", Usage: "confirm -all"},
	}
}

// queueCall is one run of a command.
type queueCall struct {
	*cli.Command
	place place
	began time.Time // a directory is read as of this time or slightly later
	q     operated  // an administered, unless a running program serves it
	keys  []string  // arguments after the URL
	out   listing.Printer
}

// examples returns the lines of a help text with the usual uses of a command.
func examples(command string, arguments ...string) string {
	for i, a := range arguments {
		arguments[i] = strings.TrimRight("   azsearch "+command+" "+a, " ")
	}
	return strings.Join(arguments, "\n")
}

// commonFlags returns the flags of all commands for a queue.
func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "name", Usage: "use the queue `NAME` on Redis, if the URL has no name"},
		&cli.BoolFlag{Name: "json", Usage: "print one line of JSON per result"},
	}
}

// queueCommand makes a command that opens the queue named by its first argument. An error after that has exit code
// 1.
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
			return fmt.Errorf("unknown argument %q (see %s -help)", shown(args[1]), cmd.FullName())
		}
		call := &queueCall{Command: cmd, began: time.Now(), keys: args[1:], out: listing.New(stdout, cmd.Bool("json"))}
		if err := call.check(); err != nil {
			return err
		}
		if call.place, err = parsePlace(args[0], cmd.String("name")); err != nil {
			return err
		}
		if call.q, err = call.place.operate(ctx, how); err != nil {
			return interrupted(ctx, err)
		}
		err = action(ctx, call)
		if closeErr := call.q.Close(); err == nil && closeErr != nil {
			err = failed(closeErr)
		}
		return interrupted(ctx, err)
	}
	return &c
}

// check returns all errors in the flags that several commands have.
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
			errs = append(errs, errors.New("name keys, or use -all"))
		}
	}
	if has("to") && c.String("to") == "" {
		errs = append(errs, errors.New("-to is missing: name the queue to move everything into"))
	}
	return errors.Join(errs...)
}
