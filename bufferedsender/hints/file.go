package hints

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

// Names in the folder.
const (
	fileName = "hints.log"
	tmpName  = "hints.tmp"
	lockName = "lock"
)

// slack is how much larger than twice the set a file may be, in bytes.
const slack = 64 << 10

var (
	// ErrClosed says that the Set is closed.
	ErrClosed = errors.New("the repair hints are closed")
	// ErrLocked says that another Set has the folder, in this process or in another one.
	ErrLocked = errors.New("the repair hints are in use by another Set")
	// ErrRefused says that something cannot be the key of a document, or the name of an index.
	ErrRefused = errors.New("no key of a document")
)

// DamagedError says that the file of a Set is damaged, by something other than a crash, or that another version has
// written it. Hints are missing, perhaps those of an index whose name cannot be read: remove the file, open the folder
// again, and call AddEverything for each index.
type DamagedError struct {
	// File is the name of the file in the folder.
	File string
	// Offset is where in it the damage begins, in bytes.
	Offset int64
	// Err says what is wrong there.
	Err error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %v; remove the file and compare all indexes", e.File, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

// Open opens a folder for hints, which no other Set may use as long as this one is open, and makes it if need
// be. What was there when the last process ended is there again, including what had been taken and not done.
//
// The error is ErrLocked if another Set has the folder, and a *DamagedError if something other than a crash has
// changed the file. Close the Set at the end.
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
		return nil, errors.Join(fmt.Errorf("hints: %s: %w", folder, err), release())
	}
	s.writer.release = release
	go s.run()
	return s, nil
}

// open is Open for a folder that is locked. No goroutine writes yet.
func open(folder disk.Folder, options Options) (*Set, error) {
	s := newSet(options)
	found, err := s.load(folder)
	if err != nil {
		return nil, err
	}
	s.writer = &writer{folder: folder, whole: true, release: func() error { return nil }}
	s.writer.Loop = journal.NewLoop(&s.mu, func(time.Time) (at time.Time, dirty bool) {
		return at, s.writer.Durable < s.writer.Changes
	}, s.write)
	if found {
		s.writer.Changes++ // it need not be durable, and may be torn: rewrite
	}
	s.bound()
	return s, nil
}

// writer is the goroutine that writes the content of the Set.
type writer struct {
	*journal.Loop
	folder  disk.Folder
	file    journal.File // of the goroutine
	release func() error // gives the folder back

	// The mutex of the Set guards these.
	log       frames // changes that write has not fetched
	whole     bool   // the log does not have all changes: rewrite
	fileBytes int64
}

// record takes note of a change. The caller has the lock.
func (s *Set) record(o op, x *index, key string) {
	w := s.writer
	if w == nil {
		return
	}
	w.Changes++
	if w.whole {
		return
	}
	w.log.add(o, x.name, key)
	if w.log.bytes > max(fullFrame, s.bytes) {
		w.log, w.whole = frames{}, true
	}
}

// wake has the writer look for changes.
func (s *Set) wake() {
	if s.writer != nil {
		s.writer.Wake()
	}
}

// run writes until the Set is closed.
func (s *Set) run() {
	w := s.writer
	w.Run(func() error {
		err := w.Step()
		if err != nil {
			err = w.Step() // by a rewrite, once
		}
		for _, end := range []func() error{w.file.Close, w.release} {
			if ended := end(); err == nil {
				err = ended
			}
		}
		return err
	})
}

// write makes all changes durable.
func (s *Set) write() error {
	w := s.writer
	s.mu.Lock()
	if w.Changes == w.Durable {
		s.mu.Unlock()
		return nil
	}
	changes, pending := w.Changes, w.log
	whole := w.whole || !w.file.IsOpen() || w.file.Size()+pending.bytes > 2*s.bytes+slack
	var parts []part
	if whole {
		parts = s.snapshot()
	}
	w.log, w.whole = frames{}, false
	s.mu.Unlock()

	var err error
	if whole {
		err = w.file.Replace(w.folder, tmpName, fileName, func(to io.Writer) (int64, uint32, error) { return writeSnapshot(to, parts) })
	}
	for i := 0; i < len(pending.list) && !whole && err == nil; i++ {
		err = w.file.Append(pending.list[i]) // one frame a sync, so that a crash tears only the last one
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		w.log, w.whole = frames{}, true
		return err
	}
	w.Durable, w.fileBytes = changes, w.file.Size()
	return nil
}

// snapshot returns the content. The caller has the lock.
func (s *Set) snapshot() []part {
	parts := make([]part, 0, len(s.indexes))
	for _, name := range slices.Sorted(maps.Keys(s.indexes)) {
		x := s.indexes[name]
		parts = append(parts, part{name, x.all, x.snapshot()})
	}
	return parts
}

// Sync waits until all that was added and done before is durable: it is there after a crash of the machine.
// If the disk fails, Sync has it tried at once, and returns the error; the Set is not concerned, and it is tried
// again later. ctx bounds the waiting. A Set in memory has nothing to wait for.
func (s *Set) Sync(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	return s.writer.Sync(ctx, ErrClosed)
}

// Close writes what is not written yet, and gives the folder back. ctx bounds the waiting: if the disk does not
// return, the writing continues. The error says what went wrong; if it is not nil, hints that were not durable may be
// lost. Later calls of Add return ErrClosed, Take returns nothing. Close may be called more than once.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if s.writer == nil {
		return nil
	}
	return s.writer.Close(ctx)
}
