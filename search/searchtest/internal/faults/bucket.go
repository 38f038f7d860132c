package faults

import (
	"net/http"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// Bucket is a token bucket with the capacity in force. The zero value has no limit.
type Bucket struct {
	mu       sync.Mutex // guards the fields below
	capacity Capacity
	// The tokens left at the time filled. A level is negative after a request larger than
	// the bucket, until it is filled again; without a rate it has no meaning.
	documents, bytes float64
	filled           time.Time
}

// Set puts a capacity in force, nil for no limit. Tokens left and debts are carried over, up
// to the size of the new bucket, so a change neither refills a bucket nor cancels a debt. A
// level that had no limit before starts full.
func (b *Bucket) Set(c *Capacity, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	before := b.capacity
	b.capacity = Capacity{}
	if c != nil {
		b.capacity = *c
	}
	if b.capacity.Burst <= 0 {
		b.capacity.Burst = time.Second
	}
	documents, bytes := b.full()
	if before.DocumentsPerSecond > 0 {
		documents = min(documents, b.documents)
	}
	if before.BytesPerSecond > 0 {
		bytes = min(bytes, b.bytes)
	}
	b.documents, b.bytes = documents, bytes
}

// full returns the size of the bucket. b.mu must be held.
func (b *Bucket) full() (documents, bytes float64) {
	burst := b.capacity.Burst.Seconds()
	return b.capacity.DocumentsPerSecond * burst, b.capacity.BytesPerSecond * burst
}

// fill adds the tokens until now. b.mu must be held.
func (b *Bucket) fill(now time.Time) {
	// A server made outside of a synctest bubble and used inside it sees the clock jump
	// back to the year 2000.
	passed := max(0, now.Sub(b.filled).Seconds())
	documents, bytes := b.full()
	b.documents = min(documents, b.documents+passed*b.capacity.DocumentsPerSecond)
	b.bytes = min(bytes, b.bytes+passed*b.capacity.BytesPerSecond)
	b.filled = now
}

// take charges the bucket for the first actions that fit, and returns their number and the
// capacity. A capacity with a Status accepts all actions or none. A full bucket accepts an
// action or request larger than itself and goes into debt, because it could otherwise never
// be sent.
func (b *Bucket) take(actions []batch.Action, now time.Time) (int, Capacity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.capacity
	if c.DocumentsPerSecond <= 0 && c.BytesPerSecond <= 0 {
		return len(actions), c
	}
	b.fill(now)
	fullDocuments, fullBytes := b.full()
	fits := func(documents, bytes float64) bool {
		return (c.DocumentsPerSecond <= 0 || b.documents >= min(documents, fullDocuments)) &&
			(c.BytesPerSecond <= 0 || b.bytes >= min(bytes, fullBytes))
	}
	if c.Status != 0 {
		bytes := 0.0
		for i := range actions {
			bytes += float64(actions[i].Size)
		}
		if !fits(float64(len(actions)), bytes) {
			return 0, c
		}
		b.documents -= float64(len(actions))
		b.bytes -= bytes
		return len(actions), c
	}
	for i := range actions {
		if !fits(1, float64(actions[i].Size)) {
			return i, c
		}
		b.documents--
		b.bytes -= float64(actions[i].Size)
	}
	return len(actions), c
}

// Refusals decides which actions of a batch are refused by a fault or by the capacity.
// refused[i] is then the answer to action i and otherwise zero; the slice is nil if no action
// is refused. err refuses the whole request, with headers set in h.
func (b *Bucket) Refusals(f *Firing, h http.Header, actions []batch.Action) (refused []batch.Result, err *reply.Error) {
	refuse := func(i int, r batch.Result) {
		if refused == nil {
			refused = make([]batch.Result, len(actions))
		}
		refused[i] = r
	}
	n, c := b.take(actions, time.Now())
	if n < len(actions) && c.Status != 0 {
		setRetryAfter(h, c.RetryAfter, c.RetryAfterForm)
		return nil, &reply.Error{Status: c.Status, Message: faultMessage(c.Status)}
	}
	for ; n < len(actions); n++ {
		refuse(n, batch.Result{Status: http.StatusServiceUnavailable, Message: batch.DocumentMessage(http.StatusServiceUnavailable)})
	}
	if f != nil && len(f.Documents) > 0 {
		for i := range actions {
			if r, ok := f.refuse(actions[i].Key); ok {
				refuse(i, r)
			}
		}
	}
	return refused, nil
}
