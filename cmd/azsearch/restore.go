package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/backup"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
)

func newRestoreCommand(stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "bring a backup back, and compare it with what is in the indexes then",
		ArgsUsage: "DIR",
		Description: `Indexes must be missing, or empty and as in the backup. Secrets come from the variables of the
environment that the backup names. Run it again after an interruption or a crash, and it continues.

   azsearch restore nightly
   azsearch restore -index 'hotels*' nightly
   azsearch restore -endpoint https://other.search.windows.net nightly

Exit codes: 0 everything is there, and equal by digests; 1 documents were rejected or differ;
2 usage, or something that is there would be written over; 3 the service; 130 interrupted.`,
		OnUsageError: usageError,
		Flags: append(connect.Flags(),
			&cli.StringSliceFlag{Name: "index", Usage: "bring back the indexes that match `PATTERN`, with their synonym maps and aliases; by default everything"},
			&cli.BoolFlag{Name: "overwrite", Usage: "replace definitions that differ, and add documents to those of an index"},
			&cli.IntFlag{Name: "in-flight", Usage: "send `N` requests at once", Value: 8},
			&cli.DurationFlag{Name: "patience", Usage: "give up when the service has been gone for `DURATION`", Value: 10 * time.Minute},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress"},
		),
		Action: func(ctx context.Context, c *cli.Command) (err error) {
			dir, err := oneDirectory(c)
			if err == nil {
				err = between("in-flight", c.Int("in-flight"), 1, 1000)
			}
			if err != nil {
				return err
			}
			service, err := connect.Open(c)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, service.Close()) }()
			to := terminal.Of(stderr)
			r, err := backup.BeginRestore(ctx, backup.RestoreOptions{
				Service: service, Dir: dir, Patterns: c.StringSlice("index"), InFlight: c.Int("in-flight"), Patience: c.Duration("patience"),
				Overwrite: c.Bool("overwrite"), Lookup: os.LookupEnv, Say: saying(to),
			})
			if err != nil {
				return err
			}
			began := time.Now()
			stop := progress(to, c.Bool("quiet"), func() string { return share(r.Sent.Load(), r.Total, "in the index", began) })
			defer stop()
			return r.Run(ctx)
		},
	}
}
