package fold

import "github.com/go-azsearch/azsearch/models"

// way is a method to merge two actions.
type way uint8

const (
	never  way = iota // never
	second            // use only the second one
	merged            // use ⊕, as an action of the first one's type
	create            // use the second one, as an upload
)

// ways is the table of the package documentation, indexed by the ranks of the two types.
var ways = [4][4]way{
	/* upload        */ {second, merged, merged, second},
	/* mergeOrUpload */ {second, merged, merged, second},
	/* merge         */ {second, never, merged, second},
	/* delete        */ {second, create, never, second},
}

// rank returns the row and column of a type, or -1 for an unknown type.
func rank(typ models.ActionType) int {
	switch typ {
	case models.ActionTypeUpload:
		return 0
	case models.ActionTypeMergeOrUpload:
		return 1
	case models.ActionTypeMerge:
		return 2
	case models.ActionTypeDelete:
		return 3
	}
	return -1
}

// Actions folds two actions of one key into one that leaves the index in the same state as a followed by b, whether or
// not the document exists. a was accepted first. Both are encoded as by [models.AppendAction] and
// [models.AppendDelete], and neither may be in flight. typ is the type of the result.
//
// ok is false if they must not be folded; then both must be sent, a first. The reason is one of the two pairs of types
// without a fold, a value whose effect cannot be decided from the text (see the package documentation), or text that
// does not begin like an action of its type.
//
// The result is a new slice without spare capacity, or b. It may be longer than either, so the caller must check it
// against the limit of a request. Actions neither modifies nor retains a and b. It is safe for concurrent use.
func Actions(aType models.ActionType, a []byte, bType models.ActionType, b []byte) (typ models.ActionType, body []byte, ok bool) {
	row, column := rank(aType), rank(bType)
	if row < 0 || column < 0 || !startsAs(a, aType) || !startsAs(b, bType) {
		return "", nil, false
	}
	switch ways[row][column] {
	case second:
		return bType, b, true
	case create:
		return models.ActionTypeUpload, retype(b, bType, models.ActionTypeUpload), true
	case merged:
		if body, ok = mergeActions(aType, a, bType, b); ok {
			return aType, body, true
		}
	}
	return "", nil, false
}

// header returns the beginning of an encoded action of that type, or "" for an unknown type.
func header(typ models.ActionType) string {
	switch typ {
	case models.ActionTypeUpload:
		return `{"@search.action":"upload"`
	case models.ActionTypeMergeOrUpload:
		return `{"@search.action":"mergeOrUpload"`
	case models.ActionTypeMerge:
		return `{"@search.action":"merge"`
	case models.ActionTypeDelete:
		return `{"@search.action":"delete"`
	}
	return ""
}

// startsAs reports whether text begins as an action of that type.
func startsAs(text []byte, typ models.ActionType) bool {
	h := header(typ)
	return len(text) > len(h) && string(text[:len(h)]) == h
}

// retype returns text, an action of type from, as an action of type to.
func retype(text []byte, from, to models.ActionType) []byte {
	members, h := text[len(header(from)):], header(to)
	out := make([]byte, 0, len(h)+len(members))
	return append(append(out, h...), members...)
}
