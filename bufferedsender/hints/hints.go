package hints

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

const (
	defaultMaxMemory = 128 << 20
	maxNameBytes     = 1024
	maxPiece         = 1000   // keys per lock of Add, and
	maxTake          = 10_000 // of Take, because other callers wait for the mutex
)

var (
	// ErrDamaged means that the file of a Set cannot be read, because something other than a crash changed it, or another
	// version of the program wrote it. Hints are missing, perhaps those of an index whose name cannot be read. Remove the
	// file, which the error names, open the folder again, and call AddEverything for each index.
	ErrDamaged = errors.New("repair hints are damaged")

	errClosed = errors.New("hints: the Set is closed")
	errLocked = errors.New("repair hints are in use by another Set")
)

// Options configures Open. nil and the zero value are ready to use.
type Options struct {
	// MaxMemory bounds the keys of all indexes, in bytes; a key counts its length and 64. Above it the keys of the index
	// with the most bytes are replaced by a comparison of that whole index. The file has at most twice as many bytes and 64
	// KiB, and half as many again while it is rewritten. Defaults to 128 MiB: a million keys of 64 bytes; negative is
	// refused.
	MaxMemory int64
}

// Set is a set of keys by index. It is safe for concurrent use. Only Open, Sync and Close wait for a disk. The zero
// value is ready to use, without a file.
type Set struct {
	maxMemory int64 // 0: the default

	mu      sync.Mutex
	indexes map[string]*entry // those with content
	bytes   int64             // counted bytes of the keys of all indexes
	closed  bool

	writer *writer // nil: no file
}

// Open opens a folder for hints, and creates it if it does not exist. No other Set can open it meanwhile. The Set has
// the content at the end of the last process, including keys taken and not done.
//
// The error is that of the disk, or names the process that has the folder; ErrDamaged is in its chain if the file
// cannot be read. Close the Set when done.
func Open(folder string, opts *Options) (*Set, error) {
	s := new(Set)
	if opts != nil {
		s.maxMemory = opts.MaxMemory
	}
	if s.maxMemory < 0 {
		return nil, fmt.Errorf("hints: MaxMemory: got %d, want a positive number, or 0 for %d", s.maxMemory, defaultMaxMemory)
	}
	release, err := disk.OpenLocked(folder, lockName, errLocked, s.open)
	if err != nil {
		return nil, fmt.Errorf("hints: %w", err)
	}
	go s.run(release)
	return s, nil
}

// Add adds keys of documents that the index may not have correctly. A key already in the set is not added twice; a key
// in a batch stays when the batch is done. Add does not wait for a disk: see Sync.
//
// If the Set is closed nothing is added and the error says so. Otherwise an error counts the texts that cannot be keys:
// empty, longer than 1024 bytes, or not UTF-8; all others were added.
func (s *Set) Add(index string, keys ...string) error {
	var refused []string
	for piece := range slices.Chunk(keys, maxPiece) {
		if err := s.change(index, func(x *entry) {
			for _, key := range piece {
				if journal.IsKey(key) {
					s.add(x, key)
				} else {
					refused = append(refused, key)
				}
			}
		}); err != nil {
			return err
		}
	}
	if n := len(refused); n > 0 {
		return fmt.Errorf("hints: not the key of a document: %d of %d for index %q, the first has %d bytes: %.40q", n, len(keys), index, len(refused[0]), refused[0])
	}
	return nil
}

// AddEverything marks the whole index for comparison; use it if the affected keys are unknown. It returns the errors of
// Add.
func (s *Set) AddEverything(index string) error {
	return s.change(index, func(x *entry) {
		if !x.wholeWaits() {
			s.everything(x)
		}
	})
}

