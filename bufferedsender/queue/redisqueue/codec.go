package redisqueue

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/rediskit"
	"github.com/go-azsearch/azsearch/models"
)

// The layout of a record in Redis:
//
//	0  operation: 0 key only, 1 upload, 2 delete (these replace), 3 merge, 4 mergeOrUpload
//	1  class
//	2  Since: milliseconds (6 bytes) and the nanoseconds of the last one (4); 0: not set. The first bit of
//	   the 4 says that the key follows: an older version did not write it
//	12 origin: adder (16), number of the call (6), index in it (2)
//	36 length of the key (2), key: Repair makes entries that are gone from it
//	   body
const (
	header = 36
	keyed  = 0x80
)

var ops = [...]models.ActionType{"", models.ActionTypeUpload, models.ActionTypeDelete, models.ActionTypeMerge, models.ActionTypeMergeOrUpload}

// encode writes a record. Those of a fold get their origin from the script.
func encode(r *queue.Record, from queue.Origin) []byte {
	b := make([]byte, header, header+2+len(r.Key)+len(r.Body))
	for i, op := range ops {
		if op == r.Op {
			b[0] = byte(i)
		}
	}
	b[1] = r.Class
	if !r.Since.IsZero() {
		ms := max(r.Since.UnixMilli(), 1)
		put48(b[2:], uint64(ms)) //nolint:gosec // positive
		if ms > 1 {
			binary.BigEndian.PutUint32(b[8:], uint32(r.Since.Nanosecond()%1e6)) //nolint:gosec // below a million
		}
	}
	b[8] |= keyed
	copy(b[12:], from.Adder[:])
	put48(b[28:], from.Number)
	binary.BigEndian.PutUint16(b[34:], uint16(from.Index))   //nolint:gosec // below MaxCall
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Key))) //nolint:gosec // checked
	return append(append(b, r.Key...), r.Body...)
}

func decode(key string, seq uint64, blob string) (r queue.Record, err error) {
	if len(blob) < header || int(blob[0]) >= len(ops) {
		return r, fmt.Errorf("redisqueue: record %d of %q has %d malformed bytes", seq, key, len(blob))
	}
	r = queue.Record{Key: key, Op: ops[blob[0]], Class: blob[1], Seq: seq}
	if ms := get48(blob[2:]); ms != 0 {
		r.Since = time.UnixMilli(int64(ms)).Add(time.Duration(get32(blob[8:]) &^ (keyed << 24))) //nolint:gosec // 48 bits
	}
	copy(r.From.Adder[:], blob[12:])
	r.From.Number = get48(blob[28:])
	r.From.Index = int(blob[34])<<8 | int(blob[35])
	body := blob[header:]
	if blob[8]&keyed != 0 {
		if len(body) < 2 || int(body[0])<<8|int(body[1]) != len(key) || !strings.HasPrefix(body[2:], key) {
			return r, fmt.Errorf("redisqueue: record %d of %q names another key", seq, key)
		}
		body = body[2+len(key):]
	}
	if len(body) > 0 {
		r.Body = []byte(body)
	}
	return r, nil
}

func put48(b []byte, v uint64) {
	binary.BigEndian.PutUint16(b, uint16(v>>32)) //nolint:gosec // the upper 16 of 48 bits
	binary.BigEndian.PutUint32(b[2:], uint32(v)) //nolint:gosec // the lower 32
}

func get48(s string) uint64 { return uint64(s[0])<<40 | uint64(s[1])<<32 | uint64(get32(s[2:])) }

func get32(s string) uint32 {
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}

// millis rounds up, so that rounding never ends a lease before its holder expects it.
func millis(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10)
}

// recordsOf reads records with the given numbers, 6 bytes each.
func recordsOf(r *rediskit.Reader, key, seqs string) []queue.Record {
	if len(seqs)%6 != 0 {
		r.Fail(rediskit.ErrAnswer)
		return nil
	}
	out := make([]queue.Record, 0, len(seqs)/6)
	for ; len(seqs) > 0; seqs = seqs[6:] {
		blob := r.Text()
		if r.Err != nil {
			return nil
		}
		rec, err := decode(key, get48(seqs), blob)
		if err != nil {
			r.Fail(err)
			return nil
		}
		out = append(out, rec)
	}
	return out
}
