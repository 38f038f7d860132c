package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/backup"
)

func newBackupCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "backup",
		Usage:     "write the definitions and documents of a service into a directory",
		ArgsUsage: "DIR",
		Description: `Documents are read by ranges of their keys, beyond 100 000, and written as JSON Lines in zstd,
with digests of all in manifest.json. What cannot come along is said before it begins: secrets, fields that
are not retrievable, documents behind the first 100 000 of an index whose key cannot be sorted by. Run it
again after an interruption or a crash, and it continues.

   azsearch backup nightly
   azsearch backup -index 'hotels*' -index rooms nightly
   azsearch backup -in-flight 4 -passes 1 nightly

Exit codes: 0 everything that was not said to be left out is in DIR; 1 not all documents can be reached,
or a definition changed meanwhile; 2 usage; 3 the service; 130 interrupted.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "index", Usage: "take the indexes that match `PATTERN`, with their synonym maps and aliases; by default everything"},
			&cli.IntFlag{Name: "in-flight", Usage: "read `N` ranges of keys at once", Value: 16},
			&cli.IntFlag{Name: "passes", Usage: "`N` 2 reads every range again, and writes it again if it has changed; 1 does not", Value: 2},
			&cli.BoolFlag{Name: "partial", Usage: "also where not all documents can be reached"},
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
		if err := c.say("%s\t%d documents\t%s", x.Name, x.Documents, x.Digest); err != nil {
			return err
		}
	}
	return nil
}
