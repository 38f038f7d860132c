package deadletter

import "cmp"

// Defaults of FileOptions.
const (
	defaultMaxFileBytes  = 16 << 20
	defaultMaxTotalBytes = 1 << 30
)

// FileOptions configures a File. nil and the zero value are ready to use.
type FileOptions struct {
	// MaxTotalBytes is the size of all letters together, in bytes. Letters above
	// it are refused with ErrFull, none is ever removed to make room. Defaults to
	// 1 GiB; negative turns it off.
	MaxTotalBytes int64
	// Redact keeps documents out of the files: Document is dropped, and so are
	// Message and Error, because the service quotes documents in what it says.
	// Such a letter tells what is missing, not what it was: Replay needs
	// ReplayOptions.Document for it. Keys stay.
	Redact bool

	// maxFileBytes is the size at which a new file is begun, 16 MiB; tests make it
	// smaller. A larger dead letter gets a file of its own. Replay and Discard
	// rewrite a file at most this large at a time.
	maxFileBytes int64
}

// withDefaults returns a copy of o with every default filled in.
func (o *FileOptions) withDefaults() FileOptions {
	var c FileOptions
	if o != nil {
		c = *o
	}
	c.maxFileBytes = cmp.Or(c.maxFileBytes, defaultMaxFileBytes)
	c.MaxTotalBytes = cmp.Or(c.MaxTotalBytes, defaultMaxTotalBytes)
	return c
}
