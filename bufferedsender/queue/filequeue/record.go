package filequeue

import (
	"errors"
	"hash/crc32"
	"math"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/models"
)

// ref is the location of a record in the log.
type ref struct {
	segment, offset uint32
	length          uint32 // of key and body
}

// Bytes implements book.Ref.
func (r ref) Bytes() int { return int(r.length) }

// The format of a record is
//
//	crc u32, length of the body u32, length of the key u16, op u8, class u8, index u32,
//	seq u64, since i64, adder [16], number u64, key, body
//
// The checksum covers the bytes after it.
const recordHeader = 56

// noSince marks a record without Since.
const noSince = math.MinInt64

// ops maps operations to their codes in the log. The order is part of the format.
var ops = []models.ActionType{"", models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMergeOrUpload, models.ActionTypeDelete}

func opOf(op models.ActionType) uint8 {
	for i, o := range ops {
		if o == op {
			return uint8(i) //nolint:gosec // a few
		}
	}
	return 0 // queue.CheckCall refuses other operations
}

func recordSize(r *queue.Record) int { return recordHeader + len(r.Key) + len(r.Body) }

// appendRecord appends a record without its number and its checksum, which number sets.
func appendRecord(b []byte, r *queue.Record) []byte {
	since := int64(noSince)
	if !r.Since.IsZero() {
		since = r.Since.UnixNano()
	}
	b = append(b, 0, 0, 0, 0)
	b = appendInt(b, len(r.Body))
	b = le.AppendUint16(b, uint16(len(r.Key))) //nolint:gosec // at most 1024
	b = append(b, opOf(r.Op), r.Class)
	b = appendInt(b, r.From.Index)
	b = le.AppendUint64(b, r.Seq)
	b = appendI64(b, since)
	b = append(b, r.From.Adder[:]...)
	b = le.AppendUint64(b, r.From.Number)
	b = append(b, r.Key...)
	return append(b, r.Body...)
}

// number sets the number of a record, and its checksum.
func number(rec []byte, seq uint64) {
	le.PutUint64(rec[16:], seq)
	le.PutUint32(rec, crc32.Checksum(rec[4:], castagnoli))
}

var errRecord = errors.New("corrupt record")

// decodeRecord reads a record. Its body is a part of b.
func decodeRecord(b []byte) (r queue.Record, err error) {
	if len(b) < recordHeader || crc32.Checksum(b[4:], castagnoli) != le.Uint32(b) {
		return r, errRecord
	}
	keyEnd := recordHeader + int(le.Uint16(b[8:]))
	if keyEnd > len(b) || int(b[10]) >= len(ops) {
		return r, errRecord
	}
	r = queue.Record{Key: string(b[recordHeader:keyEnd]), Op: ops[b[10]], Class: b[11], Seq: le.Uint64(b[16:])}
	if keyEnd < len(b) {
		r.Body = b[keyEnd:len(b):len(b)]
	}
	if since := int64(le.Uint64(b[24:])); since != noSince { //nolint:gosec // see appendRecord
		r.Since = time.Unix(0, since)
	}
	r.From = queue.Origin{Number: le.Uint64(b[48:]), Index: int(le.Uint32(b[12:]))}
	copy(r.From.Adder[:], b[32:48])
	return r, nil
}

// change reads a record from a frame whose payload begins at base in its segment, and returns it for the book. It does
// not verify the checksum of the record, because that of the frame was right.
func (d *decoder) change(base position) (c book.Change[ref]) {
	at := d.at
	b := d.bytes(recordHeader)
	if b == nil {
		return c
	}
	keyLen, bodyLen := int(le.Uint16(b[8:])), int(le.Uint32(b[4:]))
	c.Key = string(d.bytes(keyLen))
	if d.bytes(bodyLen); d.bad || int(b[10]) >= len(ops) {
		d.bad = true
		return c
	}
	r := queue.Record{Op: ops[b[10]]}
	c.Replaces, c.Class, c.Seq = r.Replaces(), b[11], le.Uint64(b[16:])
	if since := int64(le.Uint64(b[24:])); since != noSince { //nolint:gosec // see appendRecord
		c.Since = time.Unix(0, since).UnixMilli()
	}
	c.Ref = ref{base.segment, base.offset + uint32(at), uint32(keyLen + bodyLen)} //nolint:gosec // inside a segment
	return c
}
