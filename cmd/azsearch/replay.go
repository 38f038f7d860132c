package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/shell"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/table"
	"github.com/go-azsearch/azsearch/models"
)

func newReplayCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "replay",
		Usage:     "send the dead letters of a sender again",
		ArgsUsage: "DIR",
		Description: `DIR is the directory of a deadletter.File. Stop the program that has it open first. A delivered
dead letter is removed. If one is rejected again, it stays with the new reason, and the exit code
is 1. A dead letter overwrites newer documents of its key, unless the program's sender knows their
versions (Folding.Version): list dead letters with -dry-run first.

   azsearch replay -dry-run /var/lib/hotels/dead
   azsearch replay /var/lib/hotels/dead
   azsearch replay -index hotels -json /var/lib/hotels/dead`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "index", Usage: "send only dead letters of the index `NAME`; by default those of all indexes"},
			&cli.BoolFlag{Name: "dry-run", Usage: "list dead letters by index and reason, and send nothing"},
			&cli.DurationFlag{Name: "timeout", Usage: "give up after `DURATION`; unsent dead letters stay", Value: time.Hour},
			&cli.BoolFlag{Name: "json", Usage: "print one line of JSON per index"},
		},
	}, 1, 1, runReplay)
}

func runReplay(ctx context.Context, c *serviceCall) error {
	dir := c.args[0]
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a directory: name the directory of the dead letters; azsearch load -index NAME %s loads the rejects of a load", dir, shell.Word(dir))
	}
	if strange, err := foreign(dir); err != nil || strange {
		return errors.Join(err, fmt.Errorf("%s has other files and no dead letters: is the path right?", dir))
	}
	if c.Bool("dry-run") {
		return c.listDeadLetters(dir)
	}
	f, err := deadletter.Open(dir, &deadletter.FileOptions{Logger: slog.New(slog.DiscardHandler)}) // reading says the same
	if errors.Is(err, deadletter.ErrLocked) {
		return fmt.Errorf("%s: %w; stop the program that has it open", dir, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Duration("timeout"), fmt.Errorf("gave up after -timeout %v", c.Duration("timeout")))
	defer cancel()
	letters, err := c.deadLetters(dir)
	if err != nil {
		return errors.Join(failed(err), f.Close())
	}
	stayed := letters.elsewhere
	for _, index := range slices.Sorted(maps.Keys(letters.indexes)) {
		n, more := c.replay(ctx, f, index)
		stayed += n
		if err = errors.Join(err, more); ctx.Err() != nil {
			break
		}
	}
	if letters.elsewhere > 0 {
		err = errors.Join(err, c.more("left, because of another service: %s (%s)", amount.Of(letters.elsewhere, "dead letter"), strings.Join(letters.endpoints, ", ")))
	} else if len(letters.indexes) == 0 {
		err = errors.Join(err, c.more("no dead letters"))
	}
	err = errors.Join(err, failed(f.Close()))
	if err == nil && stayed > 0 {
		err = failed(fmt.Errorf("left in %s: %s; list the reasons with -dry-run, correct the cause, and run replay again", dir, amount.Of(stayed, "dead letter")))
	}
	return err
}

// foreign reports whether a directory has files, and none of them is a dead-letter file. replay opens no such
// directory, since opening would add a lock file to it.
func foreign(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	others := false
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "letters-") {
			return false, err
		}
		others = others || e.Name() != "lock"
	}
	return others, err
}

// replayReport is the report for one index with -json.
type replayReport struct {
	Index     string `json:"index"`
	Delivered int    `json:"delivered"`
	Failed    int    `json:"failed"`
	Skipped   int    `json:"skipped"`
	Outdated  int    `json:"outdated"`
}

