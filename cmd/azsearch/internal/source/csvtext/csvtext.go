// Package csvtext reads CSV and similar files: it detects the separator, and finds the ends of rows and cells.
//
// A cell that begins with a quote ends at the next quote that is not doubled; separators and line ends inside are
// text. A quote elsewhere in a cell is text. A quote that is never closed is an error of its line only; the
// following lines are read as usual, unless more than a record may have follows.
package csvtext

import (
	"bytes"
	"errors"
	"fmt"
)

// Format has the separator and the quote of a file.
type Format struct {
	Comma byte `json:"comma"` // comma, semicolon, tab or bar
	Quote byte `json:"quote"`
}

// Detect returns the format of a file that begins with head. The separator is the candidate that is most frequent
// outside quotes in the first line, or a comma. The quote is ' if the line begins with one, else ".
func Detect(head []byte) Format {
	f := Format{Comma: ',', Quote: '"'}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if len(line) > 0 && line[0] == '\'' {
		f.Quote = '\''
	}
	most, quoted := 0, false
	var counts [256]int
	for _, c := range line {
		if c == f.Quote {
			quoted = !quoted
		} else if !quoted {
			counts[c]++
		}
	}
	for _, c := range []byte(",;\t|") {
		if counts[c] > most {
			f.Comma, most = c, counts[c]
		}
	}
	return f
}

// Open returns the column of the first cell of a row whose quote is not closed in b, from 0, and the offset of that
// quote.
func (f Format) Open(b []byte) (column, at int) {
	for i := 0; i < len(b); i++ {
		if b[i] == f.Quote {
			end, closed := f.closing(b, i+1)
			if !closed {
				return column, i
			}
			i = end
		}
		for i < len(b) && b[i] != f.Comma {
			i++
		}
		column++
	}
	return column, len(b)
}

// Next returns the length of the first row of b with its line end, or 0 if it needs more bytes. final means that no
// more bytes follow.
func (f Format) Next(b []byte, final bool) int {
	line := bytes.IndexByte(b, '\n') + 1
	if line == 0 {
		if !final {
			return 0
		}
		line = len(b)
	}
	if bytes.IndexByte(b[:line], f.Quote) < 0 {
		return line
	}
	for i := 0; ; {
		if i < len(b) && b[i] == f.Quote {
			end, closed := f.closing(b, i+1)
			if !closed && final {
				return line // the open quote affects this line only
			}
			if !closed {
				return 0
			}
			i = end
		}
		for i < len(b) && b[i] != f.Comma && b[i] != '\n' {
			i++
		}
		switch {
		case i < len(b) && b[i] == '\n':
			return i + 1
		case i < len(b):
			i++
		case final:
			return i
		default:
			return 0
		}
	}
}

// closing returns the position after the quote that closes the cell with text at i. If b ends at that quote, a
// doubled quote could follow.
func (f Format) closing(b []byte, i int) (end int, closed bool) {
	for {
		n := bytes.IndexByte(b[i:], f.Quote)
		if n < 0 {
			return len(b), false
		}
		i += n + 1
		if i == len(b) || b[i] != f.Quote {
			return i, true
		}
		i++
	}
}

// Cell is a cell of a row.
type Cell struct {
	Text   []byte
	Quoted bool
	At     int // offset of its first byte in the row
}

// Repeats reports whether a row equals the header.
func Repeats(cells []Cell, header []string) bool {
	if len(cells) != len(header) {
		return false
	}
	for i, c := range cells {
		if string(bytes.TrimSpace(c.Text)) != header[i] {
			return false
		}
	}
	return true
}

var errOpen = errors.New("quote is not closed; double quotes inside a cell, and close it")

// Cells appends the cells of a row; the row may include its line end. The texts alias row, or scratch if quotes were
// doubled. It returns both slices for reuse.
func (f Format) Cells(cells []Cell, scratch, row []byte) ([]Cell, []byte, error) {
	row = bytes.TrimSuffix(row, []byte("\n"))
	row = bytes.TrimSuffix(row, []byte("\r"))
	for i := 0; ; i++ {
		if i >= len(row) || row[i] != f.Quote {
			n := bytes.IndexByte(row[i:], f.Comma)
			if n < 0 {
				return append(cells, Cell{Text: row[i:], At: i}), scratch, nil
			}
			cells = append(cells, Cell{Text: row[i : i+n], At: i})
			i += n
			continue
		}
		end, closed := f.closing(row, i+1)
		if !closed {
			return cells, scratch, fmt.Errorf("cell %d: %w", len(cells)+1, errOpen)
		}
		text := row[i+1 : end-1]
		if bytes.IndexByte(text, f.Quote) >= 0 {
			from := len(scratch)
			for len(text) > 0 {
				n := bytes.IndexByte(text, f.Quote)
				if n < 0 {
					n = len(text) - 1
				}
				scratch = append(scratch, text[:n+1]...)
				text = text[min(n+2, len(text)):]
			}
			text = scratch[from:len(scratch):len(scratch)]
		}
		cells = append(cells, Cell{Text: text, Quoted: true, At: i})
		if end == len(row) {
			return cells, scratch, nil
		}
		if row[end] != f.Comma {
			return cells, scratch, fmt.Errorf("cell %d: text after the closing quote; double quotes inside a cell", len(cells))
		}
		i = end
	}
}
