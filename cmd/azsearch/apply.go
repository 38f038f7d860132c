package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/apply"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
)

func newApplyCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "apply",
		Usage:     "change the definitions of a service to those of files; prints the plan first",
		ArgsUsage: "DIR|FILE",
		Description: `DIR is as azsearch pull makes it: indexes/hotels.json, synonymmaps/, aliases/, datasources/,
skillsets/, indexers/, knowledgesources/, knowledgebases/. Without -yes the plan is printed,
and nothing is changed. Each change is made in place, or needs a rebuild of its index, or is
refused; with -yes nothing is changed either if one is not in place. A definition without a
file stays. "${VARIABLE}" is taken from the environment, and never printed. To rebuild an index
that an alias names, define it under a new name, point the alias to that, and add -fill.

   azsearch apply definitions
   azsearch apply -yes definitions
   azsearch apply -yes -fill definitions
   azsearch apply -drift definitions || echo 'somebody has changed the service'

Exit codes: 0 there is nothing to change, or all is done; 1 something is refused or has failed; 2 the
plan on stdout is not empty, or, without one, usage; 3 the service.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "carry out the plan"},
			&cli.BoolFlag{Name: "drift", Usage: "say what the service has that the files do not, extra definitions too; exit code 2 if anything"},
			&cli.BoolFlag{Name: "downtime", Usage: "let indexes be offline for some seconds, where a change of analyzers needs that"},
			&cli.BoolFlag{Name: "fewer", Usage: "let an alias move to an index that has far fewer documents"},
			&cli.BoolFlag{Name: "fill", Usage: "before an alias moves to another index, copy the documents of the one that it leaves, and compare"},
			&cli.BoolFlag{Name: "unchecked", Usage: "leave it to the service what it refuses in data sources, skillsets and indexers"},
			&cli.BoolFlag{Name: "secrets", Usage: "write definitions with secrets again: the service does not show whether these have changed"},
			&cli.BoolFlag{Name: "json", Usage: "print the plan as JSON"},
		},
	}, 1, 1, runApply)
}

func runApply(ctx context.Context, c *serviceCall) error {
	if c.Bool("drift") && (c.Bool("yes") || c.Bool("secrets")) {
		return errors.New("-drift changes nothing: leave -yes and -secrets out")
	}
	if c.Bool("fill") && c.Bool("fewer") {
		return errors.New("-fill copies what -fewer leaves out: leave one of them out")
	}
	files, err := definitions.Open(c.args[0])
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: no definitions; want files such as indexes/hotels.json (azsearch pull makes them)", c.args[0])
	}
	live, err := definitions.Read(ctx, c.service, kindsFor(files)...)
	if err != nil {
		return err
	}
	options := apply.Options{Downtime: c.Bool("downtime"), Secrets: c.Bool("secrets"), Unchecked: c.Bool("unchecked")}
	if c.Bool("fill") {
		options.Fill = c.fill
	}
	plan, err := apply.New(files, live, os.LookupEnv, options)
	if err != nil {
		return err
	}
	if !c.Bool("fewer") && !c.Bool("fill") { // which compares more than counts
		err = plan.CompareCounts(live, func(index string) (int64, error) {
			client, err := c.service.Client(index)
			if err != nil {
				return 0, err
			}
			return keyrange.Count(ctx, client)
		})
		if err != nil {
			return answered(err)
		}
	}
	if info, err := os.Stat(c.args[0]); err != nil || !info.IsDir() || c.Bool("yes") {
		plan.Extra = nil // of the other files, or not the business of this run
	}
	if err := c.plan(plan); err != nil {
		return err
	}
	differs := len(plan.Steps)
	if c.Bool("drift") {
		differs += len(plan.Extra)
	}
	switch {
	case differs == 0:
		return nil
	case c.Bool("drift"):
		return exit.With(exit.Different, fmt.Errorf("the service differs from the files in %s", definitionCount(differs)))
	case !c.Bool("yes"):
		return exit.With(exit.Different, fmt.Errorf("nothing was changed: add -yes to carry out the plan for %s", definitionCount(differs)))
	}
	return plan.Run(ctx, c.service, func(s *apply.Step) {
		what := "changed"
		if s.Create {
			what = "created"
		}
		_ = c.more("%s %s", what, s)
	})
}

// kindsFor returns the kinds of definitions that a plan for files has to know.
func kindsFor(files definitions.Set) (kinds []*definitions.Kind) {
	add := func(k *definitions.Kind) {
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for _, d := range files {
		add(d.Kind)
		for _, k := range apply.Needs(d.Kind) {
			add(k)
		}
	}
	return kinds
}

// plan prints a plan.
func (c *serviceCall) plan(p *apply.Plan) error {
	if c.Bool("json") {
		return c.print(p, true)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if err := c.say("%s (%s/)", s, s.Folder); err != nil {
			return err
		}
		for _, change := range s.Changes {
			if err := c.change(s, change); err != nil {
				return err
			}
		}
	}
	for _, extra := range p.Extra {
		if err := c.say("%s is not in the files; it stays", extra); err != nil {
			return err
		}
	}
	return c.say("plan: %d in place, %d need a rebuild, %d refused, %d as they should be",
		p.Count(apply.InPlace), p.Count(apply.Rebuild), p.Count(apply.Refused), p.Same)
}

// change prints a change in the colour of its cost.
func (c *serviceCall) change(s *apply.Step, change apply.Change) error {
	paint := map[apply.Cost]func(string) string{apply.InPlace: c.stdout.Green, apply.Rebuild: c.stdout.Yellow, apply.Refused: c.stdout.Red}[change.Cost]
	line := "  " + paint(fmt.Sprintf("%-15s", change.Cost)) + "  "
	switch {
	case s.Create && change.Cost == apply.InPlace:
		line += "create it"
	case change.Path == "":
		line += listing.Printable(change.Reason)
	case change.Old == nil && change.New == nil:
		line += listing.Printable(change.Path + ": " + change.Reason)
	default:
		line += fmt.Sprintf("%s: %s → %s (%s)", listing.Printable(change.Path), short(change.Old), short(change.New), change.Reason)
	}
	if err := c.say("%s", line); err != nil || change.Do == "" {
		return err
	}
	return c.say("%19s%s", "", listing.Printable(change.Do))
}

// short returns a value for people.
func short(v json.RawMessage) string {
	const most = 120
	text := "nothing"
	if v != nil {
		text = listing.Printable(string(v))
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func definitionCount(n int) string {
	if n == 1 {
		return "1 definition"
	}
	return fmt.Sprintf("%d definitions", n)
}

func newPullCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "pull",
		Usage:     "write the definitions of a service as files for azsearch apply",
		ArgsUsage: "DIR",
		Description: `Each definition is a file, always in the same form. Secrets are left out: a placeholder such as
