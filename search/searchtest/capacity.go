package searchtest

import (
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/faults"
)

// Capacity is how fast the service takes documents: a token bucket that is
// filled at the given rates. It is charged for every document of a batch that
// was understood, before the document is applied.
type Capacity struct {
	// DocumentsPerSecond and BytesPerSecond are the rates; bytes are those of
	// the actions in the request. Default to no limit.
	DocumentsPerSecond float64 `json:"documentsPerSecond,omitempty"`
	BytesPerSecond     float64 `json:"bytesPerSecond,omitempty"`
	// Burst is how long the bucket fills before it is full, so how much can be
	// taken at once after a rest. Defaults to 1s.
	Burst Duration `json:"burst,omitempty"`
	// Status is how what is too much is refused: 0 refuses single documents with
	// a per-document 503, as a busy service does, and 503 or 429 the whole
	// request with that status, if not all of it can be taken.
	Status int `json:"status,omitempty"`
	// RetryAfter is sent with Status 503 and 429. Defaults to no such header.
	RetryAfter     Duration       `json:"retryAfter,omitempty"`
	RetryAfterForm RetryAfterForm `json:"retryAfterForm,omitempty"`
}

// parsed is the capacity as its room has it, nil if there is none.
func (c *Capacity) parsed() *faults.Capacity {
	if c == nil {
		return nil
	}
	return &faults.Capacity{
		DocumentsPerSecond: c.DocumentsPerSecond, BytesPerSecond: c.BytesPerSecond, Burst: time.Duration(c.Burst),
		Status: c.Status, RetryAfter: time.Duration(c.RetryAfter), RetryAfterForm: string(c.RetryAfterForm),
	}
}
