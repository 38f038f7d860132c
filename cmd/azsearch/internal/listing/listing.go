// Package listing is for the commands of azsearch queue, and for all that print what others wrote: it prints for people
// or for machines.
package listing

import (
	"encoding/json"
	"io"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Printer prints results.
type Printer interface {
	// Stats prints the state of a queue, and in words what it survives, if that is known.
	Stats(name string, s *queue.Stats, survives string) error
	// Entry prints a key, and what its records are if bodies is set.
	Entry(e *queue.Entry, bodies bool) error
	// Done prints the result of a change: as a value, or as a sentence.
	Done(v any, sentence string) error
	// More prints a remark to people only.
	More(sentence string) error
}

// New returns a Printer: a line of JSON for each result, or text.
func New(w io.Writer, asJSON bool) Printer {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return lines{enc}
	}
	return text{w, time.Now()}
}
