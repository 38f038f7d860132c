// Command httpservice is an HTTP service whose request handlers write documents
// into an index and answer their callers truthfully. Many handlers share one
// sender, and so their requests to the search service.
//
//	POST /notes   a JSON array of notes; the reply says of each what became of it
//	GET /healthz  readiness: whether more work is welcome
//	GET /metrics  the metrics of the sender, for Prometheus
//
// Begin with handler.go, what the service answers, and settings.go, the options
// of a sender that request handlers share. It is a module of its own, because
// the exporter for Prometheus is no dependency of the SDK:
//
//	go run -C samples/httpservice .       # 200 callers and an outage, on an emulated service
//	go run -C samples/httpservice . -addr 127.0.0.1:8080 -endpoint https://NAME.search.windows.net
//
// The first compares at the end what was reported to the callers with what the index
// has, and exits 1 unless they agree. The second serves until it is interrupted.
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
	addr     string // "" for the demonstration
	endpoint string // "" for the emulator
	apiKey   string // "" for Entra ID
	index    string
	verbose  bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cfg config
	set := flag.NewFlagSet("httpservice", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&cfg.addr, "addr", "", "serve at `ADDRESS` until interrupted (default: a demonstration)")
	set.StringVar(&cfg.endpoint, "endpoint", os.Getenv("AZURE_SEARCH_ENDPOINT"), "the `URL` of the search service (default: $AZURE_SEARCH_ENDPOINT, or an emulator)")
	set.StringVar(&cfg.apiKey, "api-key", os.Getenv("AZURE_SEARCH_API_KEY"), "its admin `KEY` (default: $AZURE_SEARCH_API_KEY; Entra ID if there is none)")
	set.StringVar(&cfg.index, "index", "azsearch-httpservice", "the `NAME` of the index; it is created if it does not exist")
	set.BoolVar(&cfg.verbose, "v", false, "log what the sender logs, on stderr")
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
	if cfg.addr == "" {
		err = demonstrate(ctx, cfg, logger, stdout)
	} else {
		err = serve(ctx, cfg, logger, stdout)
	}
	if err != nil {
		return complain(stderr, err, 1)
	}
	return 0
}

// serve is the program without its demonstration.
func serve(ctx context.Context, cfg config, logger *slog.Logger, stdout io.Writer) error {
	backend, err := connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer backend.close()
	s, err := newService(backend.client, settings{}, logger)
	if err != nil {
		return err
	}
	if err := s.listen(cfg.addr); err != nil {
		return errors.Join(err, s.stop())
	}
	fmt.Fprintf(stdout, "%s/notes writes to %s\n", s.url, backend.name)
	select {
	case <-ctx.Done():
		err = nil
	case err = <-s.ended: // by itself: nothing will be served any more
	}
	return errors.Join(err, s.stop())
}

func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "httpservice: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}
