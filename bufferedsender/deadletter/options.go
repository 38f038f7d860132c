package deadletter

import (
	"errors"
	"fmt"
	"time"
)

// Defaults of FileOptions.
const (
	DefaultMaxFileBytes  = 16 << 20
	DefaultMaxTotalBytes = 1 << 30
)

// FileOptions configures a File. nil and the zero value are ready to use.
type FileOptions struct {
	// MaxFileBytes is the size at which a new file is begun, in bytes. A letter
	// that is larger gets a file of its own. Replay and Discard rewrite a file at
	// most this large at a time. Defaults to 16 MiB; negative is refused.
	MaxFileBytes int64
	// MaxFileAge is how long a file is written to. It is looked at when there is
	// something to write. Defaults to as long as the File is open; negative is
	// refused.
	MaxFileAge time.Duration
	// MaxTotalBytes is the size of all letters together, in bytes. Letters above
	// it are refused with ErrFull, none is ever removed to make room. Defaults to
	// 1 GiB; negative turns it off.
	MaxTotalBytes int64
	// Redact keeps documents out of the files: Document is dropped, and so are
	// Message and Error, because the service quotes documents in what it says.
	// Such a letter tells what is missing, not what it was: Replay needs
	// ReplayOptions.Document for it. Keys stay.
	Redact bool
	// NoSync makes Write return without waiting for the disk. A crash of the
	// program then still loses nothing, one of the machine does.
	NoSync bool
}

// withDefaults returns a copy of o with every default filled in, or an error
// that names every problem at once.
func (o *FileOptions) withDefaults() (FileOptions, error) {
	var c FileOptions
	if o != nil {
		c = *o
	}
	var errs []error
	if c.MaxFileBytes < 0 {
		errs = append(errs, fmt.Errorf("MaxFileBytes is %d: use a positive number, or 0 for the default of %d", c.MaxFileBytes, DefaultMaxFileBytes))
	}
	if c.MaxFileAge < 0 {
		errs = append(errs, fmt.Errorf("MaxFileAge is %v: use a positive time, or 0 for no limit", c.MaxFileAge))
	}
	if c.MaxFileBytes == 0 {
		c.MaxFileBytes = DefaultMaxFileBytes
	}
	if c.MaxTotalBytes == 0 {
		c.MaxTotalBytes = DefaultMaxTotalBytes
	}
	return c, errors.Join(errs...)
}
