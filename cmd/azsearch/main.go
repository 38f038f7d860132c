// Command azsearch loads, searches, copies, backs up and repairs indexes of Azure AI Search, runs an emulator of the
// service, and operates the durable queues, outboxes and dead letters of the sender. azsearch -help lists the
// commands; azsearch COMMAND -help describes one.
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
//	azsearch queue parked 'redis://localhost:6379/0?name=hotels'
//	azsearch outbox lag 'postgres://app@db/shop?name=hotels'
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
// The emulator prints its endpoint on stdout, then one line per request on stderr. The default admin key is
// searchtest-admin-key; -api-key sets another. -seed loads the indexes and documents of a file that searchtest's
// Snapshot wrote; -save writes such a file at SIGINT or SIGTERM. Both may name the same file. -token and -any-token
// accept programs that sign in with Entra ID, -tls serves https, and -ui serves a page at / with the indexes, a
// query box, the requests and buttons for faults. -faults injects the faults of a script in the form of
// searchtest.Faults:
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
// The commands of azsearch queue are stats, peek, parked, release, drop, pause, resume, drain and repair. With -json
// each result is one line of JSON. Keys with characters that a terminal cannot show are quoted as in Go. Documents
// are printed only with -bodies.
//
// -endpoint or AZURE_SEARCH_ENDPOINT names the service. AZURE_SEARCH_API_KEY is its key; without a key azsearch
// signs in with Entra ID. Exit codes:
//
// - 0: the command did everything
// - 1: records were rejected, something failed after the command had opened a queue, or a named key is not parked
// - 2: the command could not start, or apply without -yes has changes to make
// - 3: the service refused a request or could not be reached
// - 130: SIGINT or SIGTERM
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
	"github.com/go-azsearch/azsearch/internal/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal stop restores the default handling, so a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	explainEnd(ctx, terminal.Of(os.Stderr))
	cli.FlagStringer = oneDash(cli.FlagStringer)
	code := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// explainEnd prints how to end at once, if stderr is a terminal and the process still runs one second after the
// first signal.
func explainEnd(ctx context.Context, to terminal.Terminal) {
	context.AfterFunc(ctx, func() {
		if to.Live {
			time.AfterFunc(time.Second, func() {
				fmt.Fprint(to, terminal.Erased+"azsearch: waiting for requests in flight; press Ctrl-C again to end at once\n")
			})
		}
	})
}

// run executes the command line args and returns the exit code. An error is printed as one line on stderr. When ctx
// ends, the emulator stops.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := newCommand(stdout, stderr).Run(ctx, args)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "azsearch: %s\n", inLine(plain(err.Error())))
	return exit.Code(err)
}

// internals are parts of error texts that name functions of Go and system calls, and what is left of them.
var internals = []struct {
	text *regexp.Regexp
	left string
}{
	{regexp.MustCompile(`strconv\.\w+: parsing "(?:[^"\\]|\\.)*": `), ""},
	{regexp.MustCompile(`\b(?:stat|lstat|open) (\S+: no such file or directory)`), "$1"},
	{regexp.MustCompile(`search: new (?:index )?client: (?:the )?`), ""},
}

func plain(text string) string {
	for _, x := range internals {
		text = x.text.ReplaceAllString(text, x.left)
	}
	return text
}

// inLine joins the lines of an error text with "; ", and the lines of a list to their heading with a space.
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

// failed marks err as one that happened after the command had started its work: exit code 1.
func failed(err error) error { return exit.With(exit.Incomplete, err) }

func newCommand(stdout, stderr io.Writer) *cli.Command {
	root := &cli.Command{
		Name:  "azsearch",
		Usage: "tools for Azure AI Search",
		Description: `azsearch completion bash, zsh or fish prints a completion script.
Exit codes: 0 done, 1 partly rejected or failed, 2 usage, 3 service error, 130 interrupted.`,
		Writer:    stdout,
		ErrWriter: stderr,
		// run prints each error once, and only main ends the process.
		ExitErrHandler:        func(context.Context, *cli.Command, error) {},
		OnUsageError:          usageError,
		Action:                refuseArguments(cli.ShowAppHelp),
		EnableShellCompletion: true,

		ConfigureShellCompletionCommand: correctCompletion,
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
				Description:  examples("version", "", "| cut -d ' ' -f 2", "> version.txt"),
				OnUsageError: usageError,
				Action: refuseArguments(func(*cli.Command) error {
					_, err := fmt.Fprintln(stdout, version())
					return err
				}),
			},
		},
	}
	completeAsBegun(root)
	return root
}

// corrections are changes of the library's completion scripts, in pairs of what is replaced and by what.
var corrections = map[string][]string{
	// The package bash-completion, which has the function, may be missing, as on macOS and in containers. The script
	// sets the word.
	"bash": {`_get_comp_words_by_ref "$@" cur prev words cword`, `! declare -F _get_comp_words_by_ref >/dev/null 2>&1 || _get_comp_words_by_ref "$@" cur prev words cword`},
	// The other shells complete file names where nothing is suggested.
	"fish": {"    for line in $results\n        if not", "    if test (count $results) -eq 0\n        __fish_complete_path $lastArg\n    end\n\n    for line in $results\n        if not"},
}

// correctCompletion makes the completion scripts work everywhere.
func correctCompletion(c *cli.Command) {
	c.Description = `The script is for the shell named; a new shell reads it. The folders may be missing.

` + examples("completion", "bash > ~/.local/share/bash-completion/completions/azsearch", `zsh > "${fpath[1]}/_azsearch"`, "fish > ~/.config/fish/completions/azsearch.fish")
	for _, shell := range c.Commands {
		correction := corrections[shell.Name]
		if correction == nil {
			continue
		}
		render := shell.Action
		shell.Action = func(ctx context.Context, c *cli.Command) error {
			var script strings.Builder
			root := c.Root()
			w := root.Writer
			root.Writer = &script
			err := render(ctx, c)
			root.Writer = w
			if err != nil {
				return err
			}
			_, err = io.WriteString(w, strings.Replace(script.String(), correction[0], correction[1], 1))
			return err
		}
	}
}

// usageError replaces the library's reply, which prints the whole help.
func usageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	if strings.HasPrefix(c.ArgsUsage, "INDEX") && strings.HasSuffix(err.Error(), ": -index") {
		return fmt.Errorf("-index is not a flag of this command: INDEX is its first argument, as in %s %s (see %[1]s -help)", c.FullName(), c.ArgsUsage)
	}
	if text := wire.Text(err.Error()); text != err.Error() { // it quotes the value of a flag
		err = errors.New(text)
	}
	return fmt.Errorf("%w (see %s -help)", err, c.FullName())
}

func refuseArguments(action func(*cli.Command) error) cli.ActionFunc {
	return func(_ context.Context, c *cli.Command) error {
		if c.Args().Present() {
			name, meant := c.Args().First(), ""
			if like := cli.SuggestCommand(c.Commands, name); like != "" && name != "" && like[0] == name[0] {
				meant = ": did you mean " + like + "?"
			}
			return fmt.Errorf("unknown argument %q%s (see %s -help)", shown(name), meant, c.FullName())
		}
		if err := refuseURLs(c, nil); err != nil {
			return err
		}
		return action(c)
	}
}