// replay sends the dead letters of an index, and returns how many stay.
func (c *serviceCall) replay(ctx context.Context, f *deadletter.File, index string) (stayed int, err error) {
	if index == "" {
		return 1, failed(errors.New("dead letters without an index stay: their sender did not know its index"))
	}
	client, err := c.service.Client(index)
	if err != nil {
		return 0, err
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[struct{}]{
		Documents:   bufferedsender.Documents[struct{}]{Key: func(struct{}) string { return "" }}, // each action carries its key
		DeadLetters: f,
		Logger:      slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return 0, err
	}
	examples := 0
	r, err := deadletter.Replay(ctx, f, index, sender.Raw(), &deadletter.ReplayOptions{Kept: func(l deadletter.Letter, why error) {
		if examples++; examples <= 5 {
			fmt.Fprintln(c.stderr, c.stderr.Red(fmt.Sprintf("azsearch: stays %s/%s: %s", listing.Safe(index), listing.Safe(l.Key), listing.Printable(why.Error()))))
		}
	}})
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	closed := sender.Close(closing)
	if err != nil {
		err = answered(fmt.Errorf("index %s: %s delivered, then: %w; the rest stays", listing.Safe(index), humanize.Comma(int64(r.Delivered)), err))
	} else if closed != nil {
		err = failed(closed)
	}
	report := replayReport{Index: index, Delivered: r.Delivered, Failed: r.Failed, Skipped: r.Skipped, Outdated: r.Outdated}
	if c.Bool("json") {
		return report.Failed + report.Skipped, errors.Join(c.print(report, false), err)
	}
	line := fmt.Sprintf("index %s: delivered %s", listing.Safe(index), humanize.Comma(int64(r.Delivered)))
	for _, part := range []struct {
		n    int
		what string
	}{{r.Failed, "refused again"}, {r.Skipped, "not sent"}, {r.Outdated, "outdated, removed"}} {
		if part.n > 0 {
			line += fmt.Sprintf(", %s %s", humanize.Comma(int64(part.n)), part.what)
		}
	}
	return r.Failed + r.Skipped, errors.Join(c.say("%s", line), err)
}

// deadLetters are the dead letters of a directory.
type deadLetters struct {
	indexes   map[string]int // numbers by index of this service
	elsewhere int
	endpoints []string
	reasons   map[[3]string]int // by index, action and reason
}

// deadLetters reads a directory. It prints damaged lines on stderr.
func (c *serviceCall) deadLetters(dir string) (deadLetters, error) {
	d := deadLetters{indexes: map[string]int{}, reasons: map[[3]string]int{}}
	here := models.SenderInfo{Endpoint: c.service.Endpoint()}
	for l, err := range deadletter.Read(os.DirFS(dir)) {
		var damaged *deadletter.DamagedError
		switch {
		case errors.As(err, &damaged):
			fmt.Fprintln(c.stderr, c.stderr.Red("azsearch: "+damaged.Error()))
			continue
		case err != nil:
			return d, err
		case c.IsSet("index") && c.String("index") != l.Index:
			continue
		}
		d.reasons[[3]string{l.Index, string(l.Action), cmp.Or(l.Message, l.Error)}]++
		if here.At(l.Endpoint) {
			d.indexes[l.Index]++
			continue
		}
		d.elsewhere++
		if !slices.Contains(d.endpoints, l.Endpoint) {
			d.endpoints = append(d.endpoints, l.Endpoint)
		}
	}
	return d, nil
}

// listDeadLetters prints the number of dead letters by index, action and reason.
func (c *serviceCall) listDeadLetters(dir string) error {
	d, err := c.deadLetters(dir)
	if err != nil {
		return failed(err)
	}
	t := table.New(c.stdout)
	if !c.Bool("json") {
		t.Row("dead letters", "index", "action", "reason")
	}
	for _, key := range slices.SortedFunc(maps.Keys(d.reasons), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		n := d.reasons[key]
		if c.Bool("json") {
			if err := c.print(map[string]any{"index": key[0], "action": key[1], "reason": key[2], "count": n}, false); err != nil {
				return err
			}
			continue
		}
		t.Row(humanize.Comma(int64(n)), key[0], key[1], key[2])
	}
	return failed(t.Flush())
}

// more prints a line, unless the output is JSON.
func (c *serviceCall) more(format string, args ...any) error {
	if c.Bool("json") {
		return nil
	}
	return c.say(format, args...)
}
