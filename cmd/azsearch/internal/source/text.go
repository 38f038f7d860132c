package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/csvtext"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
)

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// splitter finds the end of the first record of b. It returns the length of the record with its end, or 0 if it
// needs more bytes.
type splitter interface {
	Next(b []byte, final bool) int
}

// text reads whole records from a reader.
type text struct {
	r     io.Reader
	waits *pipe // what r reads, nil if r never waits long
	cut   splitter
	array bool // the text is an array, so it must end with a bracket

	buf        []byte // buf[from:to] is read and not returned yet
	from, to   int
	ended      error // the reader's last error, possibly io.EOF
	ends       []int // ends of the records that next returned
	open       int   // length of the last of these if only the end of the file ends it, which may grow; else 0
	last       byte  // last byte returned or discarded that is not white space
	tooLong    bool  // next returned the beginning of a record that is too long
	skipped    int64 // bytes skipped after that beginning
	mostRecord int   // 0: MaxRecord; set by tests
}

var errShort = errors.New("the file is shorter than the position to resume from")

var errArray = fmt.Errorf("the array does not end: %w", errCut)

// openCellError means that the quote of a cell is not closed within most bytes.
type openCellError struct {
	column, lines int // from 0; lines of the row before the cell
	most          int
}

func (e *openCellError) Error() string {
	return fmt.Sprintf("the quote that begins column %d is not closed within %d MiB; close it, or leave the cell out", e.column+1, e.most>>20)
}

// fill reads until n bytes are buffered or the reader ends. It also ends if the reader would wait and the buffered
// bytes are enough, which nil never is.
func (t *text) fill(n int, enough func(b []byte) bool) {
	if t.from > 0 && t.from+n > len(t.buf) {
		t.to = copy(t.buf, t.buf[t.from:t.to])
		t.from = 0
	}
	if n > len(t.buf) {
		t.buf = append(t.buf[:t.to], make([]byte, n-t.to)...)
	}
	empty := 0
	var until time.Time
	for t.to-t.from < n && t.ended == nil {
		if t.waits != nil && enough != nil && t.to > t.from {
			if until.IsZero() {
				until = time.Now().Add(pause)
			}
			if !t.waits.ready(until) && enough(t.buf[t.from:t.to]) {
				return
			}
		}
		read, err := t.r.Read(t.buf[t.to:])
		t.to += read
		t.ended = err
		if empty++; read > 0 {
			empty = 0
		} else if empty > 100 {
			t.ended = io.ErrNoProgress
		}
	}
}

// peek returns the first n bytes. It returns fewer if there are fewer, or if the reader would wait after the first
// line with text.
func (t *text) peek(n int) ([]byte, error) {
	t.fill(n, func(b []byte) bool {
		return bytes.IndexByte(bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n"), '\n') >= 0
	})
	if t.ended != nil && !errors.Is(t.ended, io.EOF) {
		return nil, t.ended
	}
	return t.buf[t.from:min(t.from+n, t.to)], nil
}

func (t *text) skip(n int) { t.from += n }

// discard skips n bytes.
func (t *text) discard(n int64) error {
	for n > 0 {
		t.fill(1, nil)
		if t.from == t.to {
			return errors.Join(errShort, t.ended)
		}
		step := int(min(n, int64(t.to-t.from)))
		t.passed(t.buf[t.from : t.from+step])
		t.from += step
		n -= int64(step)
	}
	return nil
}

// passed notes the last byte of text that was returned or discarded.
func (t *text) passed(b []byte) {
	if end := bytes.TrimRight(b, " \t\r\n"); len(end) > 0 {
		t.last = end[len(end)-1]
	}
}

// restart continues with a reader at another position.
func (t *text) restart(r io.Reader) { t.r, t.from, t.to, t.ended = r, 0, 0, nil }

// next appends whole records to data: one, or about a block of them; fewer if the reader would wait for more.
func (t *text) next(one bool, data []byte) ([]byte, error) {
	t.tooLong, t.skipped, t.open = false, 0, 0
	most := t.mostRecord
	if most == 0 {
		most = MaxRecord
	}
	for want := blockBytes; ; want = min(2*want, most) {
		t.fill(want, func(b []byte) bool { return t.cut.Next(b, false) > 0 })
		b := t.buf[t.from:t.to]
		n := t.records(b, one)
		switch {
		case n > 0:
		case t.ended != nil && !errors.Is(t.ended, io.EOF):
			return data, t.ended // do not return a partial record
		case len(b) == 0 && t.array && t.last != ']':
			return data, errArray
		case len(b) == 0:
			return data, io.EOF
		case len(b) < most:
			continue
		default: // perhaps a quote is never closed
			if n = t.cut.Next(b, true); n >= most {
				if _, values := t.cut.(jsontext.Values); values { // the rest may have lines that look like documents
					return data, fmt.Errorf("the value has more than %d MiB, and what follows it cannot be read; convert the file to JSON Lines", most>>20)
				}
				return t.overlong(data, b)
			}
			if format, rows := t.cut.(csvtext.Format); rows && len(b) >= most { // the rest may have lines that look like rows
				column, at := format.Open(b)
				return data, &openCellError{column: column, lines: bytes.Count(b[:at], []byte("\n")), most: most}
			}
			t.ends = append(t.ends, n)
		}
		t.passed(b[:n])
		t.from += n
		return append(data, b[:n]...), nil
	}
}

// records returns the total length of the whole records in b that fit in a block.
func (t *text) records(b []byte, one bool) int {
	final := errors.Is(t.ended, io.EOF)
	if one {
		return t.cut.Next(b, final)
	}
	total := 0
	for total < min(len(b), blockBytes) {
		n := t.cut.Next(b[total:], false)
		if n == 0 && final {
			n = t.cut.Next(b[total:], true)
			t.open = n
		}
		if n == 0 {
			break
		}
		total += n
		t.ends = append(t.ends, total)
	}
	return total
}

// overlong returns the beginning of a record that is too long, and skips the rest of its line.
func (t *text) overlong(data, b []byte) ([]byte, error) {
	const shown = 1 << 10
	t.tooLong = true
	data = append(data, bytes.ReplaceAll(b[:shown], []byte("\n"), []byte(" "))...)
	t.from += shown
	for {
		t.fill(1, nil)
		b := t.buf[t.from:t.to]
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
		}
		t.from += n
		t.skipped += int64(n)
		if len(b) == 0 {
			t.open = len(data)
		}
		if len(b) == 0 || b[n-1] == '\n' {
			if t.ended != nil && !errors.Is(t.ended, io.EOF) {
				return data, t.ended
			}
			return data, nil
		}
	}
}
