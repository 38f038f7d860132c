package bufferedsender

import (
	"errors"
	"io"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/publisher"
)

// body is a request body: the encoded actions between the pieces of the
// envelope, read where they lie. It is made anew for each request and never
// pooled, because an HTTP transport may go on reading a body after the reply
// has come.
type body struct {
	pieces [][]byte
	size   int64

	offset int64
	piece  int // the piece at offset
	inside int // how far into it
}

func newBody[V any](batch *publisher.Batch[V]) *body {
	pieces := make([][]byte, 0, 2*len(batch.Items)+1)
	separator := bodyOpen
	for i := range batch.Items {
		pieces = append(pieces, []byte(separator), batch.Items[i].Body)
		separator = bodyComma
	}
	pieces = append(pieces, []byte(bodyClose))
	return &body{pieces: pieces, size: int64(batch.Bytes)}
}

func (b *body) Read(p []byte) (n int, err error) {
	for n < len(p) && b.piece < len(b.pieces) {
		copied := copy(p[n:], b.pieces[b.piece][b.inside:])
		n += copied
		b.inside += copied
		if b.inside == len(b.pieces[b.piece]) {
			b.piece, b.inside = b.piece+1, 0
		}
	}
	b.offset += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (b *body) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += b.offset
	case io.SeekEnd:
		offset += b.size
	}
	if offset < 0 || offset > b.size {
		return 0, errors.New("bufferedsender: seek outside of the request body")
	}
	b.offset, b.piece, b.inside = offset, 0, 0
	for b.piece < len(b.pieces) && offset >= int64(len(b.pieces[b.piece])) {
		offset -= int64(len(b.pieces[b.piece]))
		b.piece++
	}
	b.inside = int(offset)
	return b.offset, nil
}

func (b *body) Close() error { return nil }
