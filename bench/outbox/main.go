// Command outbox is for whoever wants to know what an outbox costs: it puts it and what could have been used
// instead through the same work, in the same database, at the same durability, in turns.
//
//	go run ./outbox                              # everything: about a quarter of an hour; needs PostgreSQL for most rows
//	go run ./outbox -only relay,sqlite -rounds 3
//	go run ./outbox -scale 0.01                  # a hundredth of the work, to try it
//	go run ./outbox -only relay -rounds 1 -profile profiles -statements
//
// PostgreSQL is as it comes: fsync and synchronous_commit are on. SQLite has a WAL and synchronous=FULL.
// Figures are medians of the rounds, with the range. CPU seconds are those of this process and of the server, with
// all that it does in the background, and steadier than rates on a machine that does other work.
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
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// plan is what is measured.
type plan struct {
	only       []string
	rounds     int
	scale      float64
	dir        string
	profile    string
	statements bool

	stderr io.Writer
	server *servers.PostgresServer // nil until a row needs it
}

// scaled is a number of something in proportion to the scale, and at least least.
func (p *plan) scaled(n, least int) int { return max(least, int(float64(n)*p.scale)) }

// command returns the exit code: 0, 1 if something could not be measured or came out wrong, 2 for a mistake in
// the arguments.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p := &plan{stderr: stderr}
	code := p.command(ctx, args, stdout)
	if p.server != nil {
		if err := p.server.Close(); err != nil {
			fmt.Fprintln(stderr, "outbox:", err)
			code = max(code, 1)
		}
	}
	return code
}

func (p *plan) command(ctx context.Context, args []string, stdout io.Writer) int {
	set := flag.NewFlagSet("outbox", flag.ContinueOnError)
	set.SetOutput(p.stderr)
	only := set.String("only", "", "rows, separated by commas: "+strings.Join(rowNames(), ", "))
	set.IntVar(&p.rounds, "rounds", 5, "how often each is measured, but for latency and idle, which are once")
	set.Float64Var(&p.scale, "scale", 1, "how much work, 1 is that of the table in README.md")
	set.StringVar(&p.dir, "dir", "", "where the files of SQLite are; a temporary directory by default, which must not be in memory")
	set.StringVar(&p.profile, "profile", "", "a folder for a CPU profile of this process for each contestant")
	set.BoolVar(&p.statements, "statements", false, "say what the server has run, and how long that took; it costs some per cent")
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
			fmt.Fprintf(p.stderr, "outbox: there is no row %q\n", name)
			return 2
		}
	}
	if set.NArg() > 0 || p.rounds < 1 || p.scale <= 0 {
		fmt.Fprintln(p.stderr, "outbox: -rounds and -scale have to be positive, and there are no arguments")
		return 2
	}
	if err := p.run(ctx, stdout); err != nil {
		fmt.Fprintln(p.stderr, "outbox:", err)
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
		rounds := p.rounds
		if r.once {
			rounds = 1
		}
		for n := range rounds {
			measured := map[string][]figure{}
			for _, c := range r.contestants {
				if err := ctx.Err(); err != nil {
					return err
				}
				figures, err := p.once(ctx, r, c, n)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", r.name, c.name, err)
				}
				measured[c.name] = figures
				for _, f := range append(figures, r.compare(figures, c.anchor, measured[c.anchor])...) {
					t.Add(r.name, c.name, f.name, f.value)
				}
			}
		}
		t.Write(stdout, r.name, r.what, len(r.contestants) > 1)
	}
	return nil
}

// once measures a contestant once, in a directory of its own.
func (p *plan) once(ctx context.Context, r row, c contestant, round int) (figures []figure, err error) {
	dir, err := os.MkdirTemp(p.dir, "azsearch-outbox-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if p.profile != "" && round == 0 {
		if err := os.MkdirAll(p.profile, 0o755); err != nil {
			return nil, err
		}
		f, err := os.Create(filepath.Join(p.profile, strings.NewReplacer(" ", "-", "/", "-").Replace(r.name+" "+c.name)+".cpu"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	return c.measure(ctx, p, dir)
}
