package search

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxEventBytes bounds one event, in bytes. The last event holds the whole answer.
const maxEventBytes = 64 << 20

// errCutStream means that a stream ended before its last event.
var errCutStream = errors.New("the stream ended before its last event")

// eventReader reads server-sent events as defined by the HTML standard: lines end with CR, LF or both, a byte order
// mark may come first, comments and unknown fields are skipped, and an event that is not followed by an empty line is
// dropped.
type eventReader struct {
	lines *bufio.Reader
	begun bool // the first line has been read
	cr    bool // the last line ended with CR, so a following LF belongs to it
}

func newEventReader(body io.Reader) *eventReader { return &eventReader{lines: bufio.NewReader(body)} }

// next returns the next event: its name ("message" if it has none) and its data.
func (r *eventReader) next() (name, data string, err error) {
	var lines []string
	size := 0
	for {
		line, err := r.line(maxEventBytes - size)
		if err != nil {
			return "", "", err
		}
		size += len(line)
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && lines == nil:
			name = "" // an event without data is dropped
		case line == "":
			if name == "" {
				name = "message"
			}
			return name, strings.Join(lines, "\n"), nil
		case field == "event":
			name = value
		case field == "data":
			lines = append(lines, value)
		}
	}
}

// line returns the next line without its line end, of at most most bytes.
func (r *eventReader) line(most int) (string, error) {
	var line strings.Builder
	for {
		b, err := r.lines.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return "", errCutStream
		case err != nil:
			return "", fmt.Errorf("%w: %w", errCutStream, err)
		}
		after := r.cr
		r.cr = b == '\r'
		switch {
		case b == '\n' && after:
		case b == '\n' || b == '\r':
			text := line.String()
			if !r.begun {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			r.begun = true
			return text, nil
		case line.Len() >= most:
			return "", fmt.Errorf("an event is longer than %d bytes", maxEventBytes)
		default:
			line.WriteByte(b)
		}
	}
}
