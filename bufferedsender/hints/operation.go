package hints

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/go-azsearch/azsearch/internal/journal"
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
	magic  = "azhints\x01"
	header = journal.HeaderSize
	// fullFrame is the payload at which a frame gets no more operations.
	fullFrame = 1 << 20
	// maxPayload has room for a name and a key behind these.
	maxPayload = fullFrame + maxNameBytes + maxKeyBytes + 16
)

var format = journal.Format{Magic: magic, MaxPayload: maxPayload, WellFormed: func(payload []byte) bool {
	return each(payload, func(op, string, string) {}) == nil
}}

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

var errMalformed = errors.New("malformed operations")

// each calls do for each operation of a payload, with the name that the operation is about. The error is errMalformed.
func each(payload []byte, do func(o op, name, key string)) error {
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
		switch {
		case o == opName && len(text) <= maxNameBytes:
			name, named = text, true
			continue
		case o == opSealed:
		case named && (o == opAdd || o == opDone) && valid(text):
		case named && (o == opEverything || o == opCompared || o == opForget):
		default:
			return errMalformed
		}
		do(o, name, text)
	}
	return nil
}

// part is the content of one index in a snapshot.
type part struct {
	name string
	all  bool
	keys [][]string
}

// writeSnapshot writes what a file begins with.
func writeSnapshot(w io.Writer, parts []part) (size int64, seq uint32, err error) {
	if _, err := io.WriteString(w, magic); err != nil {
		return 0, 0, err
	}
	size = int64(len(magic))
	var f frames
	flush := func(keep int) {
		for len(f.list) > keep && err == nil {
			seq++
			journal.Seal(f.list[0], seq)
			_, err = w.Write(f.list[0])
			size += int64(len(f.list[0]))
			f.list = f.list[1:]
		}
	}
	for _, p := range parts {
		if p.all {
			f.add(opEverything, p.name, "")
		}
		for _, keys := range p.keys {
			for _, key := range keys {
				f.add(opAdd, p.name, key)
				if flush(1); err != nil {
					return 0, 0, err
				}
			}
		}
	}
	flush(0)
	f = frames{}
	f.add(opSealed, "", "")
	flush(0)
	return size, seq, err
}
