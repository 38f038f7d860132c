package searchtest

import (
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/faults"
)

// Capacity is a limit on the rate at which documents are accepted: a token bucket that fills
// at the given rates. Every document of a readable batch is charged before it is applied.
type Capacity struct {
	// DocumentsPerSecond and BytesPerSecond are the rates. Bytes are those of the actions in
	// the request. Default to no limit.
	DocumentsPerSecond float64 `json:"documentsPerSecond,omitempty"`
	BytesPerSecond     float64 `json:"bytesPerSecond,omitempty"`
	// Burst is the time in which an empty bucket becomes full. A full bucket holds Burst times
	// the rate. Defaults to 1s.
	Burst Duration `json:"burst,omitempty"`
	// Status is the answer to documents beyond the capacity: 0 refuses each of them with a
	// per-document 503, as a busy service does. 503 or 429 refuses the whole request with that
	// status if not all of its documents fit.
	Status int `json:"status,omitempty"`
	// RetryAfter is sent with Status 503 and 429. Defaults to no header.
	RetryAfter     Duration       `json:"retryAfter,omitempty"`
	RetryAfterForm RetryAfterForm `json:"retryAfterForm,omitempty"`
}

// parsed converts c, which may be nil.
func (c *Capacity) parsed() *faults.Capacity {
	if c == nil {
		return nil
	}
	return &faults.Capacity{
		DocumentsPerSecond: c.DocumentsPerSecond, BytesPerSecond: c.BytesPerSecond, Burst: time.Duration(c.Burst),
		Status: c.Status, RetryAfter: time.Duration(c.RetryAfter), RetryAfterForm: string(c.RetryAfterForm),
	}
}
