package repair

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoRows means that the source had no rows, so nothing was deleted from the index.
var ErrNoRows = errors.New("source has no rows")

// ErrMore means that the tree and the source differ in more keys than RunTree checks. The number of surplus documents
// is then unknown, so none was deleted, and nothing was written before that was known. Run compares everything.
var ErrMore = errors.New("tree and source differ in more keys than RunTree checks: use Run, which compares everything")

// ErrNothingSettles means that many documents were written and none matches the source afterwards. The pass ended,
// because each further pass would write all of them again.
var ErrNothingSettles = errors.New("no written document matches the source")

// ErrContradiction means that Scan of the source repeatedly shows rows that its Lookup does not find, or no rows while
// Lookup finds some. No difference can be confirmed then.
var ErrContradiction = errors.New("Scan and Lookup of the source contradict each other")

// OrderError reports a side that is not in the byte order of its keys, or has a key twice. The pass ended and deleted
// nothing.
type OrderError struct {
	Side  string // "source" or "index"
	After string // the previous key
	Key   string
}

// Error implements error.
func (e *OrderError) Error() string {
	if e.After == e.Key {
		return fmt.Sprintf("the %s has the key %q twice: keys must be unique, byte by byte", e.Side, e.Key)
	}
	return fmt.Sprintf("the %s is not in the order of the bytes of its keys: %q came behind %q. Sort by bytes: in PostgreSQL ORDER BY key COLLATE \"C\", and the same in its conditions, "+
		"in MySQL COLLATE utf8mb4_bin, in SQL Server a collation that ends in _BIN2, in SQLite COLLATE BINARY, the default; "+
		"if it is that already, there are keys that are not text, which do not sort with it: CAST(key AS TEXT)", e.Side, e.Key, e.After)
}

// DeletesError is the refusal of the guard: more documents would be deleted or overwritten than the bound on 24 hours
// allows, see GUARDS.md. A pass has then written keys of Options.Hints at most or, if rows changed while it wrote, what
// the guard had allowed before; its Report has the numbers. A DeleteWhere has deleted at most Most documents.
type DeletesError struct {
	// Surplus is the number of documents that would be deleted, Different of those that would be overwritten. Deleted and
	// Overwritten are those of the last 24 hours, without the deletes that AllowDeletes asked for.
	Surplus, Different, Deleted, Overwritten int64
	// Most is the bound on each sum. IndexRows is the number of documents that Most is a share of: those counted, and those
	// deleted in the last 24 hours. If it is 0 the index was not counted, and Most is a fixed number.
	Most, IndexRows int64
}

// Error implements error.
func (e *DeletesError) Error() string {
	share := max(e.Surplus+e.Deleted, e.Different+e.Overwritten)
	return fmt.Sprintf("%d of %d documents would be deleted and %d overwritten, limit of each is %d in 24 h (used: %d and %d); check the keys of a dry run, then set AllowDeletes to %d, or MaxShare to at least %.2g",
		e.Surplus, e.IndexRows, e.Different, e.Most, e.Deleted, e.Overwritten, e.Surplus, math.Ceil(100*float64(share)/float64(max(e.IndexRows, share, 1)))/100)
}

// rangeError names the range that failed.
type rangeError struct {
	name string
	err  error
}

func (e *rangeError) Error() string { return fmt.Sprintf("range %s: %v", e.name, e.err) }
func (e *rangeError) Unwrap() error { return e.err }
