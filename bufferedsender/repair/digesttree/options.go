package digesttree

import (
	"errors"
	"fmt"
	"time"
)

// What Options has where it says nothing.
const (
	defaultSegmentBits = 14
	defaultExpireAfter = 7 * 24 * time.Hour
	defaultWriteEvery  = time.Second
	defaultMaxPending  = 256 << 20
)

// The bounds of Options.
const (
	minSegmentBits = 2
	maxSegmentBits = 20
	minMaxPending  = 1 << 20
	// maxKeyBytes is how long a key may be, as in the service.
	maxKeyBytes = 1024
)

// Options are for Open. The zero value, or nil, is what most programs need.
type Options struct {
	// SegmentBits says into how many segments keys are spread: two to this power. A segment is what is read to find a
	// key that differs, so it should hold some hundred keys; each takes 80 bytes of memory and 40 in the file. A
	// folder keeps the number that it was made with: another one is an error. Defaults to that of the folder, or 14,
	// which is good up to some 10⁷ keys; 2 to 20.
	SegmentBits int
	// Empty says that a folder that is new is for an index that has no documents: all segments are known from the
	// start. Otherwise none is compared before a Rebuild has read the index. It does not count for a folder that has
	// something. Defaults to false.
	Empty bool
	// ExpireAfter is when a segment is to be built anew, see Rebuild. It is compared all the same.
	// Defaults to a week; negative: never.
	ExpireAfter time.Duration
	// WriteEvery is how long what is told stays in memory before it is written and synced: about as much is lost when
	// the process or the machine ends suddenly. Defaults to a second; negative: at once.
	WriteEvery time.Duration
	// MaxPending bounds the memory in bytes for what is not folded into the base, if the disk does not take it.
	// Beyond it the segments of what is told become unknown. Defaults to 256 MiB, at least 1 MiB; negative is
	// refused.
	MaxPending int64
}

// withDefaults returns a copy of o with every default filled in, or an error that names every problem at once.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	var errs []error
	if c.SegmentBits != 0 && (c.SegmentBits < minSegmentBits || c.SegmentBits > maxSegmentBits) {
		errs = append(errs, fmt.Errorf("SegmentBits is %d: use %d to %d, or 0 for the default", c.SegmentBits, minSegmentBits, maxSegmentBits))
	}
	if c.MaxPending < 0 || c.MaxPending > 0 && c.MaxPending < minMaxPending {
		errs = append(errs, fmt.Errorf("MaxPending is %d: use at least %d, or 0 for the default of %d", c.MaxPending, minMaxPending, defaultMaxPending))
	}
	if c.MaxPending == 0 {
		c.MaxPending = defaultMaxPending
	}
	if c.ExpireAfter == 0 {
		c.ExpireAfter = defaultExpireAfter
	}
	if c.WriteEvery == 0 {
		c.WriteEvery = defaultWriteEvery
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("digesttree: %w", err)
	}
	return c, nil
}

var (
	// ErrClosed says that the Tree is closed.
	ErrClosed = errors.New("the digest tree is closed")
	// ErrLocked says that another Tree has the folder, in this process or in another one.
	ErrLocked = errors.New("the digest tree is in use by another Tree")
	// ErrRebuilding says that a Rebuild of the Tree is under way.
	ErrRebuilding = errors.New("the digest tree is being rebuilt")
	// ErrShape says that two sides, or a folder and Options, have different numbers of segments.
	ErrShape = errors.New("the digest tree has another number of segments")
)

// Stats is what a Tree holds, and how its disk is.
type Stats struct {
	// Keys is how many keys were folded; those told since are not in it.
	Keys int64
	// Segments is how many there are; Unknown of them may be incomplete, and are not compared.
	Segments, Unknown int
	// Due is how many segments a Rebuild would build: the unknown ones and those that have expired.
	Due int

	// Told is how many calls there were since Open; Refused of them had something that cannot be a key, and Dropped
	// found no room, see Options.MaxPending.
	Told, Refused, Dropped int64
	// PendingBytes is what is in memory and not folded.
	PendingBytes int64
	// Unsynced is how many changes are not durable yet.
	Unsynced int64
	// FileBytes is the size of the base.
	FileBytes int64
	// Folds is how often changes were folded into the base since Open.
	Folds int64
	// Failures is how many attempts to write have failed. Err is why the last one did; nil if it did not. It is tried
	// again.
	Failures int64
	Err      error

	// Unclean is set if the process before ended without Close, so that all segments are due: the last that it was
	// told may be missing.
	Unclean bool
	// Damaged is how many segments and files could not be read since Open; their segments are unknown or due.
	Damaged int64
	// Fruitless is how many segments were to be built anew, since Open, because they differed twice with no key that
	// does.
	Fruitless int64
	// Rebuilt is how many segments were built since Open.
	Rebuilt int64
}
