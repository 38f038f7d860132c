package digesttree

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

const (
	baseMagic   = "aztbase\x01"         // the beginning; the last byte is the version of the format
	tableEntry  = 8 + 4 + 4 + 8 + 4 + 8 // bytes of a segmentInfo
	trailerSize = 8 + 4 + 4             // number of the base, bits, and the checksum of both and of the table
	entryHead   = 2 + 8                 // before a key in a segment: its length, and the version
)

// errDamaged means that data differs from what was written.
var errDamaged = errors.New("damaged data")

// segmentInfo describes a segment of a base, as stored in the table.
type segmentInfo struct {
	Offset int64
	Size   uint32
	Keys   uint32
	Digest uint64
	Sum    uint32
	Built  int64
}

// base is an immutable file of keys and versions by segment.
type base struct {
	number uint64
	shape  shape
	file   *disk.Reading // nil: no file, all segments are empty
	size   int64
	table  []segmentInfo
	keys   int64

	users int // the tree, and views that read it; guarded by the mutex of the tree
}

func emptyBase(s shape) *base {
	return &base{shape: s, table: make([]segmentInfo, s.segments()), users: 1}
}

// window is a part of a base in memory.
type window struct {
	data []byte
	at   int64
	wide int64 // minimum bytes of a read; 0: as many as needed
}

// wideWindow suits sequential reads of a whole base.
const wideWindow = 1 << 20

// block reads the entries of a segment. They are valid until the next call with the window. The error is errDamaged if
// their checksum is wrong.
func (b *base) block(segment int, w *window) ([]byte, error) {
	s := b.table[segment]
	size := int64(s.Size)
	if size == 0 {
		return nil, nil
	}
	if s.Offset < w.at || s.Offset+size > w.at+int64(len(w.data)) {
		n := max(size, min(w.wide, b.size-s.Offset))
		if int64(cap(w.data)) < n {
			w.data = make([]byte, n+n/4)
		}
		w.data, w.at = w.data[:n], s.Offset
		if err := b.file.Read(w.data, s.Offset); err != nil {
			w.data = nil
			return nil, err
		}
	}
	block := w.data[s.Offset-w.at:][:size]
	if journal.Sum(block) != s.Sum {
		return nil, fmt.Errorf("segment %d: %w", segment, errDamaged)
	}
	return block, nil
}

// entriesOf yields the keys and versions of entries, up to the first malformed one.
func entriesOf(b []byte) iter.Seq2[[]byte, int64] {
	return func(yield func([]byte, int64) bool) {
		for len(b) >= entryHead {
			size := entryHead + int(le.Uint16(b))
			if len(b) < size || !yield(b[entryHead:size], int64(le.Uint64(b[2:]))) { //nolint:gosec // all bits
				return
			}
			b = b[size:]
		}
	}
}

func appendEntry(b, key []byte, version int64) []byte {
	b = le.AppendUint16(b, uint16(len(key))) //nolint:gosec // at most MaxKey
	b = le.AppendUint64(b, uint64(version))  //nolint:gosec // all bits
	return append(b, key...)
}

// writeBase writes a base. segment returns the entries of a segment, and its description except place, size and
// checksum.
func writeBase(w *bufio.Writer, number uint64, s shape, segment func(i int) (entries []byte, info segmentInfo, err error)) error {
	_, err := w.WriteString(baseMagic)
	table, at := make([]segmentInfo, s.segments()), int64(len(baseMagic))
	for i := range table {
		entries, info, failed := segment(i)
		if failed == nil && len(entries) > math.MaxInt32 {
			failed = fmt.Errorf("a segment has %d bytes: there are too few segments", len(entries))
		}
		if failed != nil {
			return failed
		}
		info.Offset, info.Size, info.Sum = at, uint32(len(entries)), journal.Sum(entries) //nolint:gosec // see above
		table[i], at = info, at+int64(len(entries))
		_, err = w.Write(entries) // w keeps the first error of all writes
	}
	if err != nil {
		return err
	}
	t, err := binary.Append(make([]byte, 0, len(table)*tableEntry+trailerSize), le, table)
	t = le.AppendUint64(t, number)
	t = le.AppendUint32(t, uint32(s.bits)) //nolint:gosec // at most 20
	t = le.AppendUint32(t, journal.Sum(t))
	if err == nil {
		_, err = w.Write(t)
	}
	return err
}

// openBase opens a base. The error is errDamaged if the file differs from what was written.
func openBase(folder disk.Folder, number uint64) (*base, error) {
	f, err := disk.OpenReading(folder, baseName(number))
	if err != nil {
		return nil, err
	}
	b, err := readBase(f, number)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", baseName(number), err), f.Close())
	}
	return b, nil
}

func readBase(f *disk.Reading, number uint64) (*base, error) {
	magic, trailer := make([]byte, len(baseMagic)), make([]byte, trailerSize)
	if f.Size < int64(len(magic)+trailerSize) {
		return nil, errDamaged
	}
	if err := f.Read(magic, 0); err != nil {
		return nil, err
	}
	if err := f.Read(trailer, f.Size-trailerSize); err != nil {
		return nil, err
	}
	s := shape{int(le.Uint32(trailer[8:]))}
	if string(magic) != baseMagic || le.Uint64(trailer) != number || s.bits < minSegmentBits || s.bits > maxSegmentBits {
		return nil, errDamaged
	}
	from := f.Size - trailerSize - int64(s.segments())*tableEntry
	if from < int64(len(magic)) {
		return nil, errDamaged
	}
	table := make([]byte, f.Size-from)
	if err := f.Read(table, from); err != nil {
		return nil, err
	}
	if journal.Sum(table[:len(table)-4]) != le.Uint32(table[len(table)-4:]) {
		return nil, errDamaged
	}
	b := emptyBase(s)
	b.number, b.file, b.size = number, f, f.Size
	if _, err := binary.Decode(table, le, b.table); err != nil {
		return nil, err
	}
	end := int64(len(magic))
	for _, info := range b.table {
		if info.Offset != end {
			return nil, errDamaged
		}
		end += int64(info.Size)
		b.keys += int64(info.Keys)
	}
	if end != from {
		return nil, errDamaged
	}
	return b, nil
}

// leave ends one use of a base. The last use closes it.
func (t *Tree) leave(b *base) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b == nil || b.file == nil {
		return nil
	}
	if b.users--; b.users > 0 {
		return nil
	}
	return b.file.Close()
}
