package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/apply"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/models"
)

func newApplyCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "apply",
		Usage:     "make the definitions of a service equal to files; prints the plan first",
		ArgsUsage: "DIR|FILE",
		Description: `DIR has the layout that azsearch pull writes: indexes/hotels.json, synonymmaps/, aliases/,
datasources/, skillsets/, indexers/, knowledgesources/, knowledgebases/. Without -yes the command
prints the plan and changes nothing. The plan marks each change as in place, needing a rebuild of
the index, or refused. -yes carries out the plan only if all changes are in place. A definition
without a file stays. "${VARIABLE}" is replaced from the environment and never printed.

-fill also rebuilds indexes that an alias names: it creates hotels-2 for hotels-1, copies the
documents, compares both, and moves the alias, or leaves it where it is. The files stay: from then
on indexes/hotels-1.json defines hotels-2. hotels-1 is kept. Writers have to stop meanwhile; for
writers that cannot, use package search/rebuild. After Ctrl-C or a kill the alias is at hotels-1, and
the next -fill continues with hotels-2; or it has moved, and nothing is left to do. Of two at once one stops.

   azsearch apply definitions
   azsearch apply -yes definitions
   azsearch apply -yes -fill definitions
   azsearch apply -drift definitions || echo 'the service was changed by hand'

Exit codes: 0 nothing to change, or all changes made; 1 a change was refused or failed; 2 the plan on
stdout has changes, or (without a plan) usage; 3 service error.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "carry out the plan"},
			&cli.BoolFlag{Name: "drift", Usage: "print how the service differs from the files, extra definitions included; exit code 2 if it does"},
			&cli.BoolFlag{Name: "downtime", Usage: "allow some seconds of downtime for an index whose change of analyzers needs it"},
			&cli.BoolFlag{Name: "fewer", Usage: "allow an alias to move to an index with far fewer documents"},
			&cli.BoolFlag{Name: "fill", Usage: "rebuild indexes that an alias names, and before an alias moves, copy the documents of its old index to the new one"},
			&cli.DurationFlag{Name: "settle", Usage: "with -fill, wait `DURATION` for the readers and writers of an alias that has moved", Value: time.Minute},
			&cli.BoolFlag{Name: "unchecked", Usage: "do not check data sources, skillsets and indexers; the service refuses invalid ones"},
			&cli.BoolFlag{Name: "secrets", Usage: "rewrite definitions that have secrets, because the service does not show whether a secret changed"},
			&cli.BoolFlag{Name: "json", Usage: "print the plan as JSON"},
		},
	}, 1, 1, runApply)
}

func runApply(ctx context.Context, c *serviceCall) error {
	if c.Bool("drift") && (c.Bool("yes") || c.Bool("secrets")) {
		return errors.New("-drift changes nothing: leave -yes and -secrets out")
	}
	if c.Bool("fill") && c.Bool("fewer") {
		return errors.New("-fill and -fewer cannot be used together: use one of them")
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
	var late []error
	if c.Bool("fill") {
		options.Fill = func(ctx context.Context, r *apply.Rebuilding, next models.SearchIndex) error {
			missing, err := c.rebuild(ctx, r, next)
			late = append(late, missing)
			return err
		}
	}
	plan, err := apply.New(files, live, os.LookupEnv, options)
	if err != nil {
		return err
	}
	count := func(index string) (int64, error) {
		client, err := c.service.Client(index)
		if err != nil {
			return 0, err
		}
		return keyrange.Count(ctx, client)
	}
	err = plan.CountDocuments(count)
	if err == nil && !c.Bool("fewer") && !c.Bool("fill") { // -fill compares documents, not only their number
		err = plan.CompareCounts(live, count)
	}
	if err != nil {
		return answered(err)
	}
	if info, err := os.Stat(c.args[0]); err != nil || !info.IsDir() || c.Bool("yes") {
		plan.Extra = nil // one file does not define everything; -yes does not delete
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
		return exit.With(exit.Different, fmt.Errorf("the service differs from the files in %s", amount.Of(differs, "definition")))
	case !c.Bool("yes"):
		if err := plan.Check(); err != nil { // -yes would refuse it
			return exit.With(exit.Different, err)
		}
		return exit.With(exit.Different, fmt.Errorf("nothing was changed: add -yes to carry out the plan for %s", amount.Of(differs, "definition")))
	}
	err = plan.Run(ctx, c.service, c.done)
	if missing := errors.Join(late...); missing != nil {
		return exit.With(cmp.Or(exit.Code(err), exit.Incomplete), errors.Join(missing, err))
	}
	return err
}

// done prints that a step is done.
func (c *serviceCall) done(s *apply.Step) {
	if r := s.Rebuild; r != nil {
		_ = c.more("rebuilt index %q as %q; alias %q names it; when %[1]q is no longer needed: %[4]s", r.From, r.To, r.Alias, c.dropping(r.From))
		return
	}
	what := "changed"
	if s.Create {
		what = "created"
	}
	_ = c.more("%s %s", what, s)
}

// kindsFor returns the kinds of definitions needed to plan the changes for files.
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

// plan prints p: a line per step, its changes below, then the totals; with -json one object.
func (c *serviceCall) plan(p *apply.Plan) error {
	if c.Bool("json") {
		return c.print(p, true)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if err := c.say("%s (%s/)", s, s.Folder); err != nil {
			return err
		}
		for j, change := range s.Changes {
			if slices.ContainsFunc(s.Changes[j+1:], func(later apply.Change) bool { return later.Do == change.Do }) {
				change.Do = "" // it follows the last change that it is for
			}
			if err := c.change(s, change); err != nil {
				return err
			}
		}
		if s.Rebuild != nil {
			for _, line := range s.Rebuild.Lines() {
				if err := c.say("%19s%s", "", listing.Printable(line)); err != nil {
					return err
				}
			}
		}
	}
	for _, extra := range p.Extra {
		if err := c.say("%s is not in the files; it stays", extra); err != nil {
			return err
		}
	}
	if err := c.say("plan: %d in place, %d need a rebuild, %d refused, %d unchanged",
		p.Count(apply.InPlace), p.Count(apply.Rebuild), p.Count(apply.Refused), p.Same); err != nil || p.Uncompared == 0 {
		return err
	}
	return c.say("secrets of %s were not compared; apply -secrets writes them", amount.Of(p.Uncompared, "definition"))
}

// change prints one change: green if in place, yellow if it needs a rebuild, red if refused.
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

// short returns v in printable form, cut to 120 characters; "nothing" for nil.
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

func newPullCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "pull",
		Usage:     "write the definitions of a service as files for azsearch apply",
		ArgsUsage: "DIR",
		Description: `Each definition is one file, in a canonical form. Secrets are replaced by placeholders such as
"${DATASOURCES_HOTELS_CREDENTIALS_CONNECTIONSTRING}". A file equal to the definition in the
service is not rewritten. Afterwards the plan of azsearch apply is empty.

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
		return fmt.Errorf("%s is a file, want a directory", dir)
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
		err = c.say("wrote %d of %s to %s%s", len(result.Written), amount.Of(len(live), "definition"), listing.Printable(dir), map[bool]string{true: fmt.Sprintf(", removed %d", len(result.Removed))}[len(result.Removed) > 0])
		if err == nil && len(result.Variables) > 0 {
			err = c.say("their secrets are left out; azsearch apply takes them from %s", strings.Join(result.Variables, ", "))
		}
	}
	if err == nil && len(result.Stale) > 0 {
		err = failed(fmt.Errorf("the service does not have %s; remove these files, or add -prune", strings.Join(result.Stale, ", ")))
	}
	return err
}
