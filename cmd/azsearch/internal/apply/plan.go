// Package apply implements azsearch apply and pull. It compares definitions in files with those of a service, plans
// the changes with the cost of each, and carries out those that the service makes in place.
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Cost classifies what a change needs.
type Cost string

// The costs, cheapest first.
const (
	InPlace Cost = "in place"        // apply makes the change
	Rebuild Cost = "needs a rebuild" // the change needs a new index: apply makes it if the step has a Rebuilding and Options.Fill is set
	Refused Cost = "refused"         // the service would refuse it, or a definition or variable is missing
)

// Change is one difference between a file and the service.
type Change struct {
	Cost   Cost            `json:"cost"`
	Path   string          `json:"path,omitempty"` // "" for the whole definition
	Old    json.RawMessage `json:"old,omitempty"`  // at the service, without secrets
	New    json.RawMessage `json:"new,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Do     string          `json:"do,omitempty"` // advice for the user
}

// Step creates or changes one definition.
type Step struct {
	Name     string   `json:"name"`
	Folder   string   `json:"folder"`
	Create   bool     `json:"create,omitzero"`
	Downtime bool     `json:"downtime,omitzero"` // the index is offline for some seconds
	Changes  []Change `json:"changes"`

	// Rebuild says how the index is replaced by a new one, nil if it is not.
	Rebuild *Rebuilding `json:"rebuild,omitempty"`

	by         bool   // the index is created by the rebuild of another step
	instead    string // short advice if the plan cannot be carried out because of this step, "" for none
	definition *definitions.Definition
	etag       string // of the live definition that was compared; "" if there was none
}

// String returns the kind and name of the definition.
func (s *Step) String() string { return s.definition.String() }

// Cost returns the highest cost of its changes.
func (s *Step) Cost() Cost {
	costs := []Cost{InPlace, Rebuild, Refused}
	most := 0
	for _, c := range s.Changes {
		most = max(most, slices.Index(costs, c.Cost))
	}
	return costs[most]
}

// Plan lists the steps in the order in which Run carries them out.
type Plan struct {
	Steps []Step `json:"steps"`
	Same  int    `json:"same"` // number of definitions without changes
	// Uncompared is the number of those that have secrets, which the service does not return.
	Uncompared int `json:"secretsNotCompared,omitzero"`
	// Extra names live definitions without a file, limited to kinds that have at least one file. Run leaves them
	// alone.
	Extra []string `json:"notInFiles,omitempty"`

	replaced  map[string]string // by the present one: live indexes that apply has rebuilt
	variables Variables
	options   Options
}

// Options are the permissions and requests of the user.
type Options struct {
	Downtime  bool // an index may be offline for some seconds
	Secrets   bool // rewrite definitions that have secrets even if nothing else differs, because the service returns no secrets
	Unchecked bool // do not check data sources, skillsets and indexers
	// Fill carries out a rebuild: it creates next, copies the documents and moves the alias. If it is nil, the plan is not
	// carried out if it needs a rebuild.
	Fill func(ctx context.Context, r *Rebuilding, next models.SearchIndex) error
}

// Count returns the number of steps with cost c.
func (p *Plan) Count(c Cost) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Cost() == c {
			n++
		}
	}
	return n
}

// Variables looks up environment variables for placeholders.
type Variables func(name string) (value string, ok bool)

// redacted stands for a secret. A comparison takes it as equal to any value.
const redacted = "<redacted>"

// New returns the plan that makes live equal to files. A file of an index that apply has rebuilt is compared with its
// successor.
func New(files, live definitions.Set, variables Variables, options Options) (*Plan, error) {
	p := &Plan{Steps: []Step{}, replaced: map[string]string{}, variables: variables, options: options}
	return p, p.compare(p.current(files, live), live)
}

// compare fills in the plan that makes live equal to files.
func (p *Plan) compare(files, live definitions.Set) error {
	var errs []error
	for i := range files {
		d := &files[i]
		step := Step{Name: d.Name, Folder: d.Kind.Folder, definition: d}
		after, _ := d.Expand(p.shown)
		if before := live.Find(d.Kind, d.Name); before == nil {
			step.Create = true
			step.Changes = []Change{{Cost: InPlace, Reason: "it does not exist"}}
		} else {
			step.etag = before.ETag
			changes, err := p.changes(before, d)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", d.File(), err))
				continue
			}
			for i := range changes {
				changes[i].New = said(changes[i], after)
			}
			step.add(changes)
			if step.Cost() == Rebuild {
				p.rebuild(&step, files, live)
			}
			if p.options.Secrets && len(step.Changes) == 0 && d.HasSecret() {
				step.Changes = []Change{{Cost: InPlace, Reason: "its secrets are written again"}}
			}
		}
		if len(step.Changes) == 0 {
			p.Same++
			if d.HasSecret() {
				p.Uncompared++
			}
			continue
		}
		step.refuse(after, files, live, p)
		p.Steps = append(p.Steps, step)
	}
	for i := range live {
		if d := &live[i]; len(files.Of(d.Kind)) > 0 && files.Find(d.Kind, d.Name) == nil {
			name := d.String()
			if to := p.replaced[d.Name]; to != "" && d.Kind == definitions.Indexes {
				name += fmt.Sprintf(" (replaced by %q)", to)
			}
			p.Extra = append(p.Extra, name)
		}
	}
	p.emptyTargets(files, live)
	p.order()
	p.mask(files)
	return errors.Join(errs...)
}

// changes compares a definition in a file with that of the service.
func (p *Plan) changes(before, after *definitions.Definition) (search.IndexChanges, error) {
	hidden, _ := before.Expand(func(string) (string, bool) { return redacted, true })
	shown, _ := after.Expand(p.shown)
	return diff(after.Kind, hidden, shown)
}

// shown returns the value that replaces a placeholder in a comparison: that of the variable, or redacted.
func (p *Plan) shown(name string) (string, bool) {
	if v, ok := p.variables(name); ok {
		return v, true
	}
	return redacted, true
}

// add appends the changes of a definition with their costs and advice.
func (s *Step) add(changes search.IndexChanges) {
	for _, c := range changes {
		change := Change{Cost: InPlace, Path: c.Path, Old: c.Old, New: c.New, Reason: c.Reason}
		switch c.Kind {
		case search.ChangeInPlaceWithDowntime:
			s.Downtime = true
			change.Do = "add -downtime: the index is offline for some seconds"
		case search.ChangeNeedsReset:
			change.Do = "afterwards azsearch indexer reset, then run"
		case search.ChangeNeedsRebuild:
			change.Cost = Refused
			change.Do = "delete it and apply again"
			if s.definition.Kind == definitions.Indexes {
				change.Cost, change.Do = Rebuild, ""
			}
		case search.ChangeInPlace:
			if c.New == nil && s.definition.Kind != definitions.Indexes {
				change.Do = "if the service has filled it in, azsearch pull writes it into the file"
			}
		}
		s.Changes = append(s.Changes, change)
	}
}

// refuse appends a change with cost Refused for each reason to refuse the step: a reference to a missing definition,
// a problem found by the client's checks, or a variable that is not set.
func (s *Step) refuse(after json.RawMessage, files, live definitions.Set, p *Plan) {
	for _, r := range references(s.definition, after) {
		if files.Find(r.kind, r.name) == nil && live.Find(r.kind, r.name) == nil {
			s.Changes = append(s.Changes, Change{Cost: Refused, Reason: fmt.Sprintf("%s %q exists neither in the files nor at the service", r.kind.Noun, p.inFile(s, r.name))})
		}
	}
	hidden, _ := s.definition.Expand(func(string) (string, bool) { return redacted, true }) // with values redacted, because a problem's text quotes values
	if !p.options.Unchecked {
		for _, found := range refused(s.definition.Kind, hidden, files, live) {
			if found.Have != redacted {
				s.Changes = append(s.Changes, Change{Cost: Refused, Path: found.Field, Reason: found.Problem, Do: found.Hint})
			}
		}
	}
	if _, err := s.definition.Expand(p.variables); err != nil && s.Cost() == InPlace {
		s.Changes = append(s.Changes, Change{Cost: Refused, Reason: strings.TrimPrefix(err.Error(), s.definition.String()+": ")})
	}
}

// minShare is the minimum number of documents of an alias's new index, as a share of those of its old index.
const minShare = 0.95

// CompareCounts refuses to move an alias to an index with less than minShare of the documents. count returns the
// number of documents of an index.
func (p *Plan) CompareCounts(live definitions.Set, count func(index string) (int64, error)) error {
	for i := range p.Steps {
		s := &p.Steps[i]
		old, target := moves(s, live)
		if old == "" || live.Find(definitions.Indexes, old) == nil || live.Find(definitions.Indexes, target) == nil {
			continue
		}
		before, err := count(old)
		if err != nil {
			return err
		}
		after, err := count(target)
		if err != nil {
			return err
		}
		if float64(after) < minShare*float64(before) {
			s.block(Refused, fmt.Sprintf("index %q has %s, %q has %d", target, amount.Of(after, "document"), old, before), "add -fill to copy them, fill it with azsearch load, or add -fewer if that is right")
		}
	}
	return nil
}

// mask replaces the values of variables by their names in all changes. The old value of such a change was probably a
// secret, too, so mask hides it.
func (p *Plan) mask(files definitions.Set) {
	var pairs []string
	for i := range files {
		for _, s := range files[i].Secrets {
			if value, ok := p.variables(s.Variable); ok && value != "" {
				name := `"${` + s.Variable + `}"`
				pairs = append(pairs, quoted(value), name, quoted(wire.Text(wire.Location(value))), name)
			}
		}
	}
	r := strings.NewReplacer(pairs...)
	for i := range p.Steps {
		for j := range p.Steps[i].Changes {
			c := &p.Steps[i].Changes[j]
			if shown := r.Replace(string(c.New)); c.New != nil && shown != string(c.New) {
				c.New = json.RawMessage(shown)
				if c.Old != nil {
					c.Old = json.RawMessage(`"***"`)
				}
			}
		}
	}
}

// inFile returns the placeholder in the file that has the value of its variable, or value itself.
func (p *Plan) inFile(s *Step, value string) string {
	for _, secret := range s.definition.Secrets {
		if v, ok := p.variables(secret.Variable); ok && v == value {
			return "${" + secret.Variable + "}"
		}
	}
	return value
}

// quoted returns value as JSON, encoded like the changes of package search.
func quoted(value string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // a string always encodes
	return strings.TrimSpace(b.String())
}
