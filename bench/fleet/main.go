// Command fleet is for whoever doubts that many senders can share one service: it puts a fleet beside a lone sender,
// live updates beside a backfill, healthy indexes beside a sick one, and a hundred busy indexes beside ten thousand
// idle ones.
//
//	go run ./fleet                          # everything: eight to ten minutes
//	go run ./fleet -only live,sick -rounds 3
//	go run ./fleet -only many -profile profiles
//	go run ./fleet -fast                    # does it run? Figures that mean little
//
// The service is in the process: a request takes 50 ms and no processor time, so slots and the size of batches decide
// what it takes, which is below half of the processors. All figures but bytes and nanoseconds compare what was
// measured in turns, in one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
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
	only    []string
	rounds  int
	window  time.Duration // of one measurement
	indexes int           // that are known, of the row many
	profile string
}

// row is one question. It adds what it has measured in a round to the table.
type row struct {
	name, what string
	measure    func(ctx context.Context, p *plan, t *figures.Table) error
}

var rows = []row{
	{"crowd", "forty senders of a fleet, and a lone one with as many slots, the same budget and the same forty producers; all buffers are full", crowd},
	{"live", "live updates in Expedited, without and with a BestEffort backfill of the same index that always has more", live},
	{"sick", "forty indexes, of which one floods its sender and becomes sick; the other 39 use half of the slots", sick},
	{"many", "indexes that are known, that have been used, and a hundred busy ones among them", many},
	{"slot", "what a slot costs", slot},
}

func rowNames() (names []string) {
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// command returns the exit code: 0, 1 if something could not be measured or a document was lost, 2 for a mistake in
// the arguments. A target that is missed is marked, and no error: a machine that does other work misses some.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("fleet", flag.ContinueOnError)
	set.SetOutput(stderr)
	p := plan{}
	only := set.String("only", "", "rows, separated by commas: "+strings.Join(rowNames(), ", "))
	set.IntVar(&p.rounds, "rounds", 5, "how often each is measured")
	set.DurationVar(&p.window, "window", 4*time.Second, "how long a measurement takes")
	set.IntVar(&p.indexes, "indexes", 10_000, "how many indexes there are in the row many")
	set.StringVar(&p.profile, "profile", "", "a directory for processor profiles, one for each row")
	fast := set.Bool("fast", false, "-rounds 1 -window 300ms -indexes 300")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *fast {
		p.rounds, p.window, p.indexes = 1, 300*time.Millisecond, 300
	}
	p.only = rowNames()
	if *only != "" {
		p.only = strings.Split(*only, ",")
	}
	for _, name := range p.only {
		if !slices.Contains(rowNames(), name) {
			fmt.Fprintf(stderr, "fleet: there is no row %q\n", name)
			return 2
		}
	}
	if set.NArg() > 0 || p.rounds < 1 || p.window <= 0 || p.indexes < busyIndexes {
		fmt.Fprintf(stderr, "fleet: -rounds and -window have to be positive, -indexes at least %d, and there are no arguments\n", busyIndexes)
		return 2
	}
	if err := p.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "fleet:", err)
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
		if err := p.profiled(r.name, func() error {
			for range p.rounds {
				if err := errors.Join(ctx.Err(), r.measure(ctx, p, &t)); err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
			}
			return nil
		}); err != nil {
			return err
		}
		t.Write(stdout, r.name, r.what)
	}
	return nil
}

// profiled runs a row under the profiler, if that is wanted.
func (p *plan) profiled(name string, do func() error) error {
	if p.profile == "" {
		return do()
	}
	file, err := os.Create(filepath.Join(p.profile, name+".pprof"))
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	err = do()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

// heap is what is alive on the heap, in bytes.
func heap() float64 {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
