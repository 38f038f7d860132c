// Package listing prints the results of azsearch queue, as text or JSON, and makes text from other sources safe to
// print.
package listing

import (
	"encoding/json"
	"io"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// Printer prints results.
type Printer interface {
	// Stats prints the state of a queue. survives describes which failures the queue survives, "" if unknown.
	Stats(name string, s *queue.Stats, survives string) error
	// Entry prints a key; as text its records only if bodies is true.
	Entry(e *queue.Entry, bodies bool) error
	// Done prints the result of a change: v as JSON, or sentence as text.
	Done(v any, sentence string) error
	// More prints a remark; nothing as JSON.
	More(sentence string) error
}

// New returns a Printer for lines of JSON, or for text.
func New(w io.Writer, asJSON bool) Printer {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return lines{enc}
	}
	return text{w, time.Now()}
}
