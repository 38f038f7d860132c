package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"unicode/utf8"
)

// HeaderSize is the size of the header in front of the payload of a frame, in bytes.
const HeaderSize = 12

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Sum returns the checksum used in all files of this package.
func Sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Format describes the files of an owner.
type Format struct {
	// Magic is the beginning of a file: eight bytes, the last of them the version.
	Magic string
	// Full is the size from which a payload gets no more records, and MaxPayload the maximum size: that plus one
	// record. Both are in bytes.
	Full, MaxPayload int
	// Mark is the name of the disk.Mark of a file made by Replace; "" for none. The first frame must differ from those of
	// all other files. A file that ends before its Mark is a Damage.
	Mark string
	// WellFormed reports whether a payload consists of complete records of the owner.
	WellFormed func(payload []byte) bool
}

// Seal fills in the header of a frame.
func Seal(frame []byte, number uint32) {
	le.PutUint32(frame, uint32(len(frame)-HeaderSize)) //nolint:gosec // at most MaxPayload
	le.PutUint32(frame[4:], number)
	le.PutUint32(frame[8:], frameSum(frame))
}

func frameSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:8], castagnoli), castagnoli, b[HeaderSize:])
}

// Frames holds records in memory, in frames with room for their headers. The mutex of the owner guards it. The zero
// value is empty.
type Frames struct {
	// Sealed frames get no more records, so readers may share them. Only the writer of the file changes them, and only
	// their headers.
	Sealed [][]byte
	// Size is the size of all payloads, in bytes.
	Size int64

	open []byte // the growing frame; nil: none
}

// Room returns the growing frame, and starts one if there is none. The caller appends a record, and calls Put.
func (f *Frames) Room(format *Format) []byte {
	if f.open == nil {
		size := 512
		if n := len(f.Sealed); n > 0 { // more frames will follow a full one
			size = max(size, min(2*len(f.Sealed[n-1]), HeaderSize+format.MaxPayload))
		}
		f.open = make([]byte, HeaderSize, size)
	}
	return f.open
}

// Put stores the frame that Room returned, with one more record. sealed reports that the frame is full.
func (f *Frames) Put(format *Format, b []byte) (sealed bool) {
	f.Size += int64(len(b) - len(f.open))
	f.open = b
	if len(b) < HeaderSize+format.Full {
		return false
	}
	f.Seal()
	return true
}

// Seal ends the growing frame.
func (f *Frames) Seal() {
	if f.open != nil {
		f.Sealed, f.open = append(f.Sealed, f.open), nil
	}
}

// Add adds a frame that was read from a file.
func (f *Frames) Add(frame []byte) {
	f.Sealed = append(f.Sealed, frame)
	f.Size += int64(len(frame) - HeaderSize)
}

// Drop drops the first n frames, and frees their memory.
func (f *Frames) Drop(n int) {
	for _, frame := range f.Sealed[:n] {
		f.Size -= int64(len(frame) - HeaderSize)
	}
	f.Sealed = slices.Clone(f.Sealed[n:])
}

// MaxKey is the maximum size of a document key of the service, in bytes.
const MaxKey = 1024

// IsKey reports whether a text is a valid document key.
func IsKey[T string | []byte](key T) bool {
	return len(key) > 0 && len(key) <= MaxKey && utf8.ValidString(string(key)) // this conversion does not copy
}

// ErrFormat reports that another version of the program wrote the file.
var ErrFormat = errors.New("unknown format")

// Damage is the error for a file that cannot be read for a reason other than a crash.
type Damage struct {
	// Offset is the beginning of the damage, in bytes.
	Offset int64
	// Reason describes the damage.
	Reason error
}

func (d *Damage) Error() string { return fmt.Sprintf("byte %d: %v", d.Offset, d.Reason) }

// Unwrap returns Reason.
func (d *Damage) Unwrap() error { return d.Reason }

// Errors of Reader.tail.
var (
	errMagic   = errors.New("another kind of file")
	errVersion = errors.New("corrupt version")
	errMiddle  = errors.New("a frame cannot be read, and a later one can")
	errSearch  = errors.New("a frame cannot be read, and the search for later ones takes too long")
	errShort   = errors.New("the file ends before what was synced")
	errLong    = errors.New("more bytes than a frame can have, and none can be read")
)
