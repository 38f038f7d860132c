package digesttree

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options are for Open. The zero value, or nil, is what most programs need.
type Options struct {
	// SegmentBits says into how many segments a new folder spreads keys: two to this power. A segment is what is read to
	// find a key that differs, so it should hold some hundred keys; each takes 80 bytes of memory and 40 in the file. A
	// folder keeps the number that it was made with. Defaults to 14, which is good up to some 10⁷ keys; 2 to 20.
	SegmentBits int
	// Empty says that a folder that is new is for an index that has no documents: all segments are known from the
	// start. Otherwise none is compared before a Rebuild has read the index. It does not count for a folder that has
	// something. Defaults to false.
	Empty bool
	// MaxPending bounds the memory in bytes for what is not folded into the base, if the disk does not take it. Beyond
	// it the segments of what is told become unknown. Defaults to 256 MiB, at least 1 MiB; negative is refused.
	MaxPending int64

	// expireAfter is when a segment must be built again, see Rebuild: 0 for a week, negative for never. Tests change it.
	expireAfter time.Duration
}

// The defaults and bounds of Options.
const (
	defaultSegmentBits = 14
	minSegmentBits     = 2
	maxSegmentBits     = 20
	defaultExpireAfter = 7 * 24 * time.Hour
	defaultMaxPending  = 256 << 20
	minMaxPending      = 1 << 20
)

// withDefaults returns a copy of o with every default filled in, or an error that names every problem at once.
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

// What Open, Compare and Rebuild say of a tree.
var (
	errClosed     = errors.New("the digest tree is closed")
	errLocked     = errors.New("the digest tree is in use by another Tree")
	errRebuilding = errors.New("the digest tree is being rebuilt")
)

// Stats is what a Tree holds, and how its disk is.
type Stats struct {
	// Keys is how many keys were folded; those told since are not in it. FileBytes is the size of the file with them.
	Keys, FileBytes int64
	// Segments is how many there are; Unknown of them may be incomplete, and are not compared. Due is how many a Rebuild
	// would build: the unknown ones and those that have expired.
	Segments, Unknown, Due int

	// Refused is how many calls since Open had something that cannot be a key. Dropped found no room, see
	// Options.MaxPending.
	Refused, Dropped int64
	// PendingBytes is what is in memory and not folded; Folds is how often that was folded since Open.
	PendingBytes, Folds int64
	// Unsynced is how many changes are not durable yet. Err is why the last attempt to write failed; nil if it did not.
	// It is tried again.
	Unsynced int64
	Err      error

	// Unclean is set if the process before ended without Close, so that all segments are due: the last that it was told
	// may be missing.
	Unclean bool
	// Damaged is how many segments and files could not be read since Open. Fruitless is how many segments differed twice
	// with no key that does. These segments are unknown, and due.
	Damaged, Fruitless int64
}
