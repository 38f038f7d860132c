package filequeue

import (
	"encoding/binary"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

var le = binary.LittleEndian

const maxText = 1<<16 - 1

// appendText appends a text, truncated to maxText bytes.
func appendText(b []byte, s string) []byte {
	s = s[:min(len(s), maxText)]
	b = le.AppendUint16(b, uint16(len(s))) //nolint:gosec // see above
	return append(b, s...)
}

func appendInt(b []byte, n int) []byte { return le.AppendUint32(b, uint32(n)) } //nolint:gosec // counts of what is in a frame

func appendI64(b []byte, n int64) []byte { return le.AppendUint64(b, uint64(n)) } //nolint:gosec // back again in i64

func appendFlag(b []byte, f bool) []byte {
	if f {
		return append(b, 1)
	}
	return append(b, 0)
}

// decoder reads appended values. Once it runs out of bytes it stays bad.
type decoder struct {
	b   []byte
	at  int
	bad bool
}

func (d *decoder) bytes(n int) []byte {
	if d.bad || n < 0 || n > len(d.b)-d.at {
		d.bad = true
		return nil
	}
	d.at += n
	return d.b[d.at-n : d.at : d.at]
}

func (d *decoder) u8() uint8 {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) flag() bool { return d.u8() != 0 }

func (d *decoder) u32() uint32 {
	if b := d.bytes(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (d *decoder) count() int { return int(d.u32()) }

func (d *decoder) u64() uint64 {
	if b := d.bytes(8); b != nil {
		return le.Uint64(b)
	}
	return 0
}

func (d *decoder) i64() int64 { return int64(d.u64()) } //nolint:gosec // see appendI64

func (d *decoder) id() (id queue.ID) {
	copy(id[:], d.bytes(len(id)))
	return id
}

func (d *decoder) text() string {
	if b := d.bytes(2); b != nil {
		return string(d.bytes(int(le.Uint16(b))))
	}
	return ""
}
