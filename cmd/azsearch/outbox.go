package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/table"
)

func newOutboxCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "outbox",
		Usage: "inspect the outbox of a database, pause its relays, and resolve its dead letters",
		Description: `URL is ` + database.Forms + `, with ?name=QUEUE for the
queue, and &prefix=PREFIX if the table names do not begin with azsearch_outbox. Set PGPASSWORD or use
~/.pgpass to keep a password out of the process list.

` + examples("outbox", "lag URL", "check URL", "retry URL 17"),
		OnUsageError: usageError,
		Action:       refuseArguments(cli.ShowSubcommandHelp),
		Commands: []*cli.Command{
			outboxCommand(stdout, cli.Command{Name: "check", Usage: "check that the tables have the schema that relays need", ArgsUsage: "URL"},
				"URL", "'URL?prefix=search.outbox'", "URL -json", 0, outboxCheck),
			outboxCommand(stdout, cli.Command{Name: "lag", Usage: "print the number of waiting rows, the age of the oldest, and the number of dead letters", ArgsUsage: "URL"},
				"URL", "-name hotels URL", "-json URL | jq .oldestSeconds", 0, outboxLag),
			outboxCommand(stdout, cli.Command{Name: "pause", Usage: "stop relays from reading rows until resume; rows in flight are still sent", ArgsUsage: "URL"},
				"URL", "-name hotels URL", "-json URL", 0, outboxPause),
			outboxCommand(stdout, cli.Command{Name: "resume", Usage: "end a pause", ArgsUsage: "URL"},
				"URL", "-name hotels URL", "-json URL", 0, outboxResume),
			outboxCommand(stdout, cli.Command{
				Name: "letters", Usage: "print dead letters and the reasons for them", ArgsUsage: "URL", Flags: listingFlags(),
			}, "URL", "-limit 100 -bodies URL", "-json URL | jq -r .key", 0, outboxLetters),
			outboxCommand(stdout, cli.Command{
				Name: "retry", Usage: "turn dead letters back into rows, unless their keys have newer rows", ArgsUsage: "URL NUMBER... | URL -all -yes", Flags: allLettersFlags(),
			}, "URL 17", "URL 17 18 19", "URL -all -yes", 1, outboxRetry),
			outboxCommand(stdout, cli.Command{
				Name: "discard", Usage: "delete dead letters permanently", ArgsUsage: "URL NUMBER... | URL -all -yes", Flags: allLettersFlags(),
			}, "URL 17", "URL 17 18 19", "URL -all -yes", 1, outboxDiscard),
		},
	}
}

func allLettersFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "select all dead letters of the queue"},
		&cli.BoolFlag{Name: "yes", Usage: "confirm -all"},
	}
}

var errNoOutbox = errors.New("the name of the queue is missing: end the URL with ?name=QUEUE, or use -name")

// outboxCall is one run of a command.
type outboxCall struct {
	*cli.Command
	place   database.Place
	db      *sql.DB
	table   *outbox.Table
	numbers []int64 // of dead letters
	stdout  io.Writer
	out     listing.Printer
}

// outboxCommand makes a command for an outbox, with three examples. If numbers is 1, the command takes numbers of
// dead letters or -all. An error after the database is open has exit code 1.
func outboxCommand(stdout io.Writer, c cli.Command, first, second, third string, numbers int, action func(context.Context, *outboxCall) error) *cli.Command {
	c.Description = examples("outbox "+c.Name, first, second, third)
	c.OnUsageError = usageError
	c.Flags = append(c.Flags,
		&cli.StringFlag{Name: "name", Usage: "use the queue `QUEUE`, if the URL names none"},
		&cli.BoolFlag{Name: "json", Usage: "print one line of JSON per result"},
	)
	c.Action = func(ctx context.Context, cmd *cli.Command) (err error) {
		args := cmd.Args().Slice()
		if len(args) == 0 {
			return fmt.Errorf("the database is missing: use %s (see %s -help)", database.Forms, cmd.FullName())
		}
		call := &outboxCall{Command: cmd, stdout: stdout, out: listing.New(stdout, cmd.Bool("json"))}
		if call.place, err = database.Parse(args[0]); err != nil {
			return err
		}
		if err := call.arguments(args[1:], numbers > 0); err != nil {
			return err
		}
		if call.db, err = call.place.Open(ctx); err != nil {
			return interrupted(ctx, err)
		}
		defer func() { err = interrupted(ctx, failed(errors.Join(err, call.db.Close()))) }()
		return action(ctx, call)
	}
	return &c
}

