package bufferedsender

import (
	"errors"
	"io"
	"sync"
)

// body is a request body: the encoded actions between the pieces of the envelope, read without copying.
//
// An HTTP transport may continue to read a body after the reply has arrived, when the memory of the actions is already
// reused. So the body is retired first: retire waits for a running Read and makes later ones fail.
type body struct {
	size int64

	mu     sync.Mutex
	items  []item // guarded by mu, as are the following fields; nil once retired
	offset int64
	piece  int // the piece at offset; even pieces belong to the envelope
	inside int // offset within the piece
}

var (
	errRetired = errors.New("bufferedsender: the request body is read after the request has ended")
	errSeek    = errors.New("bufferedsender: seek outside of the request body")
)

func newBody(batch *batch) *body {
	return &body{items: batch.Items, size: int64(batch.Bytes)}
}

// retire ends access to the memory of the actions.
func (b *body) retire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = nil
}

// length returns the size of a piece in bytes.
func (b *body) length(piece int) int {
	switch {
	case piece%2 == 1:
		return len(b.items[piece/2].Body)
	case piece == 0:
		return len(bodyOpen)
	case piece == b.last():
		return len(bodyClose)
	}
	return len(bodyComma)
}

// last returns the index of the last piece.
func (b *body) last() int { return 2 * len(b.items) }

func (b *body) copyPiece(p []byte) int {
	switch {
	case b.piece%2 == 1:
		return copy(p, b.items[b.piece/2].Body[b.inside:])
	case b.piece == 0:
		return copy(p, bodyOpen[b.inside:])
	case b.piece == b.last():
		return copy(p, bodyClose[b.inside:])
	}
	return copy(p, bodyComma[b.inside:])
}

func (b *body) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.items == nil {
		return 0, errRetired
	}
	for n < len(p) && b.piece <= b.last() {
		copied := b.copyPiece(p[n:])
		n += copied
		b.inside += copied
		if b.inside == b.length(b.piece) {
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
	b.mu.Lock()
	defer b.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += b.offset
	case io.SeekEnd:
		offset += b.size
	}
	switch {
	case b.items == nil:
		return 0, errRetired
	case offset < 0 || offset > b.size:
		return 0, errSeek
	}
	b.offset, b.piece, b.inside = offset, 0, 0
	if offset == b.size {
		b.piece = b.last() + 1
		return b.offset, nil
	}
	for b.piece <= b.last() && offset >= int64(b.length(b.piece)) {
		offset -= int64(b.length(b.piece))
		b.piece++
	}
	b.inside = int(offset)
	return b.offset, nil
}

func (b *body) Close() error { return nil }
