package deadletter

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// File keeps dead letters in the files of a directory, one JSON object per line. It is a Sink for any number of senders
// of this process, and safe for concurrent use. Close it after the senders.
type File struct {
	options FileOptions
	dir     disk.Folder
	release func() error // unlocks the directory

	mu       sync.Mutex
	current  *segment         // being written; nil: the next Write begins one
	sizes    map[string]int64 // of all files with dead letters, by stem
	total    int64            // sum of sizes
	newest   string           // the latest stem; the next one is greater
	journals map[string]int   // number of the last entry, by stem; 0: earlier entries may not be durable
	entries  int              // how many this File has appended, so that no number is used twice
	written  int64            // number of dead letters
	missing  int64            // number of those that Open has missed
	unmarked map[string]entry // marks of versions that are not durable, by stem
	walk     *walk            // the one under way
	closed   bool

	versions versions
}

var _ Sink = (*File)(nil)

// segment is a file of dead letters that is being written.
type segment struct {
	stem    string
	handle  disk.Handle
	mark    *disk.Mark // nil: it cannot be written
	letters int64      // also the number of the last one
}

// Stats is a snapshot of the counters of a File.
type Stats struct {
	// Files is the number of files with dead letters.
	Files int
	// Bytes is their total size. It may include dead letters that a running Replay or Discard has removed.
	Bytes int64
	// Written is the number of dead letters that this File has accepted. One that was replayed and refused again does not
	// count again.
	Written int64
	// Missing is the number of dead letters that were durable but that Open did not find, nor a damaged line in their
	// place: a bad copy or a disk that ignores syncs has cut their file. The log names it; see FileOptions.Logger.
	Missing int64
}

// Open opens a directory for dead letters, and creates it if it does not exist. It repairs what a crash has left. While
// the File is open no other one can open the directory; the error is then ErrLocked. A file that has lost its end is
// opened, and reported by Stats().Missing, the log, Read and Replay.
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

// open is Open for a locked folder.
func open(dir disk.Folder, options FileOptions) (*File, error) {
	f := &File{
		options: options, dir: dir, release: func() error { return nil },
		sizes: make(map[string]int64), journals: make(map[string]int),
	}
	entries, err := dir.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var orphans, marked []string
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
		case markExt:
			marked = append(marked, stem)
		case lettersExt:
			var size int64
			if size, err = repair(dir, stem); size > 0 {
				f.sizes[stem] = size
				f.total += size
			}
		}
		if err != nil {
			return nil, err
		}
	}
	lost, err := f.miss(marked)
	if err != nil {
		return nil, err
	}
	orphans = slices.DeleteFunc(orphans, func(stem string) bool { return f.sizes[stem] > 0 || slices.Contains(lost, stem) })
	if len(orphans) > 0 {
		// If only the process crashed, after R6, the removal may not be durable: a later crash of the machine must not bring
		// back the file without its journal.
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

// miss counts and logs the dead letters that are missing from files with a mark, and returns the stems of these files.
// A mark without a file is removed if nothing is missing.
func (f *File) miss(marked []string) (lost []string, err error) {
	for _, stem := range marked {
		n, err := missing(f.dir, stem)
		switch {
		case err != nil:
			return nil, err
		case n > 0:
			lost = append(lost, stem)
			f.missing += n
			f.options.Logger.Warn("deadletter: durable dead letters are missing", "file", stem+lettersExt, "letters", n, "mark", stem+markExt)
		case f.sizes[stem] == 0:
			if err := f.dir.Remove(stem + markExt); err != nil {
				return nil, err
			}
		}
	}
	return lost, nil
}

// Stats returns a snapshot of the counters.
func (f *File) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Stats{Files: len(f.sizes), Bytes: f.total, Written: f.written, Missing: f.missing}
}

// Close stops a running Replay or Discard, waits until it has returned, and unlocks the directory. Later Writes return
// ErrClosed. Close may be called again, but not from a function that Replay or Discard calls, which would deadlock.
func (f *File) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	err := errors.Join(f.seal(), f.mark(nil))
	going := f.walk
	f.mu.Unlock()
	if going != nil {
		going.cancel(ErrClosed)
		<-going.ended
	}
	return errors.Join(err, f.release())
}

// seal closes the current file, if there is one. The caller has the lock.
func (f *File) seal() error {
	if f.current == nil {
		return nil
	}
	h := f.current.handle
	f.current.unmark()
	f.current = nil
	return h.Close()
}

// sealed seals the current file and returns the stems of all files. The caller has the lock.
func (f *File) sealed() ([]string, error) {
	if err := f.seal(); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(f.sizes)), nil
}
