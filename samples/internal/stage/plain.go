package stage

import (
	"io"
	"strings"
	"sync"
	"unicode"
)

// Text removes control characters, which a terminal would execute, and format characters, which hide or reorder text.
// Line breaks and tabs stay.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// Line returns the Text on one line.
func Line(text string) string { return Text(strings.Join(strings.Fields(text), " ")) }

// writer passes the Text of each Write to w and keeps the first error.
type writer struct {
	w io.Writer

	mu  sync.Mutex // guards w and err
	err error
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = io.WriteString(w.w, Text(string(p)))
	}
	return len(p), w.err
}
