package deadletter

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// maxLine is how long a line may be, its line feed included. Write refuses
// larger letters, so that whatever is longer is damage, which must not be read
// into memory.
const maxLine = 128 << 20

// line is a line of a file. raw, without the line feed, is valid until the next
// one is read.
type line struct {
	raw    []byte
	number int   // from 1
	end    int64 // where the next one begins
	ended  bool  // with a line feed; only the last line of a file may lack it
	long   bool  // longer than the limit: raw is a part of it
}

// linesOf returns the lines of r, the empty ones too. An error of r ends them;
// what was read of the line in which it happened is lost.
func linesOf(r io.Reader, limit int) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		l := line{number: 1}
		for {
			part, err := br.ReadSlice('\n')
			l.end += int64(len(part))
			l.ended = err == nil
			if len(l.raw)+len(part) > limit {
				l.long = true
			} else {
				l.raw = append(l.raw, part...)
			}
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				continue
			case errors.Is(err, io.EOF):
				if len(l.raw) > 0 || l.long {
					yield(l, nil)
				}
				return
			case err != nil:
				yield(line{number: l.number}, err)
				return
			}
			l.raw = bytes.TrimSuffix(l.raw, []byte("\n"))
			if !yield(l, nil) {
				return
			}
			l.number++
			l.raw, l.long = l.raw[:0], false
		}
	}
}
