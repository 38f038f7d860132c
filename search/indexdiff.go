package search

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
)

// ChangeKind says what a change of a definition costs.
type ChangeKind int

// The kinds of changes, the cheapest first.
const (
	// ChangeNone is the kind of no change.
	ChangeNone ChangeKind = iota
	// ChangeInPlace is a change that CreateOrUpdateIndex makes.
	ChangeInPlace
	// ChangeInPlaceWithDowntime is a change that CreateOrUpdateIndex makes with
	// AllowIndexDowntime, while the index is offline for some seconds.
	ChangeInPlaceWithDowntime
	// ChangeNeedsReset is a change that is made in place, and that documents that were
	// indexed before show only when the indexer has been reset and has run.
	ChangeNeedsReset
	// ChangeNeedsRebuild is a change that the service refuses or ignores: it takes
	// a new index, into which all documents are written again, and an alias or a
	// deletion of the old one.
	ChangeNeedsRebuild
)

// String returns the kind in words.
func (k ChangeKind) String() string {
	switch k {
	case ChangeNone:
		return "no change"
	case ChangeInPlace:
		return "in place"
	case ChangeInPlaceWithDowntime:
		return "in place with downtime"
	case ChangeNeedsReset:
		return "needs a reset"
	case ChangeNeedsRebuild:
		return "needs a rebuild"
	}
	return fmt.Sprintf("ChangeKind(%d)", int(k))
}

// IndexChange is a difference between two definitions of an index, or of what DiffDefinition compares.
type IndexChange struct {
	// Path is what differs: "fields/Address/City.analyzer", "similarity.k1",
	// "scoringProfiles/geo.text.weights.HotelName". A slash is before the name of
	// something in a list, a dot before a member.
	Path string
	// Kind is what the change costs.
	Kind ChangeKind
	// Old and New are the values in JSON, with the defaults of the service, nil
	// where there is none. Secrets are "***".
	Old, New json.RawMessage
	// Reason says why the change is of this kind.
	Reason string
}

// String returns the change in one line.
func (c IndexChange) String() string {
	value := func(v json.RawMessage) string {
		if v == nil {
			return "nothing"
		}
		return string(v)
	}
	return fmt.Sprintf("%s: %s → %s (%s: %s)", c.Path, value(c.Old), value(c.New), c.Kind, c.Reason)
}

// IndexChanges are the differences between two definitions, in the order of the
// members of models.SearchIndex.
type IndexChanges []IndexChange

// Kind returns the kind of all changes together, which is that of the most
// costly one.
func (c IndexChanges) Kind() ChangeKind {
	kind := ChangeNone
	for _, change := range c {
		kind = max(kind, change.Kind)
	}
	return kind
}

// DiffIndex says what changes the definition before into after, and for each
// change whether the service can make it in place. Both are definitions that the
// service would accept for a new index: what is wrong with after is not reported.
// Nothing is sent.
//
// What says the same to the service is no change: a member that is absent, null
// or the default of the service (DiffIndex does not know which defaults a future
// service has), the order of lists whose entries have names, and the ETag. A
// field with another name is a new one, and the old one is deleted. Secrets are
// compared only where both definitions have them, since the service returns none.
//
// The rules are those of the service's documentation on updating and rebuilding
// an index. Where it is silent, on configurations of vector search that fields
// use and on members that a field has since, DiffIndex says that a rebuild is
// needed. The error is about a definition that cannot be written as JSON.
func DiffIndex(before, after models.SearchIndex) (IndexChanges, error) {
	oldTree, err := normalForm(before)
	if err != nil {
		return nil, fmt.Errorf("search: the definition before: %w", err)
	}
	newTree, err := normalForm(after)
	if err != nil {
		return nil, fmt.Errorf("search: the definition after: %w", err)
	}
	d := indexDiff{before: oldTree, after: newTree, added: map[string]bool{}}
	d.run()
	return d.changes, nil
}

// jsonObject is a JSON object. Its values are those of encoding/json, with
// json.Number for numbers.
type jsonObject = map[string]any

// indexDiff is one comparison, of normal forms.
type indexDiff struct {
	before, after jsonObject
	added         map[string]bool // the paths of new fields
	changes       IndexChanges
}

// changeRule says what a change of the value at path costs. One of the values may be
// nil.
type changeRule func(path string, before, after any) (ChangeKind, string)

// always returns the rule by which every change is of one kind.
func always(kind ChangeKind, reason string) changeRule {
	return func(string, any, any) (ChangeKind, string) { return kind, reason }
}

