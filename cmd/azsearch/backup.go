package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/backup"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
)

func newBackupCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:      "backup",
		Usage:     "write the definitions and documents of a service into a directory",
		ArgsUsage: "DIR",
		Description: `Documents are read by ranges of their keys, beyond 100 000, and written as JSON Lines in zstd,
with digests of all in manifest.json. What cannot come along is said before it begins: secrets, fields that
are not retrievable, documents behind the first 100 000 of an index whose key cannot be sorted by. Run it
again after an interruption or a crash, and it continues.

   azsearch backup nightly
   azsearch backup -index 'hotels*' -index rooms nightly
   azsearch backup -in-flight 16 -passes 1 nightly

Exit codes: 0 everything that was not said to be left out is in DIR; 1 not all documents can be reached,
or a definition changed meanwhile; 2 usage; 3 the service; 130 interrupted.`,
		OnUsageError: usageError,
		Flags: append(connect.Flags(),
			&cli.StringSliceFlag{Name: "index", Usage: "take the indexes that match `PATTERN`, with their synonym maps and aliases; by default everything"},
			&cli.IntFlag{Name: "in-flight", Usage: "read `N` ranges of keys at once", Value: 8},
			&cli.IntFlag{Name: "passes", Usage: "`N` 2 reads every range again, and writes it again if it has changed; 1 does not", Value: 2},
			&cli.BoolFlag{Name: "partial", Usage: "also where not all documents can be reached"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress"},
		),
		Action: func(ctx context.Context, c *cli.Command) (err error) {
			dir, err := oneDirectory(c)
			if err == nil {
				err = errors.Join(between("in-flight", c.Int("in-flight"), 1, 1000), between("passes", c.Int("passes"), 1, 2))
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
			b, err := backup.Begin(ctx, backup.Options{
				Service: service, Dir: dir, Patterns: c.StringSlice("index"), InFlight: c.Int("in-flight"), Passes: c.Int("passes"), Partial: c.Bool("partial"), Say: saying(to),
			})
			if err != nil {
				return err
			}
			began := time.Now()
			stop := progress(to, c.Bool("quiet"), func() string { return share(b.Read.Load(), b.Total.Load(), "read", began) })
			m, err := b.Run(ctx)
			stop()
			if err != nil {
				return err
			}
			for _, x := range m.Indexes {
				fmt.Fprintf(stdout, "%s\t%d documents\t%s\n", x.Name, x.Documents, x.Digest)
			}
			return nil
		},
	}
}

// oneDirectory returns the argument of a command that takes one.
func oneDirectory(c *cli.Command) (string, error) {
	if c.Args().Len() != 1 {
		return "", fmt.Errorf("want one directory, got %d arguments; flags come before it (see %s -help)", c.Args().Len(), c.FullName())
	}
	return c.Args().First(), nil
}

func between(flag string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("-%s %d: use %d to %d", flag, n, low, high)
	}
	return nil
}

// saying returns a function that prints a line of its own.
func saying(to terminal.Terminal) func(format string, args ...any) {
	return func(format string, args ...any) {
		line := "azsearch: " + fmt.Sprintf(format, args...) + "\n"
		if to.Live {
			line = "\r\x1b[K" + line // not behind what progress has drawn
		}
		fmt.Fprint(to, line)
	}
}
