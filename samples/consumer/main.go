// Command consumer puts the records of a partitioned log into an index, as a
// consumer of Kafka does: many partitions, two members of a group that share
// them, offsets that are committed when what lies below them is settled.
//
//	go run ./samples/consumer        # two members, an outage, a crash; the service is emulated
//	go run ./samples/consumer -endpoint https://NAME.search.windows.net
//
// The log is in memory (log.go, group.go, client.go) and has the methods and
// callbacks of franz-go's client, so that the rest is what a program with a real
// one would have. Read consumer.go first, then rebalance.go. At the end the index
// is compared with the log, and the exit code is 1 unless they agree.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	endpoint string // "" for the emulator
	apiKey   string // "" for Entra ID
	index    string
	verbose  bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cfg config
	set := flag.NewFlagSet("consumer", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&cfg.endpoint, "endpoint", os.Getenv("AZURE_SEARCH_ENDPOINT"), "the `URL` of the search service (default: $AZURE_SEARCH_ENDPOINT, or an emulator)")
	set.StringVar(&cfg.apiKey, "api-key", os.Getenv("AZURE_SEARCH_API_KEY"), "its admin `KEY` (default: $AZURE_SEARCH_API_KEY; Entra ID if there is none)")
	set.StringVar(&cfg.index, "index", "azsearch-consumer", "the `NAME` of the index; it is created if it does not exist")
	set.BoolVar(&cfg.verbose, "v", false, "log what the senders log, on stderr")
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		set.SetOutput(stdout)
		set.PrintDefaults()
		return 0
	}
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q", set.Arg(0))
	}
	if err != nil {
		return complain(stderr, err, 2)
	}
	logger := slog.New(slog.DiscardHandler)
	if cfg.verbose {
		logger = slog.New(slog.NewTextHandler(stderr, nil))
	}
	if err := demonstrate(ctx, cfg, logger, stdout); err != nil {
		return complain(stderr, err, 1)
	}
	return 0
}

func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "consumer: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}
