// Package terminal determines whether a stream can show colours and redrawn lines.
package terminal

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Terminal is a stream with its capabilities.
type Terminal struct {
	io.Writer
	Live   bool // lines can be redrawn
	Colour bool
}

// Of returns the capabilities of a stream. Only a terminal has any. A non-empty NO_COLOR disables colours
// (https://no-color.org), TERM=dumb disables both.
func Of(w io.Writer) Terminal {
	f, ok := w.(*os.File)
	live := ok && isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
	return Terminal{Writer: w, Live: live, Colour: live && os.Getenv("NO_COLOR") == ""}
}

// Redrawn returns the escape sequence that replaces the current line by line, cut at the terminal's width, because a
// wrapped line could not be redrawn.
func Redrawn(line string) string { return "\r\x1b[K\x1b[?7l" + line + "\x1b[?7h" }

// Erased erases the current line, so that the next output starts at its beginning.
const Erased = "\r\x1b[K"

// Red returns s in red if the terminal has colours.
func (t Terminal) Red(s string) string { return t.paint(31, s) }

// Green returns s in green if the terminal has colours.
func (t Terminal) Green(s string) string { return t.paint(32, s) }

// Yellow returns s in yellow if the terminal has colours.
func (t Terminal) Yellow(s string) string { return t.paint(33, s) }

func (t Terminal) paint(colour int, s string) string {
	if !t.Colour || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, s)
}
