// Command azsearch is for people and programs of any language that use Azure AI
// Search: it loads files into an index, and runs the emulator of the service as a process. And it
// is for those who run a program with a durable queue: it shows what is in the queue, and mends what is stuck.
//
//	azsearch infer hotels.csv > hotels.json
//	azsearch load -create hotels.json hotels.csv
//	azsearch backup nightly
//	azsearch restore -endpoint https://other.search.windows.net nightly
//	azsearch verify nightly hotels
//	azsearch emulator -addr 127.0.0.1:8080
//	azsearch emulator -ui -seed hotels.json
//	azsearch emulator -seed state.json -save state.json
//	azsearch queue stats /var/lib/hotels/queue
//	azsearch queue parked redis://localhost:6379/0?name=hotels
//	azsearch outbox letters 'postgres://app@db/shop?name=hotels'
//	azsearch search hotels 'wifi pool' -filter 'stars ge 4' -facet tags
//	azsearch get hotels 1
//	azsearch stats
//	azsearch copy hotels hotels-2
//	azsearch export -o hotels.csv hotels
//	azsearch indexer status hotels
//	azsearch delete hotels -filter "country eq 'XX'"
//	azsearch repair -index hotels hotels.jsonl
//	azsearch replay /var/lib/hotels/dead
//	azsearch pull definitions
//	azsearch apply definitions
//	azsearch doctor -index hotels
//	azsearch bench -index hotels
//	azsearch version
//
// The emulator prints its endpoint, then a line for each request. Its admin key is
// searchtest-admin-key unless -api-key says otherwise. -seed begins with the indexes
// and documents of a file in the form that searchtest's Snapshot writes, and -save writes
// one at Ctrl-C or SIGTERM; both may be the same. -token and -any-token take programs that
// sign in with Entra ID. -ui serves a page at / with the indexes, a query box, the
// requests and buttons for faults; -tls serves https. -faults makes it misbehave as a file
// says, in the form of searchtest.Faults:
//
//	{
//	  "seed": 42,
//	  "rules": [
//	    {"operation": "indexDocuments", "every": 7, "status": 503, "retryAfter": "2s"},
//	    {"operation": "indexDocuments", "probability": 0.02, "cut": "afterCommit"},
//	    {"operation": "indexDocuments", "documents": [{"ratio": 0.05, "status": 409}]}
//	  ]
//	}
//
// The commands of azsearch queue are stats, peek, parked, release, drop, pause, resume, drain
// and repair, each with -help. With -json they print a line of JSON for each result. Keys are quoted as in Go
// where a terminal would not show them as they are, documents are printed with -bodies only.
//
// The service is AZURE_SEARCH_ENDPOINT or -endpoint, the key AZURE_SEARCH_API_KEY; without one azsearch
// signs in with Entra ID. The exit code is 0 if everything that was asked for is done; 1 if some records were
// rejected, something went wrong after a queue was open, or a key that was named is not parked; 2 if the
// command could not begin, or apply without -yes would change something; 3 if the service refused or could
// not be reached; 130 after SIGINT or SIGTERM.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// From the first signal on the second one ends the process at once, in case
	// stopping cleanly takes too long for whoever waits.
	context.AfterFunc(ctx, stop)
	explainEnd(ctx, terminal.Of(os.Stderr))
	code := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// explainEnd says on a terminal how not to wait, if the end takes more than a moment after the first signal.
func explainEnd(ctx context.Context, to terminal.Terminal) {
	context.AfterFunc(ctx, func() {
		if to.Live {
			time.AfterFunc(time.Second, func() {
				fmt.Fprint(to, terminal.Erased+"azsearch: ending with what is on its way; Ctrl-C again ends at once\n")
			})
		}
	})
}

// run carries out the command line args and returns the exit code. What goes
// wrong is one line on stderr. The end of ctx stops an emulator.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := newCommand(stdout, stderr).Run(ctx, args)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "azsearch: %s\n", inLine(err.Error()))
	return exit.Code(err)
}

// inLine joins the lines of a text: several problems arrive as several lines, and a list below its heading.
func inLine(text string) string {
	line := ""
	for part := range strings.Lines(text) {
		switch part = strings.TrimSpace(part); {
		case part == "":
		case line == "":
			line = part
		case strings.HasSuffix(line, ":"):
			line += " " + part
		default:
			line += "; " + part
		}
	}
	return line
}

// failed is an error of something that had started.
func failed(err error) error { return exit.With(exit.Incomplete, err) }

func newCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "azsearch",
		Usage: "tools for Azure AI Search",
		Description: `azsearch completion bash, zsh or fish prints a completion script.
Exit codes: 0 done, 1 some of it rejected or failed, 2 usage, 3 the service, 130 interrupted.`,
		Writer:    stdout,
		ErrWriter: stderr,
		// Errors are printed by run, once, and nothing but main ends the process.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   usageError,
		Action:         refuseArguments(cli.ShowAppHelp),
		// azsearch completion bash, zsh or fish prints the script.
		EnableShellCompletion: true,
		Commands: []*cli.Command{
			newEmulatorCommand(stdout, stderr),
			newLoadCommand(stdout, stderr),
			newInferCommand(stdout, stderr),
			newBackupCommand(stdout, stderr),
			newRestoreCommand(stdout, stderr),
			newVerifyCommand(stdout, stderr),
			newCopyCommand(stdout, stderr),
			newExportCommand(stdout, stderr),
			newGetCommand(stdout, stderr),
			newSearchCommand(stdout, stderr),
			newStatsCommand(stdout, stderr),
			newDeleteCommand(stdout, stderr),
			newIndexRepairCommand(stdout, stderr),
			newIndexerCommand(stdout, stderr),
			newDoctorCommand(stdout, stderr),
			newBenchCommand(stdout, stderr),
			newPullCommand(stdout, stderr),
			newApplyCommand(stdout, stderr),
			newReplayCommand(stdout, stderr),
			newQueueCommand(stdout, stderr),
			newOutboxCommand(stdout),
			{
				Name:         "version",
				Usage:        "print the version",
				OnUsageError: usageError,
				Action: refuseArguments(func(*cli.Command) error {
					_, err := fmt.Fprintln(stdout, version())
					return err
				}),
			},
		},
	}
}

// usageError replaces the library's answer, which is the whole help.
func usageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	return fmt.Errorf("%w (see %s -help)", err, c.FullName())
}

func refuseArguments(action func(*cli.Command) error) cli.ActionFunc {
	return func(_ context.Context, c *cli.Command) error {
		if c.Args().Present() {
			name, meant := c.Args().First(), ""
			if like := cli.SuggestCommand(c.Commands, name); like != "" && name != "" && like[0] == name[0] {
				meant = ": did you mean " + like + "?"
			}
			return fmt.Errorf("unknown argument %q%s (see %s -help)", name, meant, c.FullName())
		}
		return action(c)
	}
}
