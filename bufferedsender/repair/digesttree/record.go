package digesttree

import (
	"math"

	"github.com/go-azsearch/azsearch/internal/journal"
)

// kind is the type of a record, as stored in the file.
type kind byte

const (
	kindSet       kind = 's'
	kindDeleted   kind = 'd'
	kindBuilt     kind = 'b'
	kindBegin     kind = 'n'
	kindContinues kind = 'c'
	kindClosed    kind = 'x'
)

// allSegments in a built record stands for all segments.
const allSegments = math.MaxUint32

// format is the format of the logs.
var format = journal.Format{
	Magic:      "aztlog\x00\x01",
	Full:       256 << 10,
	MaxPayload: 256<<10 + 1 + 2 + 8 + journal.MaxKey, // plus one record with the longest key
	WellFormed: wellFormed,
}

// record is a decoded record.
type record struct {
	kind    kind
	key     []byte // of set and deleted; aliases the frame
	version int64  // of set
	segment uint32 // of built
	time    int64  // of built: seconds since 1970, or 0
	bits    byte   // of begin and continues
	log     uint64 // of begin and continues: the previous log, or 0
	frames  uint32 // of begin and continues: how many frames of the previous log were read or durable
}

// appendKey appends a set record, or a deleted one.
func appendKey(b []byte, key string, version int64, deleted bool) []byte {
	if deleted {
		b = append(b, byte(kindDeleted))
		b = le.AppendUint16(b, uint16(len(key))) //nolint:gosec // at most MaxKey
	} else {
		b = append(b, byte(kindSet))
		b = le.AppendUint16(b, uint16(len(key))) //nolint:gosec // at most MaxKey
		b = le.AppendUint64(b, uint64(version))  //nolint:gosec // all bits
	}
	return append(b, key...)
}

func appendBuilt(b []byte, segment uint32, time int64) []byte {
	b = append(b, byte(kindBuilt))
	b = le.AppendUint32(b, segment)
	return le.AppendUint64(b, uint64(time)) //nolint:gosec // all bits
}

// appendFirst appends a begin or continues record.
func appendFirst(b []byte, k kind, bits int, log uint64, frames uint32) []byte {
	b = append(b, byte(k), byte(bits)) //nolint:gosec // at most 20
	b = le.AppendUint64(b, log)
	return le.AppendUint32(b, frames)
}

// next decodes the first record and returns its size; 0 if it is malformed.
func next(b []byte) (r record, size int) {
	if len(b) == 0 {
		return r, 0
	}
	r.kind = kind(b[0])
	switch {
	case r.kind == kindSet, r.kind == kindDeleted:
		r.key, r.version, _, size = keyRecord(b) // the kind shows whether it is deleted
	case r.kind == kindBuilt && len(b) >= 13:
		r.segment, r.time, size = le.Uint32(b[1:]), int64(le.Uint64(b[5:])), 13 //nolint:gosec // all bits
	case (r.kind == kindBegin || r.kind == kindContinues) && len(b) >= 14:
		r.bits, r.log, r.frames, size = b[1], le.Uint64(b[2:]), le.Uint32(b[10:]), 14
	case r.kind == kindClosed:
		size = 1
	}
	return r, size
}

// keyRecord decodes a set or deleted record. Size 0 means another kind, or a malformed record. It runs in the loop of
// every fold, so it copies nothing.
func keyRecord(b []byte) (key []byte, version int64, deleted bool, size int) {
	head := 11
	switch {
	case len(b) >= 11 && kind(b[0]) == kindSet:
		version = int64(le.Uint64(b[3:])) //nolint:gosec // all bits
	case len(b) >= 3 && kind(b[0]) == kindDeleted:
		head, deleted = 3, true
	default:
		return nil, 0, false, 0
	}
	if size = head + int(le.Uint16(b[1:])); len(b) < size {
		return nil, 0, false, 0
	}
	return b[head:size], version, deleted, size
}

// wellFormed reports whether a payload consists of whole, valid records.
func wellFormed(payload []byte) bool {
	for len(payload) > 0 {
		r, size := next(payload)
		if size == 0 || r.key != nil && !journal.IsKey(r.key) {
			return false
		}
		payload = payload[size:]
	}
	return true
}
