package fold

import "github.com/go-azsearch/azsearch/models"

// way is how two actions become one.
type way uint8

const (
	never  way = iota // not at all
	second            // the second one alone
	merged            // ⊕, as an action of the first one's type
	create            // the second one, as an upload
)

// ways is the table of the package documentation, by the ranks of the two types.
var ways = [4][4]way{
	/* upload        */ {second, merged, merged, second},
	/* mergeOrUpload */ {second, merged, merged, second},
	/* merge         */ {second, never, merged, second},
	/* delete        */ {second, create, never, second},
}

// rank is the row and the column of a type, -1 for a type that the service does
// not know.
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

// Actions folds two actions of one key into one that leaves the index in the
// same state as a and then b, whether or not the document exists. a was accepted
// first; both are encoded as [models.AppendAction] and [models.AppendDelete] do
// it, and neither may be on its way. typ is the type of the result.
//
// ok is false if they must not be folded; then both have to be sent, a first.
// That is so for the two pairs of types that have no fold, for values of which
// the text does not tell what the service would make of them (the package
// documentation lists them), and for text that does not begin as that of an
// action of its type.
//
// The result is a new slice without spare room, or it is b. It may be longer
// than either, so the caller checks it against the limit of a request. Neither a
// nor b is written to, and nothing of them is kept after the call. Actions may
// be called by many goroutines at once.
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

// header is how the text of an action of that type begins, "" for a type that
// the service does not know.
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

// retype returns text, which starts as from, as an action of type to.
func retype(text []byte, from, to models.ActionType) []byte {
	members, h := text[len(header(from)):], header(to)
	out := make([]byte, 0, len(h)+len(members))
	return append(append(out, h...), members...)
}