// change calls do with the entry of an index.
func (s *Set) change(index string, do func(x *entry)) error {
	if len(index) > maxNameBytes {
		return fmt.Errorf("hints: the name of an index has %d bytes, want at most %d", len(index), maxNameBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	x := s.entry(index)
	do(x)
	s.changed(x)
	return nil
}

// Batch is a result of Take: keys of an index, or the whole index.
type Batch struct {
	// Keys are the keys to compare. The slice belongs to the caller: Done and Back treat the keys that it has when they are
	// called, so a batch can be split into those done and the rest.
	Keys []string
	// Everything means: compare the whole index. Keys is then empty.
	Everything bool

	taking *taking
}

// Take returns the oldest keys of an index that no other batch has, at most max and at most 10 000, or Everything if
// the index must be compared whole. Without hints the batch is empty. A key is taken once until it is Back or the
// process ends; then it is in the set again. To drop the hints of an index that no longer exists, take them and call
// Done.
func (s *Set) Take(index string, max int) Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.indexes[index]
	if !ok || s.closed || max <= 0 {
		return Batch{}
	}
	n := min(max, maxTake, len(x.line))
	t := &taking{set: s, of: x, keys: make(map[string]bool, n)}
	switch {
	case x.wholeWaits():
		x.allBy = t
		return Batch{Everything: true, taking: t}
	case n == 0:
		return Batch{}
	}
	keys := slices.Clone(x.line[:n])
	for _, key := range keys {
		t.keys[key], x.keys[key] = false, t
	}
	x.takings[t] = struct{}{}
	x.line, x.passed = x.line[n:], x.passed+n
	if x.passed > len(x.line) {
		x.line, x.passed = slices.Clone(x.line), 0 // free the memory of passed keys
	}
	return Batch{Keys: keys, taking: t}
}

// Done removes the keys of a batch, because the index has them correctly. Keys added again since Take stay, to be taken
// again. Keys that the batch no longer holds are ignored.
func (s *Set) Done(b Batch) { s.settle(b, true) }

// Back returns the keys of a batch that could not be repaired. They are taken again after those that wait.
func (s *Set) Back(b Batch) { s.settle(b, false) }

func (s *Set) settle(b Batch, done bool) {
	t := b.taking
	if t == nil || t.set != s {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	x := t.of
	switch {
	case x.allBy != t:
	case done:
		x.all, x.allBy = false, nil
		s.record(opCompared, x, "")
	default:
		s.everything(x) // covers keys added meanwhile
	}
	for _, key := range b.Keys {
		again, has := t.keys[key]
		if !has {
			continue
		}
		delete(t.keys, key)
		if done && !again {
			s.remove(x, key)
		} else {
			x.wait(strings.Clone(key)) // the caller's key may be part of a document
		}
	}
	if len(t.keys) == 0 {
		delete(x.takings, t)
	}
	s.changed(x)
}

// Stats is a snapshot of a Set and of its disk.
type Stats struct {
	// Keys is the number of keys of each index, taken or not. It has all indexes with hints. Everything has those that must
	// be compared whole.
	Keys       map[string]int
	Everything map[string]bool
	// Unsynced is the number of changes that are not durable yet.
	Unsynced int64
	// Err is the error of the last write, nil if it succeeded. A failed write is retried.
	Err error
}

// Stats returns a snapshot.
func (s *Set) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := Stats{Keys: make(map[string]int, len(s.indexes)), Everything: make(map[string]bool)}
	for name, x := range s.indexes {
		stats.Keys[name] = len(x.keys)
		if x.all {
			stats.Everything[name] = true
		}
	}
	if s.writer != nil {
		stats.Unsynced, _, stats.Err = s.writer.State()
	}
	return stats
}

// Sync waits until everything added or done before is durable and survives a crash of the machine. If the disk has
// failed Sync retries at once and returns the error; the Set stays intact, and later retries follow. ctx bounds the
// wait. Without a file Sync returns at once.
func (s *Set) Sync(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	return s.writer.Sync(ctx, errClosed)
}

// Close writes all changes and unlocks the folder. ctx bounds the wait; if the disk does not answer, writing continues
// in the background. After an error hints that were not durable may be lost. Close may be called again.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if s.writer == nil {
		return nil
	}
	return s.writer.Close(ctx)
}