"${DATASOURCES_HOTELS_CREDENTIALS_CONNECTIONSTRING}" stands for one. A file that says the
same as the service already stays as it is. Afterwards the plan of azsearch apply is empty.

   azsearch pull definitions
   azsearch pull -prune definitions && git diff --exit-code definitions
   azsearch pull -endpoint https://NAME.search.windows.net backup/$(date +%F)`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "prune", Usage: "remove files of definitions that the service does not have"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
	}, 1, 1, runPull)
}

func runPull(ctx context.Context, c *serviceCall) error {
	dir := c.args[0]
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: name a directory", dir)
	}
	var files definitions.Set
	if _, err := os.Stat(dir); err == nil {
		if files, err = definitions.Open(dir); err != nil {
			return err
		}
	}
	live, err := definitions.Read(ctx, c.service)
	if err != nil {
		return err
	}
	result, err := apply.Pull(dir, files, live, c.Bool("prune"))
	if err != nil {
		return failed(err)
	}
	if c.Bool("json") {
		err = c.print(result, true)
	} else {
		err = c.say("wrote %d of %s to %s%s", len(result.Written), definitionCount(len(live)), listing.Printable(dir), map[bool]string{true: fmt.Sprintf(", removed %d", len(result.Removed))}[len(result.Removed) > 0])
		if err == nil && len(result.Variables) > 0 {
			err = c.say("their secrets are left out; azsearch apply takes them from %s", strings.Join(result.Variables, ", "))
		}
	}
	if err == nil && len(result.Stale) > 0 {
		err = failed(fmt.Errorf("the service does not have %s; remove these files, or add -prune", strings.Join(result.Stale, ", ")))
	}
	return err
}
