package hints

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Set is a set of keys by index. It may be used by many goroutines at once. Only Open,
// Sync and Close wait for a disk.
type Set struct {
	options Options

	mu        sync.Mutex
	indexes   map[string]*index // those that have anything
	keys      int               // of all indexes
	bytes     int64             // of all indexes, at least what a snapshot takes
	overflows int64
	refused   int64
	closed    bool

	writer *writer // nil: there is no file
}

// NewMemory returns a Set that has no file: it ends with the process.
func NewMemory(opts *Options) (*Set, error) {
	options, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return newSet(options), nil
}

func newSet(options Options) *Set {
	return &Set{options: options, indexes: make(map[string]*index)}
}

// addPiece is how many keys are added without letting others in.
const addPiece = 1000

// Add adds keys of documents that the index may not have as they should be. A key that is there already is not there
// twice; one that is in a batch stays when that is done. It does not wait for a disk: see Sync.
//
// The error is ErrClosed, and then nothing was added; or it is ErrRefused for keys that cannot be those of
// documents: empty, longer than 1024 bytes, or not UTF-8. The others of the call were added.
func (s *Set) Add(index string, keys ...string) error {
	if err := checkName(index); err != nil {
		return err
	}
	refused, first := 0, ""
	for piece := range slices.Chunk(keys, addPiece) {
		bad := 0
		for _, key := range piece {
			if !valid(key) {
				if refused+bad == 0 {
					first = key
				}
				bad++
			}
		}
		refused += bad
		if err := s.addPiece(index, piece, bad); err != nil {
			return err
		}
	}
	if refused > 0 {
		return fmt.Errorf("hints: %w: %d of %d for index %q, the first has %d bytes: %.40q", ErrRefused, refused, len(keys), index, len(first), first)
	}
	return nil
}

func (s *Set) addPiece(name string, keys []string, bad int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.refused += int64(bad)
	if bad == len(keys) {
		return nil
	}
	for _, key := range keys {
		if valid(key) {
			s.add(s.index(name), key)
		}
	}
	s.wake()
	return nil
}

// AddEverything says that nobody knows which keys of the index are concerned: it is to be compared whole.
// The errors are those of Add.
func (s *Set) AddEverything(index string) error {
	if err := checkName(index); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if x := s.index(index); !x.wholeWaits() {
		s.everything(x)
		s.wake()
	}
	return nil
}

// Forget removes all that there is of an index, because it is dropped, or was written anew. Batches of
// it that are taken hold nothing any more.
func (s *Set) Forget(index string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.indexes[index]
	if !ok || s.closed {
		return
	}
	s.drop(x)
	x.all, x.allBy = false, nil
	s.record(opForget, x, "")
	s.tidy(x)
	s.wake()
}

// Len returns how many keys of an index there are, taken or not, and whether it is to be compared whole.
func (s *Set) Len(index string) (keys int, everything bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.indexes[index]
	if !ok {
		return 0, false
	}
	return len(x.keys), x.all
}

// Indexes returns the names of all indexes of which there is anything, taken or not, in order.
func (s *Set) Indexes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.indexes))
}

// Stats returns what there is.
func (s *Set) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := Stats{Indexes: len(s.indexes), Keys: s.keys, Overflows: s.overflows, Refused: s.refused}
	for _, x := range s.indexes {
		stats.Taken += len(x.keys) - x.line.size
		if x.all {
			stats.Everything++
		}
	}
	if w := s.writer; w != nil {
		stats.FileBytes = w.fileBytes
		stats.Unsynced, stats.Failures, stats.Err = w.State()
	}
	return stats
}

func valid(key string) bool {
	return key != "" && len(key) <= maxKeyBytes && utf8.ValidString(key)
}

func checkName(index string) error {
	if len(index) > maxNameBytes {
		return fmt.Errorf("hints: %w: the name of the index has %d bytes, at most %d are allowed", ErrRefused, len(index), maxNameBytes)
	}
	return nil
}

// What follows has the lock.

// index returns what there is of an index. It is to be given something.
func (s *Set) index(name string) *index {
	x, ok := s.indexes[name]
	if !ok {
		x = &index{name: strings.Clone(name)}
		s.indexes[x.name] = x
		s.bytes += nameCost(x.name)
	}
	return x
}

// nameCost is an upper bound of what an index takes in a snapshot beside its keys.
func nameCost(name string) int64 { return int64(len(name)) + 32 }

// tidy removes an index that has nothing any more.
func (s *Set) tidy(x *index) {
	if s.indexes[x.name] == x && !x.has() {
		delete(s.indexes, x.name)
		s.bytes -= nameCost(x.name)
	}
}

func (s *Set) add(x *index, key string) {
	if x.wholeWaits() {
		return
	}
	by, ok := x.keys[key]
	switch {
	case !ok:
		key = strings.Clone(key) // it may be a part of a document
		x.add(key)
		s.keys++
		s.bytes += cost(key)
		s.record(opAdd, x, key)
		s.bound()
	case by != nil:
		if by.again == nil {
			by.again = make(map[string]struct{})
		}
		by.again[strings.Clone(key)] = struct{}{}
	}
}

// remove removes a key that is not in line.
func (s *Set) remove(x *index, key string) {
	x.remove(key)
	s.keys--
	s.bytes -= cost(key)
}

// drop removes all keys of an index.
func (s *Set) drop(x *index) {
	s.keys -= len(x.keys)
	s.bytes -= x.bytes
	x.drop()
}

// everything lets one mark stand for all keys of an index.
func (s *Set) everything(x *index) {
	s.drop(x)
	x.all, x.allBy = true, nil
	s.record(opEverything, x, "")
}

// bound makes room if there is too much.
func (s *Set) bound() {
	limit := (s.options.MaxBytes - slack) / 2
	for s.keys > s.options.MaxKeys || s.bytes > limit {
		var worst *index
		for _, x := range s.indexes {
			if len(x.keys) > 0 && (worst == nil || s.weighs(x, worst)) {
				worst = x
			}
		}
		if worst == nil {
			return // marks are kept, whatever they take
		}
		s.everything(worst)
		s.overflows++
	}
}

// weighs reports whether a has more of what there is too much of.
func (s *Set) weighs(a, b *index) bool {
	x, y := int64(len(a.keys)), int64(len(b.keys))
	if s.keys <= s.options.MaxKeys {
		x, y = a.bytes, b.bytes
	}
	return x > y || x == y && a.name < b.name
}
