package stage

import (
	"io"
	"strings"
	"unicode"
)

// Harmful says whether a character can do something to a terminal: command it, as
// control characters do, or hide and reorder what it shows, as format characters
// do.
func Harmful(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }

// Text returns text from elsewhere without what is harmful to a terminal. Lines and tabs stay.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if Harmful(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// Line returns the Text on one line.
func Line(text string) string { return Text(strings.Join(strings.Fields(text), " ")) }

// Writer returns a writer that hands the Text of each Write on to w.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
