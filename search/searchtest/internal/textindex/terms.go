package textindex

import (
	"slices"
	"strings"
	"sync"
)

// dictionary has the terms of one field and their postings.
type dictionary struct {
	byTerm map[string]uint32 // number by term
	terms  []string          // by number
	lists  []postings        // by number

	// order has the numbers sorted by term, for patterns and ranges of terms. The first reader that needs it updates
	// it. The lock is for concurrent readers; writers have exclusive access.
	ordering sync.Mutex
	order    []uint32
}

func newDictionary() *dictionary {
	return &dictionary{byTerm: make(map[string]uint32)}
}

// number returns the number of term, and adds the term if it is new.
func (d *dictionary) number(term string) uint32 {
	n, ok := d.byTerm[term]
	if !ok {
		term = strings.Clone(term) // otherwise it could keep a document in memory
		n = uint32(len(d.terms))
		d.byTerm[term] = n
		d.terms = append(d.terms, term)
		d.lists = append(d.lists, postings{})
	}
	return n
}

// find returns the postings of term, nil if there are none.
func (d *dictionary) find(term string) *postings {
	if n, ok := d.byTerm[term]; ok {
		return &d.lists[n]
	}
	return nil
}

// sorted returns the numbers of all terms, ordered by term.
func (d *dictionary) sorted() []uint32 {
	d.ordering.Lock()
	defer d.ordering.Unlock()
	if old := len(d.order); old < len(d.terms) {
		byTerm := func(a, b uint32) int { return strings.Compare(d.terms[a], d.terms[b]) }
		added := make([]uint32, 0, len(d.terms)-old)
		for n := old; n < len(d.terms); n++ {
			added = append(added, uint32(n))
		}
		slices.SortFunc(added, byTerm)
		d.order = mergeSorted(d.order, added, byTerm)
	}
	return d.order
}

// withPrefix returns the numbers of the terms that begin with prefix, ordered by term.
func (d *dictionary) withPrefix(prefix string) []uint32 {
	order := d.sorted()
	from, _ := slices.BinarySearchFunc(order, prefix, func(n uint32, prefix string) int {
		return strings.Compare(d.terms[n], prefix)
	})
	to := from
	if prefix == "" {
		return order
	}
	// A binary search also for the end: a tenth of all terms can begin with one character.
	step, _ := slices.BinarySearchFunc(order[from:], prefix, func(n uint32, prefix string) int {
		if strings.HasPrefix(d.terms[n], prefix) {
			return -1
		}
		return 1
	})
	to += step
	return order[from:to]
}

// mergeSorted returns a new slice, because readers may still use the old order.
func mergeSorted(a, b []uint32, compare func(a, b uint32) int) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
