package hints

import (
	"cmp"
	"strings"
)

// entry is what must be repaired of one index. The mutex of the Set guards it.
type entry struct {
	name    string
	keys    map[string]*taking   // the taking that has a key; nil: it waits in line
	line    []string             // keys that wait, oldest first. It is only written behind its end: snapshots share it
	passed  int                  // keys in front of the line whose memory it keeps
	takings map[*taking]struct{} // that have keys
	bytes   int64                // what the keys count

	all   bool    // everything must be compared
	allBy *taking // has that; nil: it waits, and there are no keys
}

// taking is a batch that is neither done nor back.
type taking struct {
	set  *Set
	of   *entry
	keys map[string]bool // those that it still has; true: added again meanwhile
}

// cost is what a key counts in memory, and more than it takes in a snapshot.
func cost(key string) int64 { return int64(len(key)) + 64 }

// wholeWaits reports whether the whole index must be compared, and no batch has that.
func (x *entry) wholeWaits() bool { return x.all && x.allBy == nil }

// wait puts a key at the end of the line.
func (x *entry) wait(key string) {
	x.keys[key] = nil
	x.line = append(x.line, key)
}

// What follows has the lock of the Set.

// entry returns what there is of an index. It is then given something, and passed to changed.
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

// changed removes an index that has nothing any more, makes room if there is too much, and has the writer look for
// changes.
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
		s.insert(x, strings.Clone(key)) // it may be a part of a document
		s.record(opAdd, x, key)
	case by != nil:
		by.keys[strings.Clone(key)] = true
	}
}

// insert adds a key that is not there.
func (s *Set) insert(x *entry, key string) {
	x.wait(key)
	x.bytes += cost(key)
	s.bytes += cost(key)
}

// remove removes a key that is done, and not in line.
func (s *Set) remove(x *entry, key string) {
	s.record(opDone, x, key)
	x.bytes -= cost(key)
	s.bytes -= cost(key)
	if delete(x.keys, key); len(x.keys) == 0 {
		x.reset() // a map does not shrink
	}
}

// everything lets one mark stand for all keys of an index, of which batches hold none any more.
func (s *Set) everything(x *entry) {
	for t := range x.takings {
		t.keys = nil
	}
	s.bytes -= x.bytes
	x.reset()
	x.all, x.allBy = true, nil
	s.record(opEverything, x, "")
}

// reset makes room for keys where there are none.
func (x *entry) reset() {
	x.keys, x.takings = make(map[string]*taking), make(map[*taking]struct{})
	x.line, x.passed, x.bytes = nil, 0, 0
}

// bound makes room if there is too much: in the index that has the most, so that one that is failing turns no other
// into a whole comparison.
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
