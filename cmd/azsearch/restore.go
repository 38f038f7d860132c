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
		Usage:     "bring a backup back, and compare it with what is in the indexes then",
		ArgsUsage: "DIR",
		Description: `Indexes must be missing, or empty and as in the backup. Secrets come from the variables of the
environment that the backup names. Run it again after an interruption or a crash, and it continues.

   azsearch restore nightly
   azsearch restore -index 'hotels*' nightly
   azsearch restore -index hotels -jq 'del(.internal)' nightly
   azsearch restore -endpoint https://other.search.windows.net nightly

Exit codes: 0 everything is there, and equal by digests; 1 documents were rejected or differ;
2 usage, or something that is there would be written over; 3 the service; 130 interrupted.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "index", Usage: "bring back the indexes that match `PATTERN`, with their synonym maps and aliases; by default everything"},
			&cli.StringFlag{Name: "jq", Usage: "replace each document by the results of the jq `EXPRESSION`; indexes that exist keep their definitions, and nothing is compared"},
			&cli.BoolFlag{Name: "overwrite", Usage: "replace definitions that differ, and add documents to those of an index"},
			&cli.IntFlag{Name: "in-flight", Usage: "send `N` requests at once", Value: 16},
			&cli.DurationFlag{Name: "patience", Usage: "give up when the service has been gone for `DURATION`", Value: 10 * time.Minute},
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
		Service: c.service, Dir: c.args[0], Patterns: c.StringSlice("index"), InFlight: c.Int("in-flight"), Patience: c.Duration("patience"),
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
