package hints

import (
	"cmp"
	"strings"
)

// entry has the hints of one index. The mutex of the Set guards it.
type entry struct {
	name    string
	keys    map[string]*taking   // the taking of each key; nil: the key waits in line
	line    []string             // waiting keys, oldest first; append only, because snapshots share it
	passed  int                  // keys before line whose memory it still holds
	takings map[*taking]struct{} // those with keys
	bytes   int64                // counted bytes of the keys

	all   bool    // the whole index must be compared
	allBy *taking // the batch with that mark; nil: it waits, and there are no keys
}

// taking is a batch that is neither done nor back.
type taking struct {
	set  *Set
	of   *entry
	keys map[string]bool // keys it still has; true: added again meanwhile
}

// cost returns the counted bytes of a key. It exceeds the key's size in a snapshot.
func cost(key string) int64 { return int64(len(key)) + 64 }

// wholeWaits reports whether the mark for the whole index waits for a batch.
func (x *entry) wholeWaits() bool { return x.all && x.allBy == nil }

// wait puts a key at the end of the line.
func (x *entry) wait(key string) {
	x.keys[key] = nil
	x.line = append(x.line, key)
}

// The following functions require the lock of the Set.

// entry returns the entry of an index. The caller must add something to it and pass it to changed.
func (s *Set) entry(name string) *entry {
	x, ok := s.indexes[name]
	if !ok {
		if s.indexes == nil {
			s.indexes = make(map[string]*entry)
		}
		x = &entry{name: strings.Clone(name)}
		x.reset()
		s.indexes[x.name] = x
	}
	return x
}

// changed removes an empty entry, makes room if needed, and wakes the writer.
func (s *Set) changed(x *entry) {
	if !x.all && len(x.keys) == 0 && s.indexes[x.name] == x {
		delete(s.indexes, x.name)
	}
	s.bound()
	if s.writer != nil {
		s.writer.Wake()
	}
}

func (s *Set) add(x *entry, key string) {
	by, there := x.keys[key]
	switch {
	case x.wholeWaits():
	case !there:
		s.insert(x, strings.Clone(key)) // the key may be part of a document
		s.record(opAdd, x, key)
	case by != nil:
		by.keys[strings.Clone(key)] = true
	}
}

// insert adds a key that is not in the set.
func (s *Set) insert(x *entry, key string) {
	x.wait(key)
	x.bytes += cost(key)
	s.bytes += cost(key)
}

// remove removes a key that is done and not in line.
func (s *Set) remove(x *entry, key string) {
	s.record(opDone, x, key)
	x.bytes -= cost(key)
	s.bytes -= cost(key)
	if delete(x.keys, key); len(x.keys) == 0 {
		x.reset() // a map does not shrink
	}
}

// everything replaces all keys of an index by one mark. Batches hold none of its keys any more.
func (s *Set) everything(x *entry) {
	for t := range x.takings {
		t.keys = nil
	}
	s.bytes -= x.bytes
	x.reset()
	x.all, x.allBy = true, nil
	s.record(opEverything, x, "")
}

// reset empties an entry without keys and frees its memory.
func (x *entry) reset() {
	x.keys, x.takings = make(map[string]*taking), make(map[*taking]struct{})
	x.line, x.passed, x.bytes = nil, 0, 0
}

// bound makes room while there is too much, in the entry with the most bytes, so that one failing index does not turn
// others into whole comparisons.
func (s *Set) bound() {
	for s.bytes > cmp.Or(s.maxMemory, defaultMaxMemory) {
		var worst *entry
		for _, x := range s.indexes {
			if worst == nil || x.bytes > worst.bytes || x.bytes == worst.bytes && x.name < worst.name {
				worst = x
			}
		}
		s.everything(worst)
	}
}
