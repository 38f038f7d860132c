// Command repair is for whoever wants to know what comparing costs: it compares a million documents of the emulated
// service with a source that is generated, ten million rows on both sides, repairs one document of a hundred, deletes
// one of ten by filter, rebuilds an index, keeps a digest tree, and repairs beside writers.
//
//	go run ./repair                    # everything: some ten minutes
//	go run ./repair -only compare -rounds 1
//	go run ./repair -fast              # does it run? Figures that mean little
//
// All figures but bytes compare what was measured in turns, in one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/figures"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// plan is what is measured.
type plan struct {
	only      []string
	rounds    int
	documents int           // in the emulator
	rows      int           // that are generated
	window    time.Duration // of writers
}

// row is one question. It adds what it has measured in a round to the table.
type row struct {
	name, what string
	measure    func(ctx context.Context, p *plan, t *figures.Table) error
}

var rows = []row{
	{"compare", "an index of the emulator that is as its source, which is generated", compareIndex},
	{"large", "both sides generated, without differences", large},
	{"differences", "one document of a hundred is missing in the emulator; beside it, as many documents sent", differences},
	{"delete", "a tenth of the documents deleted by filter, and as many by their keys; a request takes 50 ms longer than the emulator needs", deleteWhere},
	{"rebuild", "an index rebuilt behind its alias beside a writer, and a plain load of as many documents; waits are as short as they may be", rebuildAtOnce},
	{"rebuild-remote", "the same, and a request takes 20 ms longer than the emulator needs", rebuildRemote},
	{"tree", "all documents, of 650 bytes, sent to a sink, another process, by senders without handlers of events, with one that does nothing, and with a digest tree, in turns", keepTree},
	{"live", "writers at full speed to a service that takes 50 ms, and is what decides how many that are, without and with passes beside them", live},
}

func rowNames() (names []string) {
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// command returns the exit code: 0, 1 if something could not be measured or is wrong, 2 for a mistake in the
// arguments. A target that is missed is marked, and no error.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("repair", flag.ContinueOnError)
	set.SetOutput(stderr)
	p := plan{}
	only := set.String("only", "", "rows, separated by commas: "+strings.Join(rowNames(), ", "))
	set.IntVar(&p.rounds, "rounds", 3, "how often each is measured")
	set.IntVar(&p.documents, "documents", 1_000_000, "how many the emulator has")
	set.IntVar(&p.rows, "rows", 10_000_000, "how many are generated in the row large")
	set.DurationVar(&p.window, "window", 4*time.Second, "how long writers write")
	fast := set.Bool("fast", false, "-rounds 1 -documents 3000 -rows 100000 -window 500ms")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *fast {
		p.rounds, p.documents, p.rows, p.window = 1, 3000, 100_000, 500*time.Millisecond
	}
	p.only = rowNames()
	if *only != "" {
		p.only = strings.Split(*only, ",")
	}
	for _, name := range p.only {
		if !slices.Contains(rowNames(), name) {
			fmt.Fprintf(stderr, "repair: there is no row %q\n", name)
			return 2
		}
	}
	if set.NArg() > 0 || p.rounds < 1 || p.documents < 1000 || p.rows < 1000 || p.window <= 0 {
		fmt.Fprintln(stderr, "repair: -rounds and -window have to be positive, -documents and -rows at least 1000, and there are no arguments")
		return 2
	}
	if err := p.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "repair:", err)
		return 1
	}
	return 0
}

func (p *plan) run(ctx context.Context, stdout io.Writer) error {
	for _, r := range rows {
		if !slices.Contains(p.only, r.name) {
			continue
		}
		var t figures.Table
		for range p.rounds {
			if err := errors.Join(ctx.Err(), r.measure(ctx, p, &t)); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		t.Write(stdout, r.name, r.what)
	}
	return nil
}
