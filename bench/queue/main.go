// Command queue is for whoever doubts that the file queue should have a log of its own: it
// puts it and stores that could have been used instead through the same work, on the same disk, at
// the same durability, in turns.
//
//	go run ./queue                              # everything: some minutes
//	go run ./queue -only calls,lone -rounds 3
//	go run ./queue -scale 0.01                  # a hundredth of the work, to try it
//
// Figures are medians of the rounds, with the range. CPU seconds are those of the process, and steadier
// than rates on a machine that does other work.
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

	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// plan is what is measured.
type plan struct {
	only   []string
	rounds int
	scale  float64
	dir    string
}

// scaled is a number of something in proportion to the scale, and at least least.
func (p *plan) scaled(n, least int) int { return max(least, int(float64(n)*p.scale)) }

// command returns the exit code: 0, 1 if something could not be measured or came out wrong, 2 for a mistake in
// the arguments.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("queue", flag.ContinueOnError)
	set.SetOutput(stderr)
	var p plan
	only := set.String("only", "", "rows, separated by commas: "+strings.Join(rowNames(), ", "))
	set.IntVar(&p.rounds, "rounds", 5, "how often each is measured")
	set.Float64Var(&p.scale, "scale", 1, "how much work, 1 is that of the table in README.md")
	set.StringVar(&p.dir, "dir", "", "where the files are; a temporary directory by default, which must not be in memory")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	p.only = rowNames()
	if *only != "" {
		p.only = strings.Split(*only, ",")
	}
	for _, name := range p.only {
		if !slices.Contains(rowNames(), name) {
			fmt.Fprintf(stderr, "queue: there is no row %q\n", name)
			return 2
		}
	}
	if set.NArg() > 0 || p.rounds < 1 || p.scale <= 0 {
		fmt.Fprintln(stderr, "queue: -rounds and -scale have to be positive, and there are no arguments")
		return 2
	}
	if err := p.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "queue:", err)
		return 1
	}
	return 0
}

func (p *plan) run(ctx context.Context, stdout io.Writer) error {
	var t measure.Table
	for _, r := range rows {
		if !slices.Contains(p.only, r.name) {
			continue
		}
		for range p.rounds {
			for _, c := range r.contestants {
				if err := ctx.Err(); err != nil {
					return err
				}
				figures, err := p.once(ctx, r, c)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", r.name, c.name, err)
				}
				for _, f := range figures {
					t.Add(r.name, c.name, f.name, f.value)
				}
			}
		}
		t.Write(stdout, r.name, r.what, len(r.contestants) > 1)
	}
	return nil
}

// once measures a row once, in a directory of its own.
func (p *plan) once(ctx context.Context, r row, c contestant) ([]figure, error) {
	dir, err := os.MkdirTemp(p.dir, "azsearch-queue-")
	if err != nil {
		return nil, err
	}
	figures, err := r.measure(ctx, p, dir, c)
	return figures, errors.Join(err, os.RemoveAll(dir))
}