// arguments reads the arguments after the URL, and the flags.
func (c *outboxCall) arguments(args []string, numbers bool) error {
	if name := c.String("name"); name != "" {
		if c.place.Name != "" && c.place.Name != name {
			return fmt.Errorf("the queue has two names: %q in the URL, and %q", c.place.Name, name)
		}
		c.place.Name = name
	}
	switch {
	case c.place.Name == "" && c.Name != "check":
		return errNoOutbox
	case c.Name == "letters" && c.Int("limit") < 1:
		return fmt.Errorf("-limit %d: at least one dead letter must be printed", c.Int("limit"))
	case !numbers && len(args) > 0:
		return fmt.Errorf("unknown argument %q (see %s -help)", shown(args[0]), c.FullName())
	case numbers && c.Bool("all") == (len(args) > 0):
		return errors.New("name the numbers of dead letters, or use -all")
	case numbers && c.Bool("all") && !c.Bool("yes"):
		return errors.New("-all selects every dead letter of the queue: add -yes to confirm")
	}
	for _, arg := range args {
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not the number of a dead letter; azsearch outbox letters prints them", shown(arg)) //voice:ok a command
		}
		c.numbers = append(c.numbers, n)
	}
	c.table = &outbox.Table{Dialect: c.place.Dialect, Queue: c.place.Name, Prefix: c.place.Prefix}
	return nil
}

func outboxCheck(ctx context.Context, c *outboxCall) error {
	if err := outbox.Check(ctx, c.db, c.place.Dialect, &outbox.SchemaOptions{Prefix: c.place.Prefix}); err != nil {
		return err
	}
	return c.out.Done(map[string]any{"outbox": c.place.String(), "ok": true}, "the tables of "+c.place.String()+" have the right schema")
}

func outboxLag(ctx context.Context, c *outboxCall) error {
	lag, err := c.table.Lag(ctx, c.db)
	if err != nil {
		return err
	}
	text := "waiting: " + amount.Of(lag.Rows, "row")
	if lag.Estimated {
		text = "waiting, all queues together: about " + amount.Of(lag.Rows, "row")
	}
	if lag.Oldest > 0 {
		text += fmt.Sprintf(", the oldest for %v", lag.Oldest.Round(time.Millisecond))
	}
	text += "; " + amount.Of(lag.Dead, "dead letter")
	if lag.Paused {
		text += "; paused"
	}
	return c.out.Done(struct {
		Rows          int64   `json:"rows"`
		Estimated     bool    `json:"estimated,omitempty"`
		OldestSeconds float64 `json:"oldestSeconds"`
		Dead          int64   `json:"deadLetters"`
		Paused        bool    `json:"paused"`
		Transaction   float64 `json:"oldestTransactionSeconds,omitempty"`
	}{lag.Rows, lag.Estimated, lag.Oldest.Seconds(), lag.Dead, lag.Paused, lag.OldestTransaction.Seconds()}, text)
}

func outboxPause(ctx context.Context, c *outboxCall) error {
	if err := c.table.Pause(ctx, c.db); err != nil {
		return err
	}
	return c.out.Done(map[string]any{"paused": true}, "paused; relays stop reading within ten seconds, until azsearch outbox resume")
}

func outboxResume(ctx context.Context, c *outboxCall) error {
	if err := c.table.Resume(ctx, c.db); err != nil {
		return err
	}
	return c.out.Done(map[string]any{"paused": false}, "resumed; relays read again within ten seconds")
}

