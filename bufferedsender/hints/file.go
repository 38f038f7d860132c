package hints

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// Open opens a folder for hints, which nobody else may use as long as the Set is open, and makes it if need
// be. What was there when the last process ended is there again, what had been taken and not done included.
//
// The error is ErrLocked if another Set has the folder, and a *DamagedError if something else than a crash has
// spoiled the file. Close the Set at the end.
func Open(folder string, opts *Options) (*Set, error) {
	options, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	d, release, err := disk.OpenLocked(folder, lockName, ErrLocked)
	if err != nil {
		return nil, err
	}
	s, err := open(d, options)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", folder, err), release())
	}
	s.writer.release = release
	go s.run()
	return s, nil
}

// open is Open for a folder that is locked. Nobody writes yet.
func open(folder disk.Folder, options Options) (*Set, error) {
	s := newSet(options)
	found, err := s.load(folder)
	if err != nil {
		return nil, err
	}
	s.writer = newWriter(journal{folder: folder})
	if found {
		s.changes++ // it need not be durable, and may be torn: rewrite
	}
	s.bound()
	return s, nil
}

// Close writes what is not written yet, and gives the folder back. ctx bounds the waiting: if the disk does not come
// to an end, that goes on. The error says what went wrong; if it is not nil, hints that
// were not durable may be lost. Later calls of Add return ErrClosed, Take returns nothing. Close may be called more than once.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.wake()
	s.mu.Unlock()
	w := s.writer
	if w == nil {
		return nil
	}
	select {
	case <-w.ended:
		return w.closing
	default:
	}
	select {
	case <-w.ended:
		return w.closing
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
