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
	maxPiece         = 1000   // keys that Add adds, and
	maxTake          = 10_000 // Take hands out, while others wait for the mutex
)

var (
	// ErrDamaged says that the file of a Set cannot be read, because something other than a crash has changed it, or
	// another version of the program has written it. Hints are missing, perhaps those of an index whose name cannot be
	// read: remove the file, which the error names, open the folder again, and call AddEverything for each index.
	ErrDamaged = errors.New("the repair hints are damaged")

	errClosed = errors.New("hints: the Set is closed")
	errLocked = errors.New("the repair hints are in use by another Set")
)

// Options configures Open. nil and the zero value are ready to use.
type Options struct {
	// MaxMemory bounds the keys of all indexes, in bytes: a key counts its own and 64. One key too many, and the index
	// whose keys count most must be compared whole. The file is at most twice as large and 64 KiB, and half as much
	// again while it is rewritten. Defaults to 128 MiB: a million keys of 64 bytes; negative is refused.
	MaxMemory int64
}

// Set is a set of keys by index. It may be used by many goroutines at once. Only Open, Sync and Close wait for a disk.
// The zero value is ready to use: it has no file, and ends with the process.
type Set struct {
	maxMemory int64 // 0: the default

	mu      sync.Mutex
	indexes map[string]*entry // those that have anything
	bytes   int64             // what the keys of all indexes count
	closed  bool

	writer *writer // nil: there is no file
}

// Open opens a folder for hints, which no other Set may use as long as this one is open, and makes it if need be. It
// has what there was when the last process ended, including what had been taken and not done.
//
// The error is that of the disk, or of another process that has the folder, which it names; ErrDamaged is in its chain
// if the file cannot be read. Close the Set at the end.
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

// Add adds keys of documents that the index may not have as they should be. A key that is there already is not there
// twice; one that is in a batch stays when that is done. It does not wait for a disk: see Sync.
//
// The error is that of a Set that is closed, and then nothing was added; or it counts the keys that cannot be those of
// documents: empty, longer than 1024 bytes, or not UTF-8. The others of the call were added.
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

// AddEverything has the whole index compared, because the keys that are concerned are not known. It returns the errors
// of Add.
func (s *Set) AddEverything(index string) error {
	return s.change(index, func(x *entry) {
		if !x.wholeWaits() {
			s.everything(x)
		}
	})
}

// change has do give something to what there is of an index.
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

// Batch is what Take hands out: keys of an index, or all of it.
type Batch struct {
	// Keys are to be compared. The slice belongs to the caller: Done and Back go by what is in it, so that a part of a
	// batch can be done, and the rest be back.
	Keys []string
	// Everything says that the whole index is to be compared; there are no Keys.
	Everything bool

	taking *taking
}

// Take hands out the oldest keys of an index that no other batch has, at most max of them and 10 000, or everything if
// the index must be compared whole. The batch has neither if there is nothing. Each key is handed out once until it is
// Back, or the process ends: what is not Done then is there again. To drop what there is of an index that is gone, take
// it and have it done.
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
		x.line, x.passed = slices.Clone(x.line), 0 // which gives the memory back
	}
	return Batch{Keys: keys, taking: t}
}

// Done removes the keys of a batch, because the index has them as they should be. Keys that were added since Take stay,
// to be taken again; so does everything else that the batch does not hold any more.
func (s *Set) Done(b Batch) { s.settle(b, true) }

// Back returns the keys of a batch, because they could not be repaired. They are taken again after those that wait.
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
		s.everything(x) // with what was added meanwhile
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
			x.wait(strings.Clone(key)) // that of the caller may be a part of a document
		}
	}
	if len(t.keys) == 0 {
		delete(x.takings, t)
	}
	s.changed(x)
}

// Stats is what a Set holds, and the state of its disk.
type Stats struct {
	// Keys is how many keys each index has, taken or not. It has every index of which there is anything, and Everything
	// those that must be compared whole.
	Keys       map[string]int
	Everything map[string]bool
	// Unsynced is how many changes are not durable yet.
	Unsynced int64
	// Err is why the last attempt to write failed; nil if it did not. It is tried again.
	Err error
}

// Stats returns what there is.
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

// Sync waits until all that was added and done before is durable: it is there after a crash of the machine. If the disk
// fails, Sync has it tried at once, and returns the error; the Set is not concerned, and it is tried again later. ctx
// bounds the waiting. A Set without a file has nothing to wait for.
func (s *Set) Sync(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	return s.writer.Sync(ctx, errClosed)
}

// Close writes what is not written yet, and gives the folder back. ctx bounds the waiting: if the disk does not return,
// the writing continues. After an error hints that were not durable may be lost. Close may be called more than once.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if s.writer == nil {
		return nil
	}
	return s.writer.Close(ctx)
}
