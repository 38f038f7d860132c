package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"unicode/utf8"
)

// HeaderSize is the room that a frame needs in front of its payload, in bytes.
const HeaderSize = 12

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Sum is the checksum of all files of this package.
func Sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Format is what the files of an owner have in common.
type Format struct {
	// Magic is the beginning of a file, eight bytes. The last one is the version.
	Magic string
	// Full is the size of a payload that gets no more records, and MaxPayload that of the largest: a record more. Both
	// are in bytes.
	Full, MaxPayload int
	// WellFormed reports whether a payload holds records of the owner from one end to the other.
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

// Frames are records in memory, in frames with room for their headers. The mutex of the owner guards them. The zero
// value has none.
type Frames struct {
	// Sealed get no more records: readers share them. Only the writer of the file changes them, and only their headers.
	Sealed [][]byte
	// Size is the size of all payloads, in bytes.
	Size int64

	open []byte // grows; nil: there is none
}

// Room returns the frame that grows, and begins one if there is none. The caller appends a record, and calls Put.
func (f *Frames) Room(format *Format) []byte {
	if f.open == nil {
		size := 512
		if n := len(f.Sealed); n > 0 { // a frame that was full is followed by others
			size = max(size, min(2*len(f.Sealed[n-1]), HeaderSize+format.MaxPayload))
		}
		f.open = make([]byte, HeaderSize, size)
	}
	return f.open
}

// Put takes what Room has returned with one record more. sealed reports that the frame is full.
func (f *Frames) Put(format *Format, b []byte) (sealed bool) {
	f.Size += int64(len(b) - len(f.open))
	f.open = b
	if len(b) < HeaderSize+format.Full {
		return false
	}
	f.Seal()
	return true
}

// Seal ends the frame that grows.
func (f *Frames) Seal() {
	if f.open != nil {
		f.Sealed, f.open = append(f.Sealed, f.open), nil
	}
}

// Add adds a frame that was read.
func (f *Frames) Add(frame []byte) {
	f.Sealed = append(f.Sealed, frame)
	f.Size += int64(len(frame) - HeaderSize)
}

// Drop drops the first n frames, and gives their memory back.
func (f *Frames) Drop(n int) {
	for _, frame := range f.Sealed[:n] {
		f.Size -= int64(len(frame) - HeaderSize)
	}
	f.Sealed = slices.Clone(f.Sealed[n:])
}

// MaxKey is the size of the longest key of a document, in bytes: a rule of the service.
const MaxKey = 1024

// IsKey reports whether a text can be the key of a document.
func IsKey[T string | []byte](key T) bool {
	return len(key) > 0 && len(key) <= MaxKey && utf8.ValidString(string(key)) // a conversion that copies nothing
}

// ErrFormat says that another version of the program has written a file.
var ErrFormat = errors.New("unknown format")

// Damage is the error of a file that cannot be read, for another reason than a crash.
type Damage struct {
	// Offset is where the damage begins, in bytes.
	Offset int64
	// Reason says what is wrong there.
	Reason error
}

func (d *Damage) Error() string { return fmt.Sprintf("byte %d: %v", d.Offset, d.Reason) }

// Unwrap returns Reason.
func (d *Damage) Unwrap() error { return d.Reason }

// What Tail finds.
var (
	errMagic   = errors.New("another kind of file")
	errVersion = errors.New("corrupt version")
	errMiddle  = errors.New("a frame cannot be read, and a later one can")
	errSearch  = errors.New("a frame cannot be read, and the search for later ones takes too long")
	errLong    = errors.New("more bytes than a frame can have, and none can be read")
)
