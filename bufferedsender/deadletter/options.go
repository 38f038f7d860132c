package deadletter

import (
	"cmp"
	"log/slog"
)

// Defaults of FileOptions.
const (
	defaultMaxFileBytes  = 16 << 20
	defaultMaxTotalBytes = 1 << 30
)

// FileOptions configures a File. nil and the zero value are ready to use.
type FileOptions struct {
	// MaxTotalBytes bounds the size of all dead letters, in bytes. Further ones are refused with ErrFull; none is removed
	// to make room. Defaults to 1 GiB; negative turns it off.
	MaxTotalBytes int64
	// Redact keeps documents out of the files: Document is dropped, and Message and Error too, because the service quotes
	// documents in its texts. The key stays. Replay of such a dead letter needs ReplayOptions.Document.
	Redact bool
	// Logger receives a warning for each file that has lost dead letters that were durable. Defaults to slog.Default().
	Logger *slog.Logger

	// maxFileBytes is the size at which a new file is begun, 16 MiB; tests lower it. A larger dead letter gets its own
	// file. Replay and Discard rewrite one file at a time.
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
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}
