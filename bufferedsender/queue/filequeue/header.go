package filequeue

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

const (
	lockName      = "lock"
	destroyedName = "destroyed"
	markName      = "synced"
	segmentPrefix = "log-"
	repairPrefix  = "repair-"
	damagedPrefix = "damaged-"
)

func segmentName(number uint32) string { return fmt.Sprintf("%s%010d", segmentPrefix, number) }

// segmentNumber returns the number in the name of a segment. ok is false for other files.
func segmentNumber(name string) (number uint32, ok bool) {
	digits, ok := strings.CutPrefix(name, segmentPrefix)
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && err == nil && n > 0 && name == segmentName(uint32(n))
}

// header is the beginning of a segment.
type header struct {
	queue    queue.ID // random, the same in all segments
	number   uint32
	first    uint32 // the log begins with this segment or a later one
	created  int64  // ns since 1970
	index    string
	endpoint string
}

const (
	headerSize    = 512
	headerMagic   = "azsqueue"
	formatVersion = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// magic[8] version u32 crc u32 queue[16] number u32 first u32 created i64 index endpoint, then zeros. In version 1
// the checksum covers the bytes after it. From version 2 on it also covers magic and version; otherwise a flipped bit
// in the version would make a damaged header look like one of a newer version.
func (h *header) encode() []byte {
	b := make([]byte, 16, headerSize)
	copy(b, headerMagic)
	binary.LittleEndian.PutUint32(b[8:], formatVersion)
	b = append(b, h.queue[:]...)
	b = binary.LittleEndian.AppendUint32(b, h.number)
	b = binary.LittleEndian.AppendUint32(b, h.first)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.created)) //nolint:gosec // back again in decode
	b = appendText(b, h.index)
	b = appendText(b, h.endpoint)
	b = b[:headerSize]
	binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	return b
}

// decodeHeader reads a header. ok is false if b is not a valid header. The error is ErrFormat if the header has a newer
// version.
func decodeHeader(b []byte) (h header, ok bool, err error) {
	if len(b) < headerSize || !bytes.HasPrefix(b, []byte(headerMagic)) {
		return h, false, nil
	}
	b = b[:headerSize]
	v, sum := binary.LittleEndian.Uint32(b[8:]), crc32.Checksum(b[16:], castagnoli)
	if v != formatVersion {
		sum = newerSum(b)
	}
	if sum != binary.LittleEndian.Uint32(b[12:]) {
		return h, false, nil
	}
	if v != formatVersion {
		return h, false, fmt.Errorf("%w: got version %d, want at most %d; use a newer program", ErrFormat, v, formatVersion)
	}
	d := decoder{b: b[16:]}
	h.queue = d.id()
	h.number, h.first, h.created = d.u32(), d.u32(), d.i64()
	h.index, h.endpoint = d.text(), d.text()
	return h, !d.bad, nil
}

// newerSum is the checksum of a header of version 2 or later.
func newerSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[16:headerSize])
}

// fits returns an error if the segment belongs to another index or endpoint than the options.
func (h *header) fits(o *Options) error {
	if o.Index != "" && h.index != "" && o.Index != h.index {
		return fmt.Errorf("%w: it has %q, Options.Index is %q", ErrOther, h.index, o.Index)
	}
	if o.Endpoint != "" && h.endpoint != "" && o.Endpoint != h.endpoint {
		return fmt.Errorf("%w: it has endpoint %q, Options.Endpoint is %q", ErrOther, h.endpoint, o.Endpoint)
	}
	return nil
}
