package hints

import (
	"errors"
	"fmt"
)

// Defaults and limits.
const (
	DefaultMaxKeys  = 1_000_000
	DefaultMaxBytes = 256 << 20

	// MinMaxBytes is the least that Options.MaxBytes may be.
	MinMaxBytes = 256 << 10
	// MaxKeyBytes is how long a key may be: the limit of the service.
	MaxKeyBytes = 1024
	// MaxNameBytes is how long the name of an index may be.
	MaxNameBytes = 1024
	// MaxTake is how many keys Take returns at the most.
	MaxTake = 10_000
)

// Options configures a Set. nil and the zero value are ready to use.
type Options struct {
	// MaxKeys is how many keys all indexes together may have, those that are taken included. One more,
	// and the index that has the most is to be compared whole. In memory a key takes about 60
	// bytes and its own. Defaults to 1 000 000; negative is refused.
	MaxKeys int
	// MaxBytes is how large the file may become, in bytes; while it is rewritten there may be another, of half
	// that. It bounds the keys of a Set in memory as well, to less than half of it. Beyond it the index that has the most bytes is to be
	// compared whole. Defaults to 256 MiB, at least MinMaxBytes; negative is refused.
	MaxBytes int64
	// AcceptDamage lets Open go on where it would return a *DamagedError: each index whose name can be read
	// in the file is then to be compared whole, and Stats.Damaged is set. Indexes whose names
	// were lost are not known: call AddEverything for those that you have.
	AcceptDamage bool
}

// withDefaults returns a copy of o with every default filled in, or an error
// that names every problem at once.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	var errs []error
	if c.MaxKeys < 0 {
		errs = append(errs, fmt.Errorf("MaxKeys is %d: use a positive number, or 0 for the default of %d", c.MaxKeys, DefaultMaxKeys))
	}
	if c.MaxBytes < 0 || c.MaxBytes > 0 && c.MaxBytes < MinMaxBytes {
		errs = append(errs, fmt.Errorf("MaxBytes is %d: use at least %d, or 0 for the default of %d", c.MaxBytes, MinMaxBytes, DefaultMaxBytes))
	}
	if c.MaxKeys == 0 {
		c.MaxKeys = DefaultMaxKeys
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("hints: %w", err)
	}
	return c, nil
}

// Stats is what a Set holds, and how its disk is.
type Stats struct {
	// Indexes is how many indexes have anything.
	Indexes int
	// Keys is how many keys there are, in all indexes.
	Keys int
	// Taken is how many of them are in batches that are neither done nor back.
	Taken int
	// Everything is how many indexes are to be compared whole.
	Everything int
	// Overflows is how often an index has become one of these for lack of room.
	Overflows int64
	// Refused is how many keys Add has refused.
	Refused int64

	// FileBytes is the size of the file as it was written last; 0 without a file.
	FileBytes int64
	// Unsynced is how many changes are not durable yet.
	Unsynced int64
	// Failures is how many attempts to write have failed.
	Failures int64
	// Err is why the last attempt to write failed; nil if it did not. It is tried again.
	Err error
	// Damaged is set if the file was damaged when it was opened, see Options.AcceptDamage.
	Damaged bool
}
