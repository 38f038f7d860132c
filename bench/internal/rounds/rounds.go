// Package rounds runs measurements in rounds. Each row of a command is measured in several rounds and printed as a
// table.
package rounds

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/figures"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// Row is one question of a command with flags P. It has either Measure or Contestants.
type Row[P any] struct {
	Name, What string
	Once       bool // more rounds would add nothing
	// Measure adds the figures of a round to the table.
	Measure func(ctx context.Context, p P, t *figures.Table) error
	// Contestants do the same work alternately, each in its own directory.
	Contestants []Contestant[P]
}

// Contestant is one implementation of a row's work.
type Contestant[P any] struct {
	Name string
	// Anchor names an earlier contestant. In each round the figures in Table.Ratios are divided by those of the
	// anchor. "" for none.
	Anchor  string
	Measure func(ctx context.Context, p P, dir string) ([]figures.Figure, error)
}

// Table has the rows of a command.
type Table[P any] struct {
	Rows   []Row[P]
	Rounds int      // default number
	Ratios []string // figures of contestants that are also printed as a ratio to the anchor
}

// Plan has the common flags of the commands.
type Plan struct {
	Rounds  int
	Scale   float64 // of the amount of work
	dir     string
	profile string
	only    []string // names of rows
}

// Scaled returns n times the scale, at least least.
func (p *Plan) Scaled(n, least int) int { return max(least, int(float64(n)*p.Scale)) }

// ScaleFlags declares the flags of commands that scale their work and keep files.
func (p *Plan) ScaleFlags(set *flag.FlagSet) {
	set.Float64Var(&p.Scale, "scale", 1, "amount of work; 1 is that of the table in README.md")
	set.StringVar(&p.dir, "dir", "", "directory of the files (default: a temporary one); must not be in memory")
}

// Parse adds the common flags to a set and parses all flags. check, which may be nil, completes and checks the
// command's own.
func (t Table[P]) Parse(p *Plan, set *flag.FlagSet, args []string, check func() error) error {
	var names []string
	for _, r := range t.Rows {
		names = append(names, r.Name)
	}
	only := set.String("only", "", "rows, separated by commas: "+strings.Join(names, ", "))
	set.IntVar(&p.Rounds, "rounds", t.Rounds, "number of rounds; some rows run only once")
	set.StringVar(&p.profile, "profile", "", "a `folder` for profiles of each row, or of each contestant's first round")
	return cli.Parse(set, args, func() (err error) {
		if check != nil {
			err = check()
		}
		if p.Rounds < 1 {
			err = errors.Join(err, fmt.Errorf("-rounds %d: use at least 1", p.Rounds))
		}
		if set.Lookup("scale") != nil && p.Scale <= 0 {
			err = errors.Join(err, fmt.Errorf("-scale %g: use a positive number", p.Scale))
		}
		if p.only = names; *only != "" {
			p.only = strings.Split(*only, ",")
		}
		for _, name := range p.only {
			if !slices.Contains(names, name) {
				err = errors.Join(err, fmt.Errorf("there is no row %q", name))
			}
		}
		return err
	})
}

// Run measures the chosen rows and writes their tables.
func (t Table[P]) Run(ctx context.Context, common *Plan, p P, w io.Writer) error {
	for _, r := range t.Rows {
		if !slices.Contains(common.only, r.Name) {
			continue
		}
		rounds := common.Rounds
		if r.Once {
			rounds = 1
		}
		var all figures.Table
		run := func() error {
			for n := range rounds {
				if err := errors.Join(ctx.Err(), t.once(ctx, common, p, r, n, &all)); err != nil {
					return fmt.Errorf("%s: %w", r.Name, err)
				}
			}
			return nil
		}
		if r.Measure != nil {
			do := run
			run = func() error { return measure.Profiled(common.profileOf(r.Name), do) }
		}
		if err := run(); err != nil {
			return err
		}
		all.Write(w, r.Name, r.What)
	}
	return nil
}

// once measures a row in one round.
func (t Table[P]) once(ctx context.Context, common *Plan, p P, r Row[P], round int, all *figures.Table) error {
	if r.Measure != nil {
		return r.Measure(ctx, p, all)
	}
	measured := map[string][]figures.Figure{}
	for _, c := range r.Contestants {
		profile := ""
		if round == 0 {
			profile = common.profileOf(r.Name + " " + c.Name)
		}
		if err := measure.Profiled(profile, func() (err error) {
			dir, err := os.MkdirTemp(common.dir, "azsearch-bench-")
			if err != nil {
				return err
			}
			measured[c.Name], err = c.Measure(ctx, p, dir)
			return errors.Join(err, os.RemoveAll(dir))
		}); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		for _, f := range measured[c.Name] {
			all.AddOf(c.Name, f)
		}
		for _, f := range t.compare(measured[c.Name], c.Anchor, measured[c.Anchor]) {
			all.AddOf(c.Name, f)
		}
	}
	return ctx.Err()
}

// compare returns the ratios of figures to those of the anchor in the same round.
func (t Table[P]) compare(all []figures.Figure, anchor string, with []figures.Figure) (ratios []figures.Figure) {
	for _, f := range all {
		for _, w := range with {
			if w.Name == f.Name && w.Value > 0 && slices.Contains(t.Ratios, f.Name) {
				ratios = append(ratios, figures.Figure{Name: f.Name + ", to " + anchor, Value: f.Value / w.Value})
			}
		}
	}
	return ratios
}

func (p *Plan) profileOf(name string) string {
	if p.profile == "" {
		return ""
	}
	return filepath.Join(p.profile, strings.NewReplacer(" ", "-", "/", "-").Replace(name))
}
