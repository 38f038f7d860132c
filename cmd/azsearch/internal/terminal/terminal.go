// Package terminal is for commands that show more to a person than to a file: it says where colours and lines that
// are redrawn belong.
package terminal

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Terminal is a stream, and what it can show.
type Terminal struct {
	io.Writer
	Live   bool // lines can be redrawn
	Colour bool
}

// Of returns what a stream can show: nothing but lines unless it is a terminal. NO_COLOR, with any value, turns
// colours off (https://no-color.org), and TERM=dumb both.
func Of(w io.Writer) Terminal {
	f, ok := w.(*os.File)
	live := ok && isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
	return Terminal{Writer: w, Live: live, Colour: live && os.Getenv("NO_COLOR") == ""}
}

// Redrawn returns what shows a line in place of the one before, cut off where the terminal ends: a line that is wrapped
// cannot be redrawn.
func Redrawn(line string) string { return "\r\x1b[K\x1b[?7l" + line + "\x1b[?7h" }

// Erased is Redrawn for no line: what is printed next stands alone.
const Erased = "\r\x1b[K"

// Red returns s in red, or as it is.
func (t Terminal) Red(s string) string { return t.paint(31, s) }

// Green returns s in green, or as it is.
func (t Terminal) Green(s string) string { return t.paint(32, s) }

// Yellow returns s in yellow, or as it is.
func (t Terminal) Yellow(s string) string { return t.paint(33, s) }

func (t Terminal) paint(colour int, s string) string {
	if !t.Colour || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, s)
}
