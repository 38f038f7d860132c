package filequeue

import (
	"bytes"
	"hash/crc32"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// kind is the operation of a frame.
type kind uint8

const (
	kindLink kind = iota + 1
	kindOpen
	kindGlobals
	kindClose
	kindCall
	kindReserve
	kindSettle
	kindExtend
	kindState
	kindAdders
	kindRanOut
	kindRequest
)

// position is a place in the log.
type position struct{ segment, offset uint32 }

func (p position) before(o position) bool {
	return p.segment < o.segment || p.segment == o.segment && p.offset < o.offset
}

// frame is one operation on the queue, as it is in the log.
type frame struct {
	kind    kind
	at      position
	durable position  // the log was synced up to here when the frame was written
	now     time.Time // of the operation
	payload []byte
}

// size returns the size of the frame in the log.
func (f *frame) size() int64 { return frameHeader + int64(len(f.payload)) }

// The header is magic u32, length of the payload u32, checksum u32, kind u32, durable u32 u32, now i64. The checksum
// covers all other bytes of the frame, and the ID and number of the segment.
const frameHeader = 32

var frameMagic = []byte{0xf7, 'a', 'z', 'q'}

// newFrame returns an empty header, to which the payload is appended.
func newFrame(size int) []byte { return make([]byte, frameHeader, frameHeader+size) }

// seal fills in the header.
func seal(b []byte, seed uint32, k kind, durable position, now time.Time) {
	copy(b, frameMagic)
	le.PutUint32(b[4:], uint32(len(b)-frameHeader)) //nolint:gosec // see maxFrame
	le.PutUint32(b[12:], uint32(k))
	le.PutUint32(b[16:], durable.segment)
	le.PutUint32(b[20:], durable.offset)
	le.PutUint64(b[24:], uint64(now.UnixNano())) //nolint:gosec // back again in parse
	le.PutUint32(b[8:], frameSum(b, seed))
}

func frameSum(b []byte, seed uint32) uint32 {
	return crc32.Update(crc32.Update(seed, castagnoli, b[4:8]), castagnoli, b[12:])
}

// seedOf returns the start value for the checksums of a segment.
func seedOf(id queue.ID, number uint32) uint32 {
	return crc32.Checksum(le.AppendUint32(id[:], number), castagnoli)
}

// parse reads the frame at an offset of a segment. ok is false if there is no valid one.
func parse(segment []byte, number uint32, offset int64, seed uint32) (f frame, ok bool) {
	if offset+frameHeader > int64(len(segment)) {
		return f, false
	}
	b := segment[offset:]
	length := int64(le.Uint32(b[4:]))
	if !bytes.HasPrefix(b, frameMagic) || frameHeader+length > int64(len(b)) {
		return f, false
	}
	b = b[:frameHeader+length]
	if frameSum(b, seed) != le.Uint32(b[8:]) {
		return f, false
	}
	return frame{
		kind: kind(le.Uint32(b[12:])), at: position{number, uint32(offset)}, //nolint:gosec // see maxSegment
		durable: position{le.Uint32(b[16:]), le.Uint32(b[20:])}, now: time.Unix(0, int64(le.Uint64(b[24:]))), //nolint:gosec // see seal
		payload: b[frameHeader:],
	}, true
}

// nextFrame finds the first valid frame at an offset or behind it.
func nextFrame(segment []byte, number uint32, offset int64, seed uint32) (f frame, ok bool) {
	for {
		if offset >= int64(len(segment)) {
			return f, false
		}
		i := bytes.Index(segment[offset:], frameMagic)
		if i < 0 {
			return f, false
		}
		offset += int64(i)
		if f, ok = parse(segment, number, offset, seed); ok {
			return f, true
		}
		offset++
	}
}
