package server

import (
	"math"
	"sync"
)

// Counts are the counts of a server.
type Counts struct {
	// Requests counts the batches, and Refused those refused as a whole with 429, 503 or 413. Malformed batches count
	// in Requests only.
	Requests int64 `json:"requests"`
	Refused  int64 `json:"refused"`
	// Bytes is the total size of the bodies, refused ones included.
	Bytes int64 `json:"bytes"`
	// Documents counts applications of documents, and Distinct the applied documents with different keys.
	Documents int64 `json:"documents"`
	Distinct  int64 `json:"distinct"`
	// RefusedDocuments counts the documents that were refused within a reply.
	RefusedDocuments int64 `json:"refusedDocuments"`
}

// tally counts. It identifies documents by the number at the end of their key, with one bit each.
type tally struct {
	mu      sync.Mutex // guards the fields below
	counts  Counts
	turned  int // requests that turn has seen
	due     float64
	applied bitset
	refusal bitset // documents that were refused once
}

func (t *tally) snapshot() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

func (t *tally) malformed(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Requests++
	t.counts.Bytes += n
}

func (t *tally) refused(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuse(n)
}

// refuse counts a refused request. The caller holds the lock.
func (t *tally) refuse(n int64) {
	t.counts.Requests++
	t.counts.Refused++
	t.counts.Bytes += n
}

// turn reports whether to refuse a request. A rate refuses at even intervals, the same in every run.
func (t *tally) turn(n int64, c Config) bool {
	if c.RefuseFirst == 0 && c.RefuseRate == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turned++
	if t.turned > c.RefuseFirst {
		if t.due += c.RefuseRate; t.due < 1 {
			return false
		}
		t.due--
	}
	t.refuse(n)
	return true
}

// apply counts the items of a batch of n bytes, and sets the status of refused ones.
func (t *tally) apply(items []item, n int64, c Config) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Requests++
	t.counts.Bytes += n
	for i := range items {
		number := numberOf(items[i].key)
		if c.ItemRate > 0 && chosen(number, c.ItemRate) && t.refusal.add(number) {
			items[i].status = c.ItemStatus
			t.counts.RefusedDocuments++
			continue
		}
		t.counts.Documents++
		if t.applied.add(number) {
			t.counts.Distinct++
		}
	}
}

// numberOf returns the number at the end of a key, 0 without one.
func numberOf(key []byte) uint32 {
	from := len(key)
	for from > 0 && key[from-1] >= '0' && key[from-1] <= '9' && len(key)-from < 9 {
		from--
	}
	var n uint32
	for _, c := range key[from:] {
		n = n*10 + uint32(c-'0')
	}
	return n
}

// chosen reports whether a document belongs to the share, independently of client and order. Multiplying by an odd
// number near 2³² divided by the golden ratio spreads neighbours evenly (Knuth, The Art of Computer Programming 6.4).
func chosen(number uint32, share float64) bool {
	return float64(number*2654435769) < share*math.MaxUint32
}

// bitset is a growing set of numbers.
type bitset []uint64

// add adds n and reports whether it is new.
func (b *bitset) add(n uint32) bool {
	word, bit := int(n/64), uint64(1)<<(n%64)
	if word >= len(*b) {
		*b = append(*b, make([]uint64, word+1-len(*b)+len(*b)/2)...)
	}
	was := (*b)[word]&bit != 0
	(*b)[word] |= bit
	return !was
}
