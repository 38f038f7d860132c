package deadletter

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// maxLine bounds a line, with its line feed, in bytes. Write refuses larger dead letters. A longer line is therefore
// damaged, and is not read into memory.
const maxLine = 128 << 20

// line is a line of a file. raw has no line feed, and is valid until the next line is read.
type line struct {
	raw    []byte
	number int   // from 1
	end    int64 // offset of the next line
	ended  bool  // by a line feed; only the last line of a file may lack it
	long   bool  // longer than the limit: raw is a part of it
}

// linesOf returns the lines of r, including empty ones. It stops after an error of r, without the line in which the
// error occurred.
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
