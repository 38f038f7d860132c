package stage

import (
	"io"
	"strings"
	"sync"
	"unicode"
)

// Text returns text from elsewhere without characters that a terminal obeys (control characters) or that hide and
// reorder what it shows (format characters). Lines and tabs stay.
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

// writer passes the Text of each Write to w, and remembers the first error.
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
