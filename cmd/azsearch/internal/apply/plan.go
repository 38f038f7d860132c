// Package apply is for azsearch apply and pull: it compares definitions in files with those of a service, says what
// each difference costs before anything happens, and carries out what the service does in place.
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Cost says what a change takes.
type Cost string

// The costs, the cheapest first.
const (
	InPlace Cost = "in place"        // apply makes it
	Rebuild Cost = "needs a rebuild" // it takes a new index
	Refused Cost = "refused"         // the service would refuse it, or something is missing
)

// Change is one difference between a file and the service.
type Change struct {
	Cost   Cost            `json:"cost"`
	Path   string          `json:"path,omitempty"` // "" for the whole definition
	Old    json.RawMessage `json:"old,omitempty"`  // at the service; without secrets
	New    json.RawMessage `json:"new,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Do     string          `json:"do,omitempty"` // by a person, before or after
}

// Step is a definition that apply would create or change.
type Step struct {
	Name     string   `json:"name"`
	Folder   string   `json:"folder"`
	Create   bool     `json:"create,omitzero"`
	Downtime bool     `json:"downtime,omitzero"` // its index is offline for some seconds
	Changes  []Change `json:"changes"`

	// Fill is the index whose documents that of an alias is filled with before the alias moves to it, "" for none.
	Fill string `json:"fillFrom,omitempty"`

	definition *definitions.Definition
	etag       string // of what the plan was made from
}

// String names the definition.
func (s *Step) String() string { return s.definition.String() }

// Cost returns the cost of the most costly change.
func (s *Step) Cost() Cost {
	costs := []Cost{InPlace, Rebuild, Refused}
	most := 0
	for _, c := range s.Changes {
		most = max(most, slices.Index(costs, c.Cost))
	}
	return costs[most]
}

// Plan is what apply would do, in this order.
type Plan struct {
	Steps []Step `json:"steps"`
	Same  int    `json:"same"` // definitions that need nothing
	// Extra are definitions of the service that no file has, of kinds that have files. They stay as they are.
	Extra []string `json:"notInFiles,omitempty"`

	variables Variables
	options   Options
}

// Options are what a person allows or asks for.
type Options struct {
	Downtime  bool // indexes may be offline for some seconds
	Secrets   bool // definitions with placeholders are written also if nothing else differs: the service shows no secret
	Unchecked bool // only the service decides what it refuses in data sources, skillsets and indexers
	// Fill copies the documents of the index that an alias leaves into the one that it moves to. nil: such an alias does
	// not move before somebody else has done that.
	Fill func(ctx context.Context, from, to string) error
}

// Count returns how many steps have a cost.
func (p *Plan) Count(c Cost) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Cost() == c {
			n++
		}
	}
	return n
}

// Variables are those of the environment that placeholders name.
type Variables func(name string) (value string, ok bool)

// redacted is a value that is equal to any other one in comparisons.
const redacted = "<redacted>"

// New compares files with the definitions of a service.
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
			step.add(changes, live)
			if options.Secrets && len(d.Secrets) > 0 && len(step.Changes) == 0 {
				step.Changes = []Change{{Cost: InPlace, Reason: "its secrets are written again"}}
			}
		}
		if len(step.Changes) == 0 {
			p.Same++
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

// shown is the value of a placeholder in a comparison.
func (p *Plan) shown(name string) (string, bool) {
	if v, ok := p.variables(name); ok {
		return v, true
	}
	return redacted, true
}

// add adds differences.
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
			}
		case search.ChangeInPlace:
			if c.New == nil && s.definition.Kind != definitions.Indexes {
				change.Do = "if the service has filled it in, azsearch pull writes it into the file"
			}
		}
		s.Changes = append(s.Changes, change)
	}
}

// rebuildBy says how a person rebuilds an index.
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

// Next returns the name of the index that replaces another.
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

// refuse adds what would make the service refuse the step.
func (s *Step) refuse(after json.RawMessage, files, live definitions.Set, p *Plan) {
	for _, r := range references(s.definition, after) {
		if files.Find(r.kind, r.name) == nil && live.Find(r.kind, r.name) == nil {
			s.Changes = append(s.Changes, Change{Cost: Refused, Reason: fmt.Sprintf("%s %q exists neither in the files nor at the service", r.kind.Noun, r.name)})
		}
	}
	hidden, _ := s.definition.Expand(func(string) (string, bool) { return redacted, true }) // what is said of a value shows it
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

// emptyTargets marks aliases that would move to an index that the plan creates, which has no documents. With
// Options.Fill each index that an alias moves to is filled, also one that is there: an earlier run may have been cut.
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
			s.block(Rebuild, fmt.Sprintf("index %q is created by this plan, and empty", target),
				fmt.Sprintf("apply -fill fills it from %q while no program writes; or apply indexes/%s.json alone, fill the index with azsearch load, then apply the alias; %q serves until then", old, target, old))
		}
	}
}

// block changes the cost of moving an alias.
func (s *Step) block(cost Cost, reason, do string) {
	for i := range s.Changes {
		if c := &s.Changes[i]; c.Path == "indexes" && c.Cost == InPlace {
			c.Cost, c.Reason, c.Do = cost, reason, do
		}
	}
}

// fill has the documents of one index copied into another before an alias moves between them.
func (s *Step) fill(from, to *definitions.Definition) {
	var old, next models.SearchIndex
	if from == nil || json.Unmarshal(from.JSON, &old) != nil || json.Unmarshal(to.JSON, &next) != nil {
		return // the service says it better
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

// losses returns the fields of one index that another one has too and whose values the service does not return, and
// those inside complex fields that the other one lacks.
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

// moves returns between which indexes a step moves an alias, "" if it moves none.
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

// minShare is how many documents an alias must find where it moves to, as a share of those where it was.
const minShare = 0.95

// CompareCounts refuses to move an alias to an index that has far fewer documents than the one it is at. count returns
// how many an index has.
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
			s.block(Refused, fmt.Sprintf("index %q has %d documents, %q has %d", target, after, old, before), "add -fill to copy them, fill it with azsearch load, or add -fewer if that is right")
		}
	}
	return nil
}

// mask replaces the values of variables by their names in everything that is printed. What stands in the place of one
// at the service was a secret as well, such as the value before.
func (p *Plan) mask(files definitions.Set) {
	var pairs []string
	for i := range files {
		for _, s := range files[i].Secrets {
			if value, ok := p.variables(s.Variable); ok && value != "" {
				pairs = append(pairs, quoted(value), `"${`+s.Variable+`}"`)
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

// quoted returns a value as the changes of package search have it.
func quoted(value string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // a string
	return strings.TrimSpace(b.String())
}
