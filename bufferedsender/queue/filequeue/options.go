package filequeue

import (
	"errors"
	"fmt"
	"log/slog"
)

// Options configures a queue. nil and the zero value are the defaults.
type Options struct {
	// Index and Endpoint identify the search index. A directory made for another index or endpoint is refused with
	// ErrOther. "" is not compared. At most 128 and 256 bytes.
	Index    string
	Endpoint string
	// MaxKeys is how many keys may wait or be leased before Append returns queue.ErrFull, and how many more may be
	// parked. Defaults to no bound. Each key takes about 85 bytes of memory, see the package.
	MaxKeys int
	// MaxBytes is the size of all keys and bodies that may wait or be leased, and as many bytes more may be parked.
	// Defaults to no bound. The disk needs up to four times as much.
	MaxBytes int64
	// SegmentBytes is the size of each file. Defaults to 64 MB; at least 16 KB, at most 1 GB.
	SegmentBytes int
	// AllowNetwork accepts a network file system. The durability of synced data, and the locks, then depend on that
	// file system. Defaults to false.
	AllowNetwork bool
	// ReadOnly opens a snapshot of the directory for reading, also while another process uses it, and on a file system
	// that is mounted read-only. Nothing is written and no lock is taken. Append, Reserve, Settle, Extend and all other
	// changes return ErrReadOnly.
	ReadOnly bool
	// Logger receives warnings about torn log ends after a crash, and errors of the disk. Defaults to none.
	Logger *slog.Logger
}

const (
	defaultSegment = 64 << 20
	minSegment     = 16 << 10
	maxSegment     = 1 << 30

	maxIndex    = 128
	maxEndpoint = 256
)

func (o *Options) withDefaults() (Options, error) {
	var set Options
	if o != nil {
		set = *o
	}
	if set.SegmentBytes == 0 {
		set.SegmentBytes = defaultSegment
	}
	if set.Logger == nil {
		set.Logger = slog.New(slog.DiscardHandler)
	}
	var errs []error
	if set.MaxKeys < 0 || set.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("got MaxKeys %d and MaxBytes %d, want positive numbers, or 0 for no bound", set.MaxKeys, set.MaxBytes))
	}
	if set.SegmentBytes < minSegment || set.SegmentBytes > maxSegment {
		errs = append(errs, fmt.Errorf("got SegmentBytes %d, want %d to %d, or 0 for %d", set.SegmentBytes, minSegment, maxSegment, defaultSegment))
	}
	if len(set.Index) > maxIndex || len(set.Endpoint) > maxEndpoint {
		errs = append(errs, fmt.Errorf("got Index of %d bytes and Endpoint of %d, want at most %d and %d", len(set.Index), len(set.Endpoint), maxIndex, maxEndpoint))
	}
	if err := errors.Join(errs...); err != nil {
		return set, fmt.Errorf("filequeue: %w", err)
	}
	return set, nil
}
