package apply

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Rebuilding replaces an index behind an alias by a new one, filled with the documents of the old one.
type Rebuilding struct {
	Alias     string   `json:"alias"`
	From      string   `json:"from"`
	To        string   `json:"to"`
	Documents int64    `json:"documents"`         // of From
	Exists    bool     `json:"exists,omitzero"`   // To exists, perhaps because an earlier apply was interrupted; nothing proves it
	LeftOut   []string `json:"leftOut,omitempty"` // fields that To does not have
	AliasETag string   `json:"-"`                 // of Alias when the plan was made; "" if there was none

	definition *definitions.Definition // of To
}

// Lines describes the rebuild for the user.
func (r *Rebuilding) Lines() []string {
	how := fmt.Sprintf("-fill creates %q, copies %s of %q, then moves alias %q", r.To, amount.Of(r.Documents, "document"), r.From, r.Alias)
	if r.Exists {
		how = fmt.Sprintf("-fill continues with %q, which exists: copies %s of %q, keeps those that it has, then moves alias %q", r.To, amount.Of(r.Documents, "document"), r.From, r.Alias)
	}
	lines := []string{
		how,
		fmt.Sprintf("readers of %q see no gap; %q stays for readers that name it, and for the way back", r.Alias, r.From),
		fmt.Sprintf("writers have to stop until apply has ended: it copies what changed meanwhile, and if %q changes too late, ends with exit code 1; then azsearch repair", r.From),
	}
	if r.LeftOut != nil {
		lines = append(lines, fmt.Sprintf("left out: %s, which %q does not have", strings.Join(r.LeftOut, ", "), r.To))
	}
	return lines
}

// rebuild plans how to rebuild the index of a step: with a Rebuilding if apply can do it, else with advice.
func (p *Plan) rebuild(s *Step, files, live definitions.Set) {
	next := Next(s.Name, slices.Concat(live, files))
	s.instead = fmt.Sprintf(": define it as indexes/%s.json", next)
	aliases, others := names(s.Name, files, live)
	switch {
	case len(aliases) == 0:
		s.advise(fmt.Sprintf("define it as indexes/%s.json, apply that file, fill the new index with azsearch copy or load while no program writes,"+
			" then let readers and writers use that name; an alias would spare readers the next change", next))
	case len(aliases) > 1:
		s.advise(fmt.Sprintf("the aliases %s name it, and apply -fill moves one: delete the others, or define it as indexes/%s.json, fill that with azsearch copy, and move all",
			strings.Join(aliases, ", "), next))
	case len(others) > 0:
		s.advise(fmt.Sprintf("%s names it itself: define it as indexes/%s.json, let that and aliases/%s.json name the new one, and apply -fill",
			strings.Join(others, ", "), next, aliases[0]))
	default:
		r := &Rebuilding{Alias: aliases[0], From: s.Name}
		for r.To = range successors(s.Name) {
			d := s.definition.Named(r.To)
			r.definition = &d
			if files.Find(definitions.Indexes, r.To) != nil || p.filling(r.To) != nil || aimed(r.To, files) {
				continue
			}
			there := live.Find(definitions.Indexes, r.To)
			if r.Exists = there != nil; !r.Exists || p.leftOver(there, &d, live) {
				break
			}
		}
		s.copying(r, live)
	}
}

// filling returns the rebuild of an earlier step that fills an index, nil if there is none.
func (p *Plan) filling(index string) *Rebuilding {
	for i := range p.Steps {
		if r := p.Steps[i].Rebuild; r != nil && r.To == index {
			return r
		}
	}
	return nil
}

// aimed reports whether an alias in a file names an index.
func aimed(index string, files definitions.Set) bool {
	return slices.ContainsFunc(files.Of(definitions.Aliases), func(d definitions.Definition) bool {
		return slices.Contains(references(&d, d.JSON), reference{definitions.Indexes, index})
	})
}

// advise adds advice to the changes that need a rebuild.
func (s *Step) advise(do string) {
	for i := range s.Changes {
		if s.Changes[i].Cost == Rebuild {
			s.Changes[i].Do = do
		}
	}
}

// leftOver reports whether an index is one that an interrupted apply has made for d: it has that definition, and no
// alias names it.
func (p *Plan) leftOver(there, d *definitions.Definition, live definitions.Set) bool {
	changes, err := p.changes(there, d)
	aliases, others := names(there.Name, nil, live)
	return err == nil && len(changes) == 0 && len(aliases)+len(others) == 0
}

