package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
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
	// MaxPayload is the size of the largest payload, in bytes.
	MaxPayload int
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

// ErrFormat says that another version of the program has written a file.
var ErrFormat = errors.New("unknown format")

// Damage says that a file cannot be read, for another reason than a crash.
type Damage struct {
	// Offset is where the damage begins, in bytes.
	Offset int64
	// Reason says what is wrong there.
	Reason error
}

// What Tail finds.
var (
	errMagic  = errors.New("another kind of file")
	errMiddle = errors.New("a frame cannot be read, and a later one can")
	errSearch = errors.New("a frame cannot be read, and the search for later ones takes too long")
	errLong   = errors.New("more bytes than a frame can have, and none can be read")
)
