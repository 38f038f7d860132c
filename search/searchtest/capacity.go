package searchtest

import (
	"errors"
	"net/http"
	"sync"
	"time"
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
	// Reply is how what is too much is refused: 0 refuses single documents with
	// a per-document 503, as a busy service does, and 503 or 429 the whole
	// request with that status, if not all of it can be taken.
	Reply int `json:"reply,omitempty"`
	// RetryAfter is sent with Reply 503 and 429. Defaults to no such header.
	RetryAfter     Duration       `json:"retryAfter,omitempty"`
	RetryAfterForm RetryAfterForm `json:"retryAfterForm,omitempty"`
}

func (c *Capacity) validate() error {
	switch {
	case c.Reply != 0 && c.Reply != http.StatusServiceUnavailable && c.Reply != http.StatusTooManyRequests:
		return errors.New("reply must be 0, 429 or 503")
	case c.DocumentsPerSecond < 0 || c.BytesPerSecond < 0 || c.Burst < 0 || c.RetryAfter < 0:
		return errors.New("numbers and durations must not be negative")
	}
	return nil
}

// bucket is a Capacity in use. A nil one has no limit.
type bucket struct {
	Capacity

	mu        sync.Mutex // guards the fields below
	filled    time.Time  // when the levels were right
	documents float64
	bytes     float64
}

// newBucket returns a full bucket.
func newBucket(c *Capacity) *bucket {
	if c == nil || c.DocumentsPerSecond <= 0 && c.BytesPerSecond <= 0 {
		return nil
	}
	b := &bucket{Capacity: *c}
	if b.Burst <= 0 {
		b.Burst = Duration(time.Second)
	}
	b.documents, b.bytes = b.full()
	return b
}

// full is what the bucket holds at most.
func (b *bucket) full() (documents, bytes float64) {
	burst := time.Duration(b.Burst).Seconds()
	return b.DocumentsPerSecond * burst, b.BytesPerSecond * burst
}

// fill brings the levels to now.
func (b *bucket) fill(now time.Time) {
	documents, bytes := b.full()
	if !b.filled.IsZero() {
		passed := now.Sub(b.filled).Seconds()
		b.documents = min(documents, b.documents+passed*b.DocumentsPerSecond)
		b.bytes = min(bytes, b.bytes+passed*b.BytesPerSecond)
	}
	b.filled = now
}

// take charges the bucket for as many of the actions as fit, from the first on,
// and returns how many those are. all takes every action or none. What is
// larger than a full bucket is let through when the bucket is full, and leaves
// it in debt: otherwise it could never be sent at all.
func (b *bucket) take(actions []action, all bool, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	fullDocuments, fullBytes := b.full()
	fits := func(documents, bytes float64) bool {
		return (b.DocumentsPerSecond <= 0 || b.documents >= min(documents, fullDocuments)) &&
			(b.BytesPerSecond <= 0 || b.bytes >= min(bytes, fullBytes))
	}
	if all {
		bytes := 0.0
		for i := range actions {
			bytes += float64(actions[i].size)
		}
		if !fits(float64(len(actions)), bytes) {
			return 0
		}
		b.documents -= float64(len(actions))
		b.bytes -= bytes
		return len(actions)
	}
	for i := range actions {
		if !fits(1, float64(actions[i].size)) {
			return i
		}
		b.documents--
		b.bytes -= float64(actions[i].size)
	}
	return len(actions)
}

// refusals decides which actions of a batch are not applied, because of a fault
// or because the service is too busy: refused[i] is the answer of action i then
// and zero otherwise. The slice is nil if there are none. err refuses the whole
// request.
func (s *Server) refusals(x *exchange, actions []action) (refused []result, err *serviceError) {
	refuse := func(i int, r result) {
		if refused == nil {
			refused = make([]result, len(actions))
		}
		refused[i] = r
	}
	if b := s.currentCapacity(); b != nil {
		n := b.take(actions, b.Reply != 0, time.Now())
		if n < len(actions) && b.Reply != 0 {
			setRetryAfter(x.header, time.Duration(b.RetryAfter), b.RetryAfterForm)
			return nil, &serviceError{status: b.Reply, message: faultMessage(b.Reply)}
		}
		for ; n < len(actions); n++ {
			refuse(n, result{status: http.StatusServiceUnavailable, message: messageBusy})
		}
	}
	if x.fault != nil && len(x.fault.Documents) > 0 {
		for i := range actions {
			if r, ok := x.fault.refuse(actions[i].key); ok {
				refuse(i, r)
			}
		}
	}
	return refused, nil
}

// currentCapacity is the bucket in force: that of the faults script if it has
// one, otherwise that of the options.
func (s *Server) currentCapacity() *bucket {
	if st := s.faults.Load(); st != nil && st.capacity != nil {
		return st.capacity
	}
	return s.capacity
}
