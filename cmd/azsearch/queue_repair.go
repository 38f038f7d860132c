package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/redisqueue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
)

// newRepairCommand does not use queueCommand, because a damaged directory cannot be opened.
func newRepairCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name: "repair", Usage: "salvage the readable records of a damaged queue", ArgsUsage: "URL",
		Description: `Use it if a directory cannot be opened, or if the Redis server has lost keys. A directory keeps
copies of its damaged files. On Redis all leases end, and the server is blocked meanwhile: about
a second per hundred thousand keys of a shard.

` + examples("queue repair", "DIR", "-json DIR", "-max-keys 5000000 'redis://localhost:6379/0?name=hotels'"),
		OnUsageError: usageError,
		Flags: append(commonFlags(),
			&cli.IntFlag{Name: "max-keys", Usage: "on Redis, refuse a shard with more than `N` keys", Value: 1_000_000}),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.Args().Len() != 1 {
				return fmt.Errorf("one queue is needed, not %d: its directory or its redis:// URL (see %s -help)", c.Args().Len(), c.FullName())
			}
			where, err := parsePlace(c.Args().First(), c.String("name"))
			if err != nil {
				return err
			}
			out := listing.New(stdout, c.Bool("json"))
			if where.redis != nil {
				return interrupted(ctx, repairRedis(ctx, where, c.Int("max-keys"), out))
			}
			return repairDirectory(where, out)
		},
	}
}

func repairDirectory(where place, out listing.Printer) error {
	if err := where.exists(); err != nil {
		return err
	}
	report, err := filequeue.Repair(where.dir, nil)
	if errors.Is(err, filequeue.ErrLocked) {
		return where.advise(err)
	}
	if err != nil {
		return failed(err)
	}
	said := "nothing to repair"
	if report.Broken > 0 || len(report.Damaged)+len(report.Missing) > 0 {
		said = fmt.Sprintf("repaired, with %s in the queue; %s at %s could not be read, so add documents again that may be lost",
			amount.Of(report.Keys, "key"), amount.Of(report.Dropped, "byte"), amount.Of(report.Broken, "place"))
		if len(report.Missing) > 0 {
			said += "; missing files: " + strings.Join(report.Missing, ", ")
		}
		if len(report.Damaged) > 0 {
			said += "; kept for inspection: " + strings.Join(report.Damaged, ", ")
		}
	}
	return done(out, struct {
		Keys    int      `json:"keys"`
		Broken  int      `json:"broken"`
		Dropped int64    `json:"droppedBytes"`
		Damaged []string `json:"damaged,omitempty"`
		Missing []string `json:"missing,omitempty"`
	}{report.Keys, report.Broken, report.Dropped, report.Damaged, report.Missing}, said)
}

func repairRedis(ctx context.Context, where place, most int, out listing.Printer) error {
	if most < 1 {
		return fmt.Errorf("-max-keys %d: at least one key must be possible", most)
	}
	q, err := where.open(writing)
	if err != nil {
		return err
	}
	defer q.Close()
	report, err := q.(*redisqueue.Queue).Repair(ctx, most)
	if err != nil {
		return failed(err)
	}
	return done(out, struct {
		Keys int64 `json:"keys"`
		Lost int64 `json:"lostRecords"`
	}{report.Keys, report.Lost}, fmt.Sprintf("repaired, with %s in the queue; lost: %s", amount.Of(report.Keys, "key"), amount.Of(report.Lost, "record")))
}

func done(out listing.Printer, v any, sentence string) error {
	if err := out.Done(v, sentence); err != nil {
		return failed(err)
	}
	return nil
}
