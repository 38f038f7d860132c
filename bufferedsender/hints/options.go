package hints

import (
	"errors"
	"fmt"
)

const (
	defaultMaxKeys  = 1_000_000
	defaultMaxBytes = 256 << 20
	minMaxBytes     = 256 << 10

	maxKeyBytes  = 1024 // of the service
	maxNameBytes = 1024
	maxTake      = 10_000 // so long is the mutex held
)

// Options configures a Set. nil and the zero value are ready to use.
type Options struct {
	// MaxKeys is how many keys all indexes together may have, including those that are taken. One more,
	// and the index that has the most must be compared whole. In memory a key takes about 60
	// bytes and its own. Defaults to 1 000 000; negative is refused.
	MaxKeys int
	// MaxBytes is how large the file may become, in bytes; while it is rewritten there may be another, of half that.
	// It bounds the keys of a Set in memory as well, to less than half of it. Beyond it the index that has the most
	// bytes must be compared whole. Defaults to 256 MiB, at least 256 KiB; negative is refused.
	MaxBytes int64
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
		errs = append(errs, fmt.Errorf("hints: MaxKeys: got %d, want a positive number, or 0 for %d", c.MaxKeys, defaultMaxKeys))
	}
	if c.MaxBytes < 0 || c.MaxBytes > 0 && c.MaxBytes < minMaxBytes {
		errs = append(errs, fmt.Errorf("hints: MaxBytes: got %d, want at least %d, or 0 for %d", c.MaxBytes, minMaxBytes, defaultMaxBytes))
	}
	if c.MaxKeys == 0 {
		c.MaxKeys = defaultMaxKeys
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	return c, errors.Join(errs...)
}

// Stats is what a Set holds, and the state of its disk.
type Stats struct {
	// Indexes is how many indexes have anything, and Everything how many of them must be compared whole.
	Indexes, Everything int
	// Keys is how many keys there are, in all indexes. Taken of them are in batches that are neither done nor back.
	Keys, Taken int
	// Overflows is how often an index was marked to be compared whole for lack of room.
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
}
