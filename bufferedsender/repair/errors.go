package repair

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoRows says that the source had no row, so nothing of the index was deleted.
var ErrNoRows = errors.New("the source has no row")

// ErrMore says that a tree and the source differ in more keys than RunTree looks at, so that nobody knows how many
// documents are surplus, and nothing was written. Run compares everything.
var ErrMore = errors.New("the tree and the source differ in more keys than are looked at: use Run, which compares everything")

// ErrNothingSettles says that none of many documents that were written is in the index as the source says. The pass
// has ended, because each would write them all again.
var ErrNothingSettles = errors.New("nothing that was to be written is found as the source says")

// ErrContradiction says that Scan of the source shows rows that its Lookup does not find, or none where Lookup finds
// some, again and again, so that no difference can be confirmed.
var ErrContradiction = errors.New("Scan and Lookup of the source contradict each other")

// OrderError says that a side does not come in the order of the bytes of its keys, or has a key twice. The pass has
// ended, and nothing was deleted.
type OrderError struct {
	Side  string // "source" or "index"
	After string // the key before
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

// DeletesError is the refusal of a guard: more documents would be deleted or overwritten than are in 24 hours without
// being asked for, see the package. A pass has written nothing then; a DeleteWhere has deleted no more than Most.
type DeletesError struct {
	// Surplus is how many documents would be deleted, and Different how many overwritten. Deleted and Overwritten are how
	// many were in the 24 hours before, without being asked for.
	Surplus, Different, Deleted, Overwritten int64
	// Most is the bound on both sums, a share of IndexRows: the documents that were counted, and those that the last 24
	// hours have deleted. 0: nothing was counted, and Most is no share.
	Most, IndexRows int64
}

// Error implements error.
func (e *DeletesError) Error() string {
	share := max(e.Surplus+e.Deleted, e.Different+e.Overwritten)
	return fmt.Sprintf("%d of %d documents would be deleted and %d overwritten, limit of each is %d in 24 h, before it were %d and %d; check the keys of a dry run, then set AllowDeletes to %d, or MaxShare to at least %.2g",
		e.Surplus, e.IndexRows, e.Different, e.Most, e.Deleted, e.Overwritten, e.Surplus, math.Ceil(100*float64(share)/float64(max(e.IndexRows, share, 1)))/100)
}

// rangeError is what ended a range.
type rangeError struct {
	name string
	err  error
}

func (e *rangeError) Error() string { return fmt.Sprintf("range %s: %v", e.name, e.err) }
func (e *rangeError) Unwrap() error { return e.err }