// note adds a change.
func (d *indexDiff) note(path string, kind ChangeKind, reason string, before, after any) {
	d.changes = append(d.changes, IndexChange{Path: path, Kind: kind, Reason: reason, Old: shownJSON(path, before), New: shownJSON(path, after)})
}

// compare adds the changes between two values, as deep inside of them as both
// have the same shape.
func (d *indexDiff) compare(path string, before, after any, rule changeRule) {
	if sameJSON(before, after) {
		return
	}
	oldObject, isOld := before.(jsonObject)
	newObject, isNew := after.(jsonObject)
	if isOld && isNew {
		for _, name := range memberNames(oldObject, newObject) {
			if !sameMember(name, oldObject[name], newObject[name]) {
				d.compare(path+"."+name, oldObject[name], newObject[name], rule)
			}
		}
		return
	}
	if namedEntries(before) && (after == nil || namedEntries(after)) || before == nil && namedEntries(after) {
		d.entries(path, before, after, func(path string, before, after jsonObject) {
			d.compare(path, valueOrNil(before), valueOrNil(after), rule)
		})
		return
	}
	kind, reason := rule(path, before, after)
	d.note(path, kind, reason, before, after)
}

// entries calls each with the entries of two lists that have the same name, nil
// for one that is missing: first those of before, then the new ones.
func (d *indexDiff) entries(path string, before, after any, each func(path string, before, after jsonObject)) {
	for _, entry := range entriesOf(before) {
		each(path+"/"+nameOf(entry), entry, entryNamed(after, nameOf(entry)))
	}
	for _, entry := range entriesOf(after) {
		if entryNamed(before, nameOf(entry)) == nil {
			each(path+"/"+nameOf(entry), nil, entry)
		}
	}
}

// valueOrNil returns nil itself for a nil object.
func valueOrNil(o jsonObject) any {
	if o == nil {
		return nil
	}
	return o
}

// entriesOf returns the objects in a list.
func entriesOf(list any) []jsonObject {
	values, _ := list.([]any)
	objects := make([]jsonObject, 0, len(values))
	for _, v := range values {
		if o, ok := v.(jsonObject); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// entryNamed returns the first entry of a list with the name, or nil.
func entryNamed(list any, name string) jsonObject {
	for _, entry := range entriesOf(list) {
		if nameOf(entry) == name {
			return entry
		}
	}
	return nil
}

func nameOf(entry jsonObject) string {
	name, _ := entry["name"].(string)
	return name
}

// namedEntries reports whether value is a list of objects with names.
func namedEntries(value any) bool {
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(v any) bool {
		o, ok := v.(jsonObject)
		return !ok || nameOf(o) == ""
	})
}

// memberNames returns the names of the members of two objects, in order.
func memberNames(a, b jsonObject) []string {
	names := maps.Clone(a)
	if names == nil {
		names = jsonObject{}
	}
	maps.Copy(names, b)
	return slices.Sorted(maps.Keys(names))
}

// redacted is what the service writes in the place of some secrets.
const redacted = "<redacted>"

// sameJSON reports whether two values say the same.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case jsonObject:
		b, ok := b.(jsonObject)
		if !ok {
			return false
		}
		for _, name := range memberNames(a, b) {
			if !sameMember(name, a[name], b[name]) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameJSON)
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		i, err1 := a.Int64()
		j, err2 := b.Int64()
		if err1 == nil && err2 == nil {
			return i == j
		}
		x, _ := a.Float64()
		y, _ := b.Float64()
		return x == y
	}
	return a == b || a == redacted && b != nil || b == redacted && a != nil
}

// sameMember is sameJSON for two members of a name. A secret that one does not
// have says nothing.
func sameMember(name string, a, b any) bool {
	return sameJSON(a, b) || isSecret(name, a) && b == nil || isSecret(name, b) && a == nil
}

// isSecret reports whether a member is one that the service does not return. "key"
// is a secret where it is a string; of fields it is a boolean.
func isSecret(name string, value any) bool {
	_, text := value.(string)
	return text && wire.Secret(name)
}

// shownJSON returns the value at path as JSON without secrets, nil for nil.
func shownJSON(path string, value any) json.RawMessage {
	if value == nil {
		return nil
	}
	members := strings.Split(path, ".")
	name := members[len(members)-1]
	if slices.ContainsFunc(members, func(m string) bool { return wire.SecretObject(m) || wire.Secret(m) }) {
		name = "key" // any secret
		if _, is := value.(json.Number); is {
			value = wire.Hidden
		}
	}
	b, err := encodeBody(jsonObject{name: value})
	if err != nil {
		return nil // the value was read from JSON
	}
	var shown json.RawMessage
	_ = wire.EachMember(wire.Redact(b), func(_, value []byte) bool { shown = value; return true })
	return shown
}
