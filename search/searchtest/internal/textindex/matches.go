package textindex

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
)

// Matches is the result of a query. It is valid until the next write to the index; until then it is safe for
// concurrent use.
type Matches struct {
	index *Index
	hits  *hits
}

// Hit is a matching document.
type Hit struct {
	ID    uint32
	Score float32
}

// Len returns the number of documents.
func (m *Matches) Len() int { return m.hits.set.len() }

// Score returns the score of a document, false if it does not match.
func (m *Matches) Score(id uint32) (float32, bool) {
	at, ok := m.index.ordinal(id)
	if !ok || !m.hits.set.has(at) {
		return 0, false
	}
	return float32(m.hits.scores[at]), true
}

// All yields ids and scores, ordered by id.
func (m *Matches) All() iter.Seq2[uint32, float32] {
	return func(yield func(uint32, float32) bool) {
		for i, id := range m.index.ids {
			if m.hits.set.has(uint32(i)) && !yield(id, float32(m.hits.scores[i])) {
				return
			}
		}
	}
}

// IDs returns the documents without their scores.
func (m *Matches) IDs() *IDs {
	ids := new(IDs)
	m.hits.set.each(func(i uint32) { ids.Add(m.index.ids[i]) })
	return ids
}

// Top returns the k best documents, best first; of equal scores the smaller id comes first.
func (m *Matches) Top(k int) []Hit {
	h := make(worstFirst, 0, min(k, m.Len()))
	if k <= 0 {
		return h
	}
	// Ids grow, so a later document never displaces one with the same score.
	m.hits.set.each(func(i uint32) {
		score := float32(m.hits.scores[i])
		switch {
		case len(h) < k:
			heap.Push(&h, Hit{m.index.ids[i], score})
		case score > h[0].Score:
			h[0] = Hit{m.index.ids[i], score}
			heap.Fix(&h, 0)
		}
	})
	slices.SortFunc(h, compareHits)
	return h
}

// compareHits orders the better hit first.
func compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// worstFirst is a heap with the worst hit on top.
type worstFirst []Hit

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return compareHits(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(v any)        { *h = append(*h, v.(Hit)) }

func (h *worstFirst) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}