// names returns the aliases that name an index, and the other definitions that do. An alias in a file counts if the
// service has none of its name.
func names(index string, files, live definitions.Set) (aliases, others []string) {
	is := reference{definitions.Indexes, index}
	for i, d := range slices.Concat(live, files) {
		if !slices.Contains(references(&d, d.JSON), is) {
			continue
		}
		here := i < len(live)
		switch file := files.Find(d.Kind, d.Name); {
		case d.Kind != definitions.Aliases:
			if s := d.String(); !slices.Contains(others, s) {
				others = append(others, s)
			}
		case here && (file == nil || slices.Contains(references(file, file.JSON), is)), !here && live.Find(d.Kind, d.Name) == nil:
			aliases = append(aliases, d.Name)
		}
	}
	return aliases, others
}

// Next returns a free name for the successor of an index: hotels-2 for hotels, hotels-3 for hotels-2.
func Next(index string, taken definitions.Set) string {
	for name := range successors(index) {
		if taken.Find(definitions.Indexes, name) == nil {
			return name
		}
	}
	return "" // never: there is no last one
}

// successors yields hotels-2, hotels-3 and so on for hotels and hotels-1.
func successors(index string) iter.Seq[string] {
	return func(yield func(string) bool) {
		stem, n := numbered(index)
		for n++; yield(fmt.Sprintf("%s-%d", stem, n)); n++ {
		}
	}
}

// numbered splits hotels-2 into hotels and 2. The number of hotels is 1.
func numbered(index string) (stem string, n int) {
	if at := strings.LastIndexByte(index, '-'); at > 0 {
		if _, err := fmt.Sscanf(index[at+1:]+"$", "%d$", &n); err == nil {
			return index[:at], n
		}
	}
	return index, 1
}

// current returns files with the present names of indexes that apply has rebuilt. If hotels-1 was replaced by hotels-2,
// its file still is indexes/hotels-1.json, and defines hotels-2. Otherwise users had to rename files after each
// rebuild, and a pipeline that applies the same files again would rebuild again.
func (p *Plan) current(files, live definitions.Set) definitions.Set {
	all := slices.Clone(files)
	for _, d := range files.Of(definitions.Indexes) {
		alias := p.follower(&d, files, live)
		if alias == nil {
			continue
		}
		to := references(alias, alias.JSON)[0].name
		for _, other := range live.Of(d.Kind) {
			if other.Name == d.Name || follows(other.Name, d.Name) && follows(to, other.Name) {
				p.replaced[other.Name] = to
			}
		}
		for i := range all {
			switch a := &all[i]; {
			case a.Kind == d.Kind && a.Name == d.Name:
				*a = d.Named(to)
			case a.Kind == definitions.Aliases && a.Name == alias.Name:
				*a = *alias
			}
		}
	}
	return all
}

// follower returns the live alias that has moved from the index of a file to a successor, nil if there is none. The old
// index is gone, or differs from the file by what needed the rebuild: if it is as in the file, the alias shall go back.
func (p *Plan) follower(d *definitions.Definition, files, live definitions.Set) *definitions.Definition {
	if before := live.Find(d.Kind, d.Name); before != nil {
		if changes, err := p.changes(before, d); err != nil || changes.Kind() != search.ChangeNeedsRebuild {
			return nil
		}
	}
	if aliases, _ := names(d.Name, nil, live); len(aliases) > 0 {
		return nil // not replaced
	}
	of, _ := names(d.Name, nil, files)
	for _, a := range live.Of(definitions.Aliases) {
		to := references(&a, a.JSON)
		if len(to) != 1 || !follows(to[0].name, d.Name) || live.Find(d.Kind, to[0].name) == nil {
			continue
		}
		if len(of) > 0 && !slices.Contains(of, a.Name) || len(of) == 0 && files.Find(a.Kind, a.Name) != nil {
			continue
		}
		// A file in between, or of the successor, is the one that counts.
		if !slices.ContainsFunc(files.Of(d.Kind), func(other definitions.Definition) bool {
			return other.Name == to[0].name || follows(other.Name, d.Name) && follows(to[0].name, other.Name)
		}) {
			return &a
		}
	}
	return nil
}

// follows reports whether an index has the name of a successor of another one.
func follows(index, other string) bool {
	stem, n := numbered(index)
	before, m := numbered(other)
	return stem == before && n > m
}

