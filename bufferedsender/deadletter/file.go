package deadletter

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// File keeps letters in the files of a directory, one JSON object a line. It is
// a Sink for any number of senders of this process, and may be used by many
// goroutines at once. Close it after the senders.
type File struct {
	options FileOptions
	dir     disk.Folder
	release func() error // gives the directory back

	mu       sync.Mutex
	current  *segment         // written to; nil: the next Write begins one
	sizes    map[string]int64 // of all files with letters, by stem
	total    int64            // sum of sizes
	newest   string           // stem; the next one is greater
	journals map[string]int   // entries that this File has appended, by stem; 0: they may not be durable
	written  int64            // letters
	walk     *walk            // the one that is going on
	closed   bool
}

var _ Sink = (*File)(nil)

// segment is a file of letters that is being written.
type segment struct {
	stem    string
	handle  disk.Handle
	letters int64 // also the number of the last one
}

// Stats is what a File holds.
type Stats struct {
	// Files is how many files with letters there are.
	Files int
	// Bytes is the size of all of them. Letters that a Replay or Discard in
	// progress has removed may still be in it.
	Bytes int64
	// Written is how many letters this File has been given and has kept. A letter
	// that Replay has sent and that was refused again is none.
	Written int64
}

// Open opens a directory for dead letters, which nobody else may use as long as
// the File is open, and makes it if need be. It mends what a crash has left.
// The error is ErrLocked if another File has it.
func Open(dir string, opts *FileOptions) (*File, error) {
	options := opts.withDefaults()
	var f *File
	release, err := disk.OpenLocked(dir, lockName, ErrLocked, func(d disk.Folder) (err error) {
		f, err = open(d, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.release = release
	return f, nil
}

// open is Open for a folder that is locked.
func open(dir disk.Folder, options FileOptions) (*File, error) {
	f := &File{
		options: options, dir: dir, release: func() error { return nil },
		sizes: make(map[string]int64), journals: make(map[string]int),
	}
	entries, err := dir.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var orphans []string
	for _, e := range entries {
		stem, ext, ok := stemOf(e.Name())
		if !ok {
			continue
		}
		f.newest = max(f.newest, stem)
		switch ext {
		case rewriteExt:
			err = dir.Remove(e.Name())
		case journalExt:
			orphans = append(orphans, stem)
		case lettersExt:
			var size int64
			if size, err = repair(dir, e.Name()); size > 0 {
				f.sizes[stem] = size
				f.total += size
			}
		}
		if err != nil {
			return nil, err
		}
	}
	orphans = slices.DeleteFunc(orphans, func(stem string) bool { return f.sizes[stem] > 0 })
	if len(orphans) > 0 {
		// Only the process may have crashed, behind R6: the file must not come
		// back without its journal if next the machine does.
		if err := dir.SyncNames(); err != nil {
			return nil, err
		}
	}
	for _, stem := range orphans {
		if err := dir.Remove(stem + journalExt); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Stats returns what the File holds.
func (f *File) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Stats{Files: len(f.sizes), Bytes: f.total, Written: f.written}
}

// Close ends a Replay or Discard that is going on, waits until it has returned,
// and gives the directory back. Writes afterwards return ErrClosed. It may be
// called more than once, but not by a function that Replay or Discard calls,
// which would wait for itself.
func (f *File) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	err := f.seal()
	going := f.walk
	f.mu.Unlock()
	if going != nil {
		going.cancel(ErrClosed)
		<-going.ended
	}
	return errors.Join(err, f.release())
}

// seal ends the current file, if there is one. The caller has the lock.
func (f *File) seal() error {
	if f.current == nil {
		return nil
	}
	h := f.current.handle
	f.current = nil
	return h.Close()
}

// sealed returns the stems of all files, after sealing the current one. The
// caller has the lock.
func (f *File) sealed() ([]string, error) {
	if err := f.seal(); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(f.sizes)), nil
}