func outboxLetters(ctx context.Context, c *outboxCall) error {
	limit := min(c.Int("limit"), math.MaxInt-1)
	all, err := c.table.DeadLetters(ctx, c.db, 0, limit+1)
	if err != nil {
		return err
	}
	more := len(all) > limit
	all = all[:min(limit, len(all))]
	switch {
	case c.Bool("json"):
		err = c.lettersJSON(all)
	case len(all) > 0:
		err = c.lettersText(all)
	}
	if err == nil && more {
		err = c.out.More(fmt.Sprintf("… and more: -limit is %d", limit))
	}
	if len(all) == 0 {
		err = c.out.More("no dead letters")
	}
	return err
}

func (c *outboxCall) lettersJSON(all []outbox.DeadLetter) error {
	for _, l := range all {
		body := l.Body
		if !c.Bool("bodies") {
			body = nil
		}
		if err := c.out.Done(struct {
			Number  int64           `json:"number"`
			Key     string          `json:"key"`
			Op      string          `json:"op,omitempty"`
			Status  int             `json:"status,omitempty"`
			Reason  string          `json:"reason"`
			Message string          `json:"message"`
			Died    time.Time       `json:"died"`
			Newer   int64           `json:"newer,omitempty"`
			Body    json.RawMessage `json:"body,omitempty"`
		}{l.Seq, l.Key, string(l.Op), l.Status, l.Reason, l.Message, l.Died.UTC(), l.Newer, body}, ""); err != nil {
			return err
		}
	}
	return nil
}

func (c *outboxCall) lettersText(all []outbox.DeadLetter) error {
	t := table.New(c.stdout)
	t.Row("number", "key", "action", "died", "reason", "status", "message")
	for _, l := range all {
		reason := l.Reason
		if l.Newer > 0 {
			reason += " (the key has newer rows)"
		}
		t.Row(strconv.FormatInt(l.Seq, 10), l.Key, string(l.Op), l.Died.UTC().Format(time.RFC3339), reason, strconv.Itoa(l.Status), l.Message)
		if c.Bool("bodies") && l.Body != nil {
			t.Row("", string(l.Body))
		}
	}
	return t.Flush()
}

// each calls do for each number on the command line, or with -all for every dead letter that exists now. The newest is
// first, so that a key gets its last state: the row of a retried dead letter is newer than all others.
func (c *outboxCall) each(ctx context.Context, do func(number int64) error) error {
	numbers := slices.Clone(c.numbers)
	for after, more := int64(0), c.Bool("all"); more; {
		all, err := c.table.DeadLetters(ctx, c.db, after, 1000)
		if err != nil {
			return err
		}
		for i := range all {
			numbers, after = append(numbers, all[i].Seq), all[i].Seq
		}
		more = len(all) > 0
	}
	slices.Sort(numbers)
	for _, n := range slices.Backward(numbers) {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}

func outboxRetry(ctx context.Context, c *outboxCall) error {
	var done, stay int
	var why error // of the first dead letter that stays
	err := c.each(ctx, func(number int64) error {
		err := c.table.Retry(ctx, c.db, number)
		switch {
		case err == nil:
			done++
		case errors.Is(err, outbox.ErrNewer), errors.Is(err, outbox.ErrNoLetter):
			if stay++; why == nil {
				why = fmt.Errorf("dead letter %d: %w", number, err)
			}
		default:
			return err
		}
		return nil
	})
	if stay > 0 && err == nil {
		err = fmt.Errorf("left: %d; %w", stay, why)
	}
	return errors.Join(c.out.Done(map[string]int{"retried": done, "stay": stay}, fmt.Sprintf("waiting again: %d", done)), err)
}

func outboxDiscard(ctx context.Context, c *outboxCall) error {
	var done, missing int64
	err := c.each(ctx, func(number int64) error {
		n, err := c.table.Discard(ctx, c.db, number)
		if done += n; err == nil && n == 0 {
			missing++
		}
		return err
	})
	if err == nil && missing > 0 {
		err = fmt.Errorf("numbers without a dead letter: %d", missing)
	}
	return errors.Join(c.out.Done(map[string]int64{"discarded": done}, fmt.Sprintf("discarded: %d", done)), err)
}