// emptyTargets handles aliases that files move to another index. An index that the plan creates is empty, so the move
// is a rebuild. With Options.Fill every move is one, because an earlier run may have stopped while filling the index.
// Of several aliases that move from one index to another, the first fills it, and the others follow.
func (p *Plan) emptyTargets(files, live definitions.Set) {
	for i := range p.Steps {
		s := &p.Steps[i]
		old, target := moves(s, live)
		next, there := files.Find(definitions.Indexes, target), live.Find(definitions.Indexes, target)
		if old == "" || next == nil && there == nil || there != nil && p.options.Fill == nil {
			continue
		}
		if r := p.filling(target); r != nil {
			if r.From != old {
				s.Changes = append(s.Changes, Change{Cost: Refused, Reason: fmt.Sprintf("alias %q moves to %q from %q, which has other documents than %q", r.Alias, target, r.From, old), Do: "let one of them name another index"})
			}
			continue
		}
		r := &Rebuilding{Alias: s.Name, From: old, To: target, Exists: there != nil, definition: next}
		if next == nil {
			r.definition = there
		}
		s.block(Rebuild, fmt.Sprintf("the documents are in %q", old), "")
		s.copying(r, live)
		for j := range p.Steps {
			if other := &p.Steps[j]; other.definition.Kind == definitions.Indexes && other.Name == target {
				other.by = other.Create
			}
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

// copying gives a step the rebuild r, or refuses it if values would be lost.
func (s *Step) copying(r *Rebuilding, live definitions.Set) {
	if alias := live.Find(definitions.Aliases, r.Alias); alias != nil {
		r.AliasETag = alias.ETag
	}
	var old, next models.SearchIndex
	from := live.Find(definitions.Indexes, r.From)
	if from == nil || json.Unmarshal(from.JSON, &old) != nil || json.Unmarshal(r.definition.JSON, &next) != nil {
		return // the service reports a precise error
	}
	by := fmt.Sprintf("define the index as indexes/%s.json, apply that file, fill it with azsearch load or repair from the source of the documents, then apply the alias", r.To)
	refuse := func(reason string) {
		s.Changes = append(s.Changes, Change{Cost: Refused, Reason: reason, Do: by})
	}
	switch unreadable, missing := losses("", old.Fields, next.Fields); {
	case keyOf(old.Fields) != keyOf(next.Fields):
		refuse(fmt.Sprintf("the key is %q and becomes %q, so documents cannot be copied", keyOf(old.Fields), keyOf(next.Fields)))
		return
	case len(unreadable) > 0:
		refuse(fmt.Sprintf("the values of %s in %q cannot be read, so they would be lost", strings.Join(unreadable, ", "), r.From))
		return
	case len(missing) > 0:
		refuse(fmt.Sprintf("%q lacks %s, which documents of %q have inside another field", r.To, strings.Join(missing, ", "), r.From))
		return
	}
	for _, f := range old.Fields {
		if !slices.ContainsFunc(next.Fields, func(other models.SearchField) bool { return other.Name == f.Name }) {
			r.LeftOut = append(r.LeftOut, f.Name)
		}
	}
	s.Rebuild, s.instead = r, ": add -fill"
}

// keyOf returns the name of the key field.
func keyOf(fields []models.SearchField) string {
	for _, f := range fields {
		if f.Key != nil && *f.Key {
			return f.Name
		}
	}
	return ""
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

// order moves the rebuilds of indexes behind the aliases, because a rebuild needs its alias, and aliases behind the one
// whose rebuild creates their index.
func (p *Plan) order() {
	rank := func(s Step) int {
		at := 3 * slices.Index(definitions.Kinds, s.definition.Kind)
		switch {
		case s.definition.Kind == definitions.Indexes && s.Rebuild != nil:
			return 3*slices.Index(definitions.Kinds, definitions.Aliases) + 2
		case s.definition.Kind == definitions.Aliases && s.Rebuild == nil:
			return at + 1
		}
		return at
	}
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return rank(a) - rank(b) })
}

// CountDocuments sets Rebuilding.Documents. count returns the number of documents of an index.
func (p *Plan) CountDocuments(count func(index string) (int64, error)) (err error) {
	for i := range p.Steps {
		if r := p.Steps[i].Rebuild; r != nil && err == nil {
			r.Documents, err = count(r.From)
		}
	}
	return err
}
