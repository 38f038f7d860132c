// Command quickstart is the main job of this module in one program: it parses
// a tree of Go source, by default that of Go itself, and puts every declaration
// into an index through one BufferedSender; then it asks the service whether
// everything is there.
//
//	go run ./samples/quickstart              # needs nothing: the service is emulated
//	go run ./samples/quickstart -faults      # the same while the service misbehaves
//	go run ./samples/quickstart -endpoint https://NAME.search.windows.net
//
// Read load.go first: it is the part that your program would have as well. What
// turns source into documents is in samples/internal/declarations; samples/search
// finds them again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

// The exit codes, beside 0.
const (
	exitProblem     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the program. The end of ctx is Ctrl-C.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, getenv, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	tree, err := declarations.Find(cfg.root)
	if err != nil {
		return complain(stderr, fmt.Errorf("-root: %w", err), exitUsage)
	}
	if len(tree.Packages) == 0 {
		return complain(stderr, fmt.Errorf("-root: there is no Go source in %s", cfg.root), exitUsage)
	}
	svc, err := connect(cfg)
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	defer svc.close()

	r, err := load(ctx, cfg, svc, tree, stderr)
	if err != nil {
		return complain(stderr, err, exitProblem)
	}
	r.print(stdout)
	if cfg.json {
		if err := r.printJSON(stdout); err != nil {
			return complain(stderr, err, exitProblem)
		}
	}
	switch {
	case r.OK:
		return 0
	case r.Interrupted && len(r.Problems) == 0:
		return exitInterrupted
	}
	return exitProblem
}

// complain prints what is wrong on one line.
func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "quickstart: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}

// load does the job and tells how it went. An error means that it did not begin.
func load(ctx context.Context, cfg config, svc *service, tree declarations.Tree, stderr io.Writer) (*report, error) {
	client, before, err := svc.openIndex(ctx, cfg.index)
	if err != nil {
		return nil, err
	}
	reported, met := &outcomes{}, newSurvived()
	sender, err := newSender(met.through(client), cfg, reported, met)
	if err != nil {
		return nil, err
	}
	r := &report{Service: svc.name, Index: cfg.index, Count: -1, Problems: []string{}}
	fmt.Fprintf(stderr, "%d packages below %s go to index %s of %s\n", len(tree.Packages), cfg.root, cfg.index, svc.name)

	l := &loader{tree: tree, sender: sender}
	stopProgress := showProgress(stderr, l.position)
	started := time.Now()
	l.run(ctx)
	if ctx.Err() == nil {
		// Close would send the rest as well, but with a deadline. What has failed
		// is in the report: its events were reported.
		_ = sender.Flush(ctx, nil)
	}
	if ctx.Err() != nil {
		stopProgress() // one writer at a time
		fmt.Fprintf(stderr, "\ninterrupted: sending what was accepted for at most %v more; again to stop at once\n", cfg.closeTimeout)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.closeTimeout)
	defer cancel()
	_ = sender.Close(closing) // what it gave up is in the report too
	r.Seconds = time.Since(started).Seconds()
	stopProgress()

	r.Interrupted = ctx.Err() != nil
	r.parsed(l)
	r.account(sender.Stats(), reported, l.accepted.Load())
	if r.Seconds > 0 {
		r.DocumentsPerSecond = float64(r.Completed) / r.Seconds
	}
	if svc.emulator != nil {
		met.emulatorSaw(svc.emulator.Requests())
	}
	r.RequestFaults, r.DocumentFaults = met.requests, met.documents
	if !r.Interrupted {
		r.verify(ctx, cfg, svc, client, before, reported.samples)
	}
	r.PeakMemory = peakMemory()
	r.OK = len(r.Problems) == 0 && !r.Interrupted
	return r, nil
}
