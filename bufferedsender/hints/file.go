package hints

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
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
	markName = "hints.synced"
)

// op is an operation on the set, as stored in the file.
type op byte

const (
	opName       op = 'n'
	opAdd        op = 'a'
	opDone       op = 'd'
	opEverything op = 'e'
	opCompared   op = 'c'
	opForget     op = 'f' // of former versions
	opSealed     op = 's'
)

// hasText reports whether an operation has a length and bytes.
func (o op) hasText() bool { return o == opName || o == opAdd || o == opDone }

// slack is how many bytes a file may exceed twice the size of the set.
const slack = 64 << 10

var format = journal.Format{
	Magic:      "azhints\x01",
	Mark:       markName,
	Full:       1 << 20,
	MaxPayload: 1<<20 + maxNameBytes + journal.MaxKey + 16, // plus a name and a key
	WellFormed: func(payload []byte) bool { return each(payload, func(op, string, string) {}) },
}

// operations are the changes not yet in the file.
type operations struct {
	journal.Frames
	name string // index of the last operation in the last frame
}

func (f *operations) add(o op, name, key string) {
	b := f.Room(&format)
	if o != opSealed && (len(b) == journal.HeaderSize || f.name != name) {
		b, f.name = appendOp(b, opName, name), name
	}
	_ = f.Put(&format, appendOp(b, o, key)) // write takes both full and partial frames
}

