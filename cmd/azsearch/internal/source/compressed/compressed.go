// Package compressed reads plain and compressed files alike. It detects gzip and zstd by the first bytes.
package compressed

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// NewReader returns a reader of the decompressed contents of r, and whether r is compressed. It accepts zstd windows
// up to 128 MiB.
func NewReader(r io.Reader) (_ io.ReadCloser, packed bool, err error) {
	b := bufio.NewReaderSize(r, 256<<10)
	head, err := b.Peek(1) // text may be shorter than a magic number, and r not ended
	if err == nil && (head[0] == gzipMagic[0] || head[0] == zstdMagic[0]) {
		head, err = b.Peek(len(zstdMagic))
	}
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(b)
		return z, true, err
	case bytes.Equal(head, zstdMagic):
		z, err := zstd.NewReader(b, zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, true, err
		}
		return z.IOReadCloser(), true, nil
	}
	return io.NopCloser(b), false, nil
}
