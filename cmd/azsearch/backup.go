package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/backup"
)

func newBackupCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "backup",
		Usage:     "write the definitions and documents of a service into a directory",
		ArgsUsage: "DIR",
		Description: `Documents are read by key ranges, so an index may have more than 100 000, and written as JSON Lines
compressed by zstd; manifest.json has their digests. The command first prints what a backup cannot have:
secrets, fields that are not retrievable, and all but 100 000 documents of an index whose key is not
sortable. After an interruption or a crash, run it again to continue.

   azsearch backup nightly
   azsearch backup -index 'hotels*' -index rooms nightly
   azsearch backup -in-flight 4 -passes 1 nightly

Exit codes: 0 everything is in DIR, except what was printed as left out; 1 some documents cannot be
read, or a definition changed meanwhile; 2 usage; 3 service error; 130 interrupted.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "index", Usage: "back up the indexes that match `PATTERN`, with their synonym maps and aliases; by default everything"},
			&cli.IntFlag{Name: "in-flight", Usage: "read up to `N` key ranges concurrently; fewer while the service is busy or slows down", Value: 32},
			&cli.IntFlag{Name: "passes", Usage: "read every range `N` times, 1 or 2; the second pass rewrites ranges that changed meanwhile", Value: 2},
			&cli.BoolFlag{Name: "partial", Usage: "continue even if some documents cannot be read"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress"},
		},
	}, 1, 1, runBackup)
}

func runBackup(ctx context.Context, c *serviceCall) error {
	if err := errors.Join(c.between("in-flight", 1, 1000), c.between("passes", 1, 2)); err != nil {
		return err
	}
	b, err := backup.Begin(ctx, backup.Options{
		Service: c.service, Dir: c.args[0], Patterns: c.StringSlice("index"), InFlight: c.Int("in-flight"), Passes: c.Int("passes"), Partial: c.Bool("partial"), Say: c.note,
	})
	if err != nil {
		return err
	}
	began := time.Now()
	stop := progress(c.stderr, c.Bool("quiet"), func() string { return share(b.Read.Load(), b.Total.Load(), "read", began) })
	m, err := b.Run(ctx)
	stop()
	if err != nil {
		return err
	}
	for _, x := range m.Indexes {
		if err := c.say("%s\t%d %s\t%s", x.Name, x.Documents, amount.Noun(x.Documents, "document"), x.Digest); err != nil {
			return err
		}
	}
	return nil
}
