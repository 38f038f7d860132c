package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/backup"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/jqfilter"
)

func newRestoreCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "restore",
		Usage:     "restore a backup, and compare it with the restored indexes",
		ArgsUsage: "DIR",
		Description: `Each index must be missing, or empty with the definition of the backup. Secrets come from the
environment variables that the backup names. After an interruption or a crash, run it again to continue.

   azsearch restore nightly
   azsearch restore -index 'hotels*' nightly
   azsearch restore -index hotels -as hotels-old nightly
   azsearch restore -index hotels -jq 'del(.internal)' nightly
   azsearch restore -endpoint https://other.search.windows.net nightly

Exit codes: 0 everything is restored, with equal digests; 1 documents were rejected or differ;
2 usage, or something that exists would be overwritten; 3 service error; 130 interrupted.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "index", Usage: "restore the indexes that match `PATTERN`, with their synonym maps and aliases; by default everything"},
			&cli.StringFlag{Name: "as", Usage: "restore the only index that -index selects as `NAME`, without its aliases"},
			&cli.StringFlag{Name: "jq", Usage: "replace each document with the results of the jq `EXPRESSION`; existing indexes keep their definitions, and nothing is compared"},
			&cli.BoolFlag{Name: "overwrite", Usage: "replace different definitions, and add documents to indexes that have some"},
			&cli.IntFlag{Name: "in-flight", Usage: "send up to `N` requests concurrently; fewer while the service is busy or slows down", Value: 32},
			&cli.DurationFlag{Name: "patience", Usage: "give up if the service does not recover within `DURATION`", Value: 10 * time.Minute},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress"},
		},
	}, 1, 1, runRestore)
}

func runRestore(ctx context.Context, c *serviceCall) error {
	if err := c.between("in-flight", 1, 1000); err != nil {
		return err
	}
	jq, err := jqfilter.New(c.String("jq"))
	if err != nil {
		return err
	}
	r, err := backup.BeginRestore(ctx, backup.RestoreOptions{
		Service: c.service, Dir: c.args[0], Patterns: c.StringSlice("index"), As: c.String("as"), InFlight: c.Int("in-flight"), Patience: c.Duration("patience"),
		JQ: jq, Overwrite: c.Bool("overwrite"), Lookup: os.LookupEnv, Say: c.note,
	})
	if err != nil {
		return err
	}
	began := time.Now()
	stop := progress(c.stderr, c.Bool("quiet"), func() string { return share(r.Sent.Load(), r.Total, "in the index", began) })
	defer stop()
	return r.Run(ctx)
}
