package digesttree

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options configures Open. The zero value, or nil, suits most programs.
type Options struct {
	// SegmentBits is the binary logarithm of the number of segments of a new folder. Keys are spread over segments by hash.
	// A differing segment is read to find its differing keys, so it should have some hundred keys. A segment takes 80 bytes
	// of memory and 40 in the file. An existing folder keeps its number. Defaults to 14, good for up to some 10⁷ keys; 2 to
	// 20.
	SegmentBits int
	// Empty declares that the index of a new folder has no documents, so that all segments are known from the start.
	// Otherwise no segment is compared before a Rebuild has read the index. It has no effect on an existing folder.
	// Defaults to false.
	Empty bool
	// MaxPending bounds the bytes in memory that are not folded into the base, when the disk does not accept writes. A
	// change beyond it is dropped and its segment becomes unknown. Defaults to 256 MiB, at least 1 MiB; negative is
	// refused.
	MaxPending int64

	// expireAfter is the age at which a segment becomes due for Rebuild: 0 for a week, negative for never. Tests change it.
	expireAfter time.Duration
}

// Defaults and bounds of Options.
const (
	defaultSegmentBits = 14
	minSegmentBits     = 2
	maxSegmentBits     = 20
	defaultExpireAfter = 7 * 24 * time.Hour
	defaultMaxPending  = 256 << 20
	minMaxPending      = 1 << 20
)

// withDefaults returns a copy of o with every default filled in. The error names every invalid option.
func (o *Options) withDefaults() (c Options, err error) {
	if o != nil {
		c = *o
	}
	c.SegmentBits = cmp.Or(c.SegmentBits, defaultSegmentBits)
	c.MaxPending = cmp.Or(c.MaxPending, defaultMaxPending)
	c.expireAfter = cmp.Or(c.expireAfter, defaultExpireAfter)
	if c.SegmentBits < minSegmentBits || c.SegmentBits > maxSegmentBits {
		err = fmt.Errorf("digesttree: SegmentBits: got %d, want %d to %d, or 0 for the default", c.SegmentBits, minSegmentBits, maxSegmentBits)
	}
	if c.MaxPending < minMaxPending {
		err = errors.Join(err, fmt.Errorf("digesttree: MaxPending: got %d, want at least %d, or 0 for %d", c.MaxPending, minMaxPending, defaultMaxPending))
	}
	return c, err
}

// Errors of Open, Compare and Rebuild about the state of a tree.
var (
	errClosed     = errors.New("digest tree is closed")
	errLocked     = errors.New("digest tree is in use by another Tree")
	errRebuilding = errors.New("digest tree is being rebuilt")
)

// Stats is a snapshot of the counters of a Tree.
type Stats struct {
	// Keys is the number of folded keys, FileBytes the size of the file with them. Both lack later changes.
	Keys, FileBytes int64
	// Segments is the number of segments. Unknown of them may be incomplete and are not compared. Due is the number that a
	// Rebuild would build: the unknown and the expired ones.
	Segments, Unknown, Due int

	// Refused is the number of calls since Open whose key no index can have. Dropped is the number of calls dropped for
	// lack of room, see Options.MaxPending.
	Refused, Dropped int64
	// PendingBytes is the size of the changes that are not folded. Folds is the number of folds since Open.
	PendingBytes, Folds int64
	// Unsynced is the number of changes that are not durable yet. Err is the error of the last write, nil if it succeeded.
	// A failed write is retried.
	Unsynced int64
	Err      error

	// Unclean is set if the process before ended without Close, so that its last changes may be lost. All segments are then
	// due.
	Unclean bool
	// Damaged is the number of segments and files that could not be read since Open. Fruitless is the number of segments
	// whose digests differed twice without a differing key. All these segments are unknown and due.
	Damaged, Fruitless int64
}