func appendOp(b []byte, o op, text string) []byte {
	b = append(b, byte(o))
	if o.hasText() {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// each calls do for each operation of a payload, with its index. ok is false if one is malformed.
func each(payload []byte, do func(o op, name, key string)) (ok bool) {
	name, named := "", false
	for len(payload) > 0 {
		o, text := op(payload[0]), ""
		payload = payload[1:]
		if o.hasText() {
			n, k := binary.Uvarint(payload)
			if k <= 0 || n > uint64(len(payload)-k) {
				return false
			}
			text, payload = string(payload[k:k+int(n)]), payload[k+int(n):] //nolint:gosec // at most its length
		}
		switch {
		case o == opName && len(text) <= maxNameBytes:
			name, named = text, true
			continue
		case o == opSealed:
		case named && (o == opAdd || o == opDone) && journal.IsKey(text):
		case named && (o == opEverything || o == opCompared || o == opForget):
		default:
			return false
		}
		do(o, name, text)
	}
	return true
}

// writer is the goroutine that writes the Set.
type writer struct {
	*journal.Loop
	folder disk.Folder
	file   journal.File // used by the goroutine only

	// The mutex of the Set guards these.
	log   operations // changes that write has not fetched
	whole bool       // the log lacks changes: rewrite
}

// open reads a locked folder. The writing goroutine does not run yet.
func (s *Set) open(folder disk.Folder) error {
	found, err := s.load(folder)
	if err != nil {
		return err
	}
	w := &writer{folder: folder, whole: true}
	w.Loop = journal.NewLoop(&s.mu, func(time.Time) (at time.Time, dirty bool) { return at, w.Durable < w.Changes }, s.write)
	if found {
		w.Changes++ // the file need not be durable, and may be torn: rewrite it
	}
	s.writer = w
	return nil
}

// run writes until the Set is closed.
func (s *Set) run(release func() error) { s.writer.Run(s.writer.Step, s.writer.file.Close, release) }

// record adds a change to the log. The caller has the lock.
func (s *Set) record(o op, x *entry, key string) {
	w := s.writer
	if w == nil {
		return
	}
	w.Changes++
	w.log.add(o, x.name, key)
	if w.whole || w.log.Size > max(int64(format.Full), s.bytes) { // a rewrite is smaller
		w.log, w.whole = operations{}, true
	}
}

// part is the content of one index in a snapshot.
type part struct {
	name string
	all  bool
	keys [2][]string // the taken ones, then the line
}

// write makes all changes durable.
func (s *Set) write() error {
	w := s.writer
	s.mu.Lock()
	w.log.Seal()
	changes, pending := w.Changes, w.log
	var parts []part
	whole := changes > w.Durable && (w.whole || !w.file.IsOpen() || w.file.Size()+pending.Size > 2*s.bytes+slack)
	if whole {
		parts = s.snapshot()
	}
	w.log, w.whole = operations{}, w.whole && !whole
	s.mu.Unlock()

	var err error
	if whole {
		err = w.file.Replace(w.folder, tmpName, fileName, format, func(put func(frame []byte)) { writeSnapshot(put, parts) })
	}
	for i := 0; i < len(pending.Sealed) && !whole && err == nil; i++ {
		err = w.file.Append(pending.Sealed[i]) // one frame per sync, so that a crash tears only the last one
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		w.log, w.whole = operations{}, true
		return err
	}
	w.Durable = changes
	return nil
}

// snapshot returns the content. Its time does not depend on the number of waiting keys, because Add waits for it. The
// caller has the lock.
func (s *Set) snapshot() []part {
	parts := make([]part, 0, len(s.indexes))
	for _, name := range slices.Sorted(maps.Keys(s.indexes)) {
		x := s.indexes[name]
		p := part{name: name, all: x.all, keys: [2][]string{1: slices.Clip(x.line)}}
		for t := range x.takings {
			p.keys[0] = slices.AppendSeq(p.keys[0], maps.Keys(t.keys))
		}
		parts = append(parts, p)
	}
	return parts
}

// writeSnapshot writes the first frames of a file. The last of them marks the end of the snapshot.
func writeSnapshot(put func(frame []byte), parts []part) {
	var f operations
	f.name = rand.Text()                                          // makes the file unique, for its mark; it has no operations
	_ = f.Put(&format, appendOp(f.Room(&format), opName, f.name)) // the frame has room
	flush := func() {
		for _, frame := range f.Sealed {
			put(frame)
		}
		f.Sealed = nil
	}
	for _, p := range parts {
		if p.all {
			f.add(opEverything, p.name, "")
		}
		for _, keys := range p.keys {
			for _, key := range keys {
				f.add(opAdd, p.name, key)
				flush()
			}
		}
	}
	f.Seal()
	f.add(opSealed, "", "")
	f.Seal()
	flush()
}

// load reads the file, if it exists.
func (s *Set) load(folder disk.Folder) (found bool, err error) {
	sealed := false
	apply := func(o op, name, key string) {
		x := s.entry(name)
		_, there := x.keys[key]
		switch {
		case o == opSealed:
			sealed = true
		case o == opAdd && !there:
			s.insert(x, key) // also after a mark, which may be removed later
		case o == opDone && there:
			s.remove(x, key) // but not from the line
		case o == opCompared:
			x.all = false
		case o == opEverything, o == opForget:
			s.everything(x)
			x.all = o == opEverything
		}
	}
	err = format.Read(folder, fileName, func(frame []byte, _ uint32) error {
		_ = each(frame[journal.HeaderSize:], apply) // the frame is well formed
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !sealed {
		err = &journal.Damage{Reason: errors.New("the snapshot has no end")}
	}
	if errors.As(err, new(*journal.Damage)) {
		err = fmt.Errorf("%w: %s, %w; remove the file and call AddEverything for each index", ErrDamaged, fileName, err)
	}
	for _, x := range s.indexes {
		if x.all { // no batch has the mark, so it covers the keys added after it
			s.everything(x)
		}
		last := make(map[string]int, len(x.line)) // if a key was done and added again its last place counts
		for i, key := range x.line {
			last[key] = i
		}
		i := -1
		x.line = slices.DeleteFunc(x.line, func(key string) bool {
			i++
			_, there := x.keys[key]
			return !there || last[key] != i
		})
		s.changed(x)
	}
	return true, err
}
