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
	Rebuild Cost = "needs a rebuild" // the change needs a new index
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

	// Fill names the index whose documents are copied to the new index of an alias before the alias moves, "" for
	// none.
	Fill string `json:"fillFrom,omitempty"`

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

	variables Variables
	options   Options
}

// Options are the permissions and requests of the user.
type Options struct {
	Downtime  bool // an index may be offline for some seconds
	Secrets   bool // rewrite definitions that have secrets even if nothing else differs, because the service returns no secrets
	Unchecked bool // do not check data sources, skillsets and indexers
	// Fill copies the documents of index from to index to before an alias moves from one to the other. If it is nil,
	// the plan blocks moving an alias to an index that it creates.
	Fill func(ctx context.Context, from, to string) error
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

// New returns the plan that makes live equal to files.
func New(files, live definitions.Set, variables Variables, options Options) (*Plan, error) {
	p := &Plan{Steps: []Step{}, variables: variables, options: options}
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
			hidden, _ := before.Expand(func(string) (string, bool) { return redacted, true })
			changes, err := diff(d.Kind, hidden, after)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", d.File(), err))
				continue
			}
			for i := range changes {
				changes[i].New = said(changes[i], after)
			}
			step.add(changes, live)
			if options.Secrets && len(step.Changes) == 0 && d.HasSecret() {
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
			p.Extra = append(p.Extra, d.String())
		}
	}
	p.emptyTargets(files, live)
	p.mask(files)
	return p, errors.Join(errs...)
}

// shown returns the value that replaces a placeholder in a comparison: that of the variable, or redacted.
func (p *Plan) shown(name string) (string, bool) {
	if v, ok := p.variables(name); ok {
		return v, true
	}
	return redacted, true
}

// add appends the changes of a definition with their costs and advice.
func (s *Step) add(changes search.IndexChanges, live definitions.Set) {
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
				change.Cost, change.Do = Rebuild, rebuildBy(s.Name, live)
				s.instead = fmt.Sprintf(": define it as indexes/%s.json", Next(s.Name, live))
			}
		case search.ChangeInPlace:
			if c.New == nil && s.definition.Kind != definitions.Indexes {
				change.Do = "if the service has filled it in, azsearch pull writes it into the file"
			}
		}
		s.Changes = append(s.Changes, change)
	}
}

// rebuildBy returns advice how to rebuild an index.
func rebuildBy(index string, live definitions.Set) string {
	next := Next(index, live)
	for _, a := range live.Of(definitions.Aliases) {
		if slices.Contains(references(&a, a.JSON), reference{definitions.Indexes, index}) {
			return fmt.Sprintf("define it as indexes/%s.json, point aliases/%s.json to that, and apply -fill while no program writes"+
				" (search/rebuild does it in a program while writers continue)", next, a.Name)
		}
	}
	return fmt.Sprintf("define it as indexes/%s.json, apply that file, fill the new index with azsearch copy or load while no program writes,"+
		" then let readers and writers use that name; an alias would spare readers the next change", next)
}

// Next returns a free name for the successor of an index: hotels-2 for hotels, hotels-3 for hotels-2.
func Next(index string, live definitions.Set) string {
	stem, n := index, 1
	if at := strings.LastIndexByte(index, '-'); at > 0 {
		if _, err := fmt.Sscanf(index[at+1:]+"$", "%d$", &n); err == nil {
			stem = index[:at]
		}
	}
	for {
		n++
		if name := fmt.Sprintf("%s-%d", stem, n); live.Find(definitions.Indexes, name) == nil {
			return name
		}
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

// emptyTargets handles aliases that move. Without Options.Fill it blocks a move to an index that the plan creates,
// because that index is empty. With Options.Fill every index that an alias moves to is filled, even an existing one,
// because an earlier run may have stopped while filling it.
func (p *Plan) emptyTargets(files, live definitions.Set) {
	for i := range p.Steps {
		s := &p.Steps[i]
		old, target := moves(s, live)
		next, there := files.Find(definitions.Indexes, target), live.Find(definitions.Indexes, target)
		switch {
		case old == "" || next == nil && there == nil:
		case p.options.Fill != nil:
			if next == nil {
				next = there
			}
			s.fill(live.Find(definitions.Indexes, old), next)
		case there == nil:
			s.instead = ": add -fill"
			s.block(Rebuild, fmt.Sprintf("index %q is created by this plan, and empty", target),
				fmt.Sprintf("apply -fill fills it from %q while no program writes; or apply indexes/%s.json alone, fill the index with azsearch load, then apply the alias; %q serves until then", old, target, old))
		}
	}
}

// block sets the cost, reason and advice of moving an alias.
func (s *Step) block(cost Cost, reason, do string) {
	for i := range s.Changes {
		if c := &s.Changes[i]; c.Path == "indexes" && c.Cost == InPlace {
			c.Cost, c.Reason, c.Do = cost, reason, do
		}
	}
}

// fill plans to copy the documents of from to to before an alias moves, or blocks the move if values would be lost.
func (s *Step) fill(from, to *definitions.Definition) {
	var old, next models.SearchIndex
	if from == nil || json.Unmarshal(from.JSON, &old) != nil || json.Unmarshal(to.JSON, &next) != nil {
		return // the service reports a precise error
	}
	switch unreadable, missing := losses("", old.Fields, next.Fields); {
	case len(unreadable) > 0:
		s.block(Refused, fmt.Sprintf("the values of %s in %q cannot be read, so they would be lost", strings.Join(unreadable, ", "), from.Name),
			fmt.Sprintf("fill %q with azsearch load or repair from the source of the documents, then apply the alias", to.Name))
		return
	case len(missing) > 0:
		s.block(Refused, fmt.Sprintf("%q lacks %s, which documents of %q have inside another field", to.Name, strings.Join(missing, ", "), from.Name),
			fmt.Sprintf("fill %q with azsearch copy -jq or load, then apply the alias", to.Name))
		return
	}
	s.Fill = from.Name
	s.block(InPlace, fmt.Sprintf("%q is filled from %q first", to.Name, from.Name), "stop what writes until then: later writes are missing (search/rebuild does it in a program while writers continue)")
}

// losses compares the fields of two indexes. unreadable are fields of both whose values the service does not return;
// missing are subfields of complex fields that only from has.
func losses(path string, from, to []models.SearchField) (unreadable, missing []string) {
	for i := range from {
		f := &from[i]
		at := slices.IndexFunc(to, func(other models.SearchField) bool { return other.Name == f.Name })
		switch {
		case at < 0 && path != "":
			missing = append(missing, path+f.Name)
		case at < 0:
		case f.Retrievable != nil && !*f.Retrievable, f.Stored != nil && !*f.Stored:
			unreadable = append(unreadable, path+f.Name)
		default:
			u, m := losses(path+f.Name+"/", f.Fields, to[at].Fields)
			unreadable, missing = append(unreadable, u...), append(missing, m...)
		}
	}
	return unreadable, missing
}

// moves returns the old and new index of an alias that the step moves, "" if it moves none.
func moves(s *Step, live definitions.Set) (old, target string) {
	before := live.Find(definitions.Aliases, s.Name)
	if s.definition.Kind != definitions.Aliases || before == nil {
		return "", ""
	}
	from, to := references(before, before.JSON), references(s.definition, s.definition.JSON)
	if len(from) != 1 || len(to) != 1 || from[0] == to[0] {
		return "", ""
	}
	return from[0].name, to[0].name
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
