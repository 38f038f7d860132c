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

// ChangeKind is the cost of a change of a definition.
type ChangeKind int

// The kinds of changes, from the cheapest to the most costly.
const (
	// ChangeNone means no change.
	ChangeNone ChangeKind = iota
	// ChangeInPlace is a change that CreateOrUpdateIndex makes without further cost.
	ChangeInPlace
	// ChangeInPlaceWithDowntime is a change that CreateOrUpdateIndex makes with AllowIndexDowntime while the index is
	// offline for some seconds.
	ChangeInPlaceWithDowntime
	// ChangeNeedsReset is a change that is made in place, but shows in documents that are already indexed only after the
	// indexer has been reset and has run.
	ChangeNeedsReset
	// ChangeNeedsRebuild is a change that the service refuses or ignores. It needs a new index, to which all documents
	// are written again. Then an alias switches to it, or the old index is deleted.
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

// IndexChange is a difference between two definitions of an index, or of another type that DiffDefinition compares.
type IndexChange struct {
	// Path is the changed place: "fields/Address/City.analyzer", "similarity.k1",
	// "scoringProfiles/geo.text.weights.HotelName". A slash precedes the name of a list entry, a dot precedes a member.
	Path string
	// Kind is the cost of the change.
	Kind ChangeKind
	// Old and New are the values in JSON, including the service's defaults, nil for none. Secrets are "***".
	Old, New json.RawMessage
	// Reason explains the kind.
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

// IndexChanges are the differences between two definitions, in the order of the members of models.SearchIndex.
type IndexChanges []IndexChange

// Kind returns the highest kind of all changes, ChangeNone if there are none.
func (c IndexChanges) Kind() ChangeKind {
	kind := ChangeNone
	for _, change := range c {
		kind = max(kind, change.Kind)
	}
	return kind
}

// DiffIndex returns the changes from before to after, and for each change whether the service can make it in place.
// Both must be definitions that the service would accept for a new index: problems of after are not reported. Nothing
// is sent.
//
// Differences without effect are not changes: a member that is absent, null or the service's default, the order of
// lists whose entries have names, and the ETag. DiffIndex may not know defaults of a future service. A renamed field
// is a new field and a deleted one. Secrets are compared only if both definitions have them, because the service
// returns none.
//
// The rules follow the service's documentation on updating and rebuilding an index. It does not cover newer
// attributes of fields and vector search configurations that fields use: their changes are reported as a rebuild. The
// error means that a definition cannot be encoded as JSON.
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

// jsonObject is a JSON object as decoded by encoding/json, with json.Number for numbers.
type jsonObject = map[string]any

// indexDiff is one comparison of two normal forms.
type indexDiff struct {
	before, after jsonObject
	added         map[string]bool // the paths of new fields
	changes       IndexChanges
}

// changeRule returns the kind of a change of the value at path, and its reason. One of the values may be nil.
type changeRule func(path string, before, after any) (ChangeKind, string)

// always returns a rule with the same result for every change.
func always(kind ChangeKind, reason string) changeRule {
	return func(string, any, any) (ChangeKind, string) { return kind, reason }
}

// note records a change.
func (d *indexDiff) note(path string, kind ChangeKind, reason string, before, after any) {
	d.changes = append(d.changes, IndexChange{Path: path, Kind: kind, Reason: reason, Old: shownJSON(path, before), New: shownJSON(path, after)})
}

// compare records the changes between two values. It descends as long as both values have the same shape.
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

// entries calls each for each name in two lists, with the entries of that name, nil for a missing one. The entries of
// before come first, then the new ones.
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

// valueOrNil returns a nil interface for a nil object.
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

// memberNames returns the sorted names of the members of both objects.
func memberNames(a, b jsonObject) []string {
	names := maps.Clone(a)
	if names == nil {
		names = jsonObject{}
	}
	maps.Copy(names, b)
	return slices.Sorted(maps.Keys(names))
}

// redacted is the service's replacement for some secrets.
const redacted = "<redacted>"

// sameJSON reports whether two values are equal in effect.
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

// sameMember is sameJSON for two members with the same name. A secret equals a missing one.
func sameMember(name string, a, b any) bool {
	return sameJSON(a, b) || isSecret(name, a) && b == nil || isSecret(name, b) && a == nil
}

// isSecret reports whether the service omits a member from replies. A "key" is a secret if it is a string; in a field
// it is a boolean.
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
	for i, m := range members {
		members[i], _, _ = strings.Cut(m, "/") // what follows is the name of an element, as in fields/token
	}
	name := members[len(members)-1]
	if wire.Secret(name) || slices.ContainsFunc(members[:len(members)-1], wire.SecretWithin) {
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
