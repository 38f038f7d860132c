package hints

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// op is an operation on the set, as it is in the file.
type op byte

const (
	opName       op = 'n'
	opAdd        op = 'a'
	opDone       op = 'd'
	opEverything op = 'e'
	opCompared   op = 'c'
	opForget     op = 'f'
	opSealed     op = 's'
)

// hasText reports whether a length and bytes follow.
func (o op) hasText() bool { return o == opName || o == opAdd || o == opDone }

const (
	// magic is how a file begins. The last byte is the version of the format.
	magic = "azhints\x01"
	// header is the length of the payload, the sequence number, and the checksum: 4 bytes each.
	header = 12
	// fullFrame is the payload at which a frame gets no more operations.
	fullFrame = 1 << 20
	// maxPayload has room for a name and a key behind these.
	maxPayload = fullFrame + MaxNameBytes + MaxKeyBytes + 16
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// frames are operations on their way to the file. Each has room for its header.
type frames struct {
	list  [][]byte
	name  string // that the last operation in the last frame is about
	named bool
	bytes int64
}

func (f *frames) add(o op, name, key string) {
	if n := len(f.list); n == 0 || len(f.list[n-1]) >= header+fullFrame {
		f.list = append(f.list, make([]byte, header, 128))
		f.named = false
		f.bytes += header
	}
	last := &f.list[len(f.list)-1]
	before := len(*last)
	if o != opSealed && (!f.named || f.name != name) {
		*last = appendOp(*last, opName, name)
		f.name, f.named = name, true
	}
	*last = appendOp(*last, o, key)
	f.bytes += int64(len(*last) - before)
}

func appendOp(b []byte, o op, text string) []byte {
	b = append(b, byte(o))
	if o.hasText() {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// seal fills in the header.
func seal(b []byte, seq uint32) {
	le.PutUint32(b, uint32(len(b)-header)) //nolint:gosec // at most maxPayload
	le.PutUint32(b[4:], seq)
	le.PutUint32(b[8:], sum(b))
}

// sum is the checksum of a frame.
func sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:8], castagnoli), castagnoli, b[header:])
}

var errMalformed = errors.New("malformed operations")

// each calls do for each operation of a payload, which it reads with names in their place. The error is
// errMalformed, or that of do.
func each(payload []byte, do func(o op, name, key string) error) error {
	name, named := "", false
	for len(payload) > 0 {
		o, text := op(payload[0]), ""
		payload = payload[1:]
		if o.hasText() {
			n, k := binary.Uvarint(payload)
			if k <= 0 || n > uint64(len(payload)-k) {
				return errMalformed
			}
			text, payload = string(payload[k:k+int(n)]), payload[k+int(n):] //nolint:gosec // at most its length
		}
		switch o {
		case opName:
			if len(text) > MaxNameBytes {
				return errMalformed
			}
			name, named = text, true
			continue
		case opAdd, opDone:
			if !named || !valid(text) {
				return errMalformed
			}
		case opEverything, opCompared, opForget:
			if !named {
				return errMalformed
			}
		case opSealed:
		default:
			return errMalformed
		}
		if err := do(o, name, text); err != nil {
			return err
		}
	}
	return nil
}
