package textindex

import (
	"math"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// valueGap is how far apart the values of a collection are in positions, so that
// no phrase runs from one into the next.
const valueGap = 100

// none is the ordinal of no document.
const none = math.MaxUint32

// compactFrom is the number of deleted documents below which compaction does
// not pay.
const compactFrom = 64

// Field is a searchable field.
type Field struct {
	// Path is the name, with / before the name of a sub-field.
	Path string
	// Index and Search turn texts and queries into terms.
	Index, Search analysis.Analyzer
	// Synonyms widen queries. Nil means none.
	Synonyms *Synonyms
}

// Config describes an index.
type Config struct {
	Fields []Field
	// Similarity makes scores. Defaults to BM25 with k1 1.2 and b 0.75.
	Similarity Similarity
}

// Document is what an index keeps of a document.
type Document struct {
	// Values has the texts of each field, in the order of Config.Fields.
	Values [][]string
	// Nested is the number of objects in collections of complex types. The
	// service keeps each as a document of its own, which is why they count in
	// scores where Options.Nested says so.
	Nested int
}

// Index is an inverted index of the searchable fields of documents. Any number of
// readers may use it at the same time; Put, Delete and SetFields must be alone.
// It starts no goroutines.
type Index struct {
	fields     []*field
	byPath     map[string]*field
	similarity Similarity

	// Documents are numbered from 0 in the order of their ids; the numbers, called
	// ordinals, are what everything inside counts in.
	ids    []uint32
	nested []uint32
	dead   bitset // nil while nothing is deleted
	gone   int    // members of dead
	rows   int    // documents that live, with what is nested in them

	touched []uint32 // terms of the document that is being added
}

// field is what an index has of a Field.
type field struct {
	Field
	*dictionary
	norms  []byte   // rounded length by ordinal; shorter than ids where the last documents have no text
	counts []uint32 // tokens by ordinal
	total  int      // tokens of all documents that live
	rules  synonymRules
	stream *stream // nil unless the words are needed in their order
}

// New returns an empty index.
func New(c Config) *Index {
	x := &Index{similarity: c.Similarity, byPath: make(map[string]*field)}
	if x.similarity == nil {
		x.similarity = BM25(1.2, 0.75)
	}
	x.SetFields(c.Fields)
	return x
}

// SetFields changes what may change without building the index anew: how
// queries are analyzed, synonyms, and new fields behind those there are. The
// paths of those must be what they were, in the same order.
func (x *Index) SetFields(fields []Field) {
	for i, f := range fields {
		if i == len(x.fields) {
			added := &field{dictionary: newDictionary()}
			x.fields = append(x.fields, added)
			x.byPath[f.Path] = added
		}
		x.fields[i].Field = f
		x.fields[i].rules = f.Synonyms.rules(f.Search)
	}
}

// Put adds a document. Its id must be greater than that of every document
// before; a document that replaces another gets a new id, and the other is
// deleted.
func (x *Index) Put(id uint32, d Document) {
	if n := len(x.ids); n > 0 && x.ids[n-1] >= id {
		panic("textindex: ids must grow")
	}
	ordinal := uint32(len(x.ids))
	x.ids = append(x.ids, id)
	x.nested = append(x.nested, uint32(d.Nested))
	x.rows += 1 + d.Nested
	if x.dead != nil && int(ordinal>>6) == len(x.dead) {
		x.dead = append(x.dead, 0)
	}
	for i, values := range d.Values {
		x.add(x.fields[i], ordinal, values)
	}
}

func (x *Index) add(f *field, ordinal uint32, values []string) {
	base, count, overlaps := 0, uint32(0), uint32(0)
	for i, value := range values {
		if i > 0 && f.stream != nil {
			f.stream.add(none)
		}
		last := -1
		for _, t := range f.Index.Analyze(value) {
			if t.Position == last {
				overlaps++
			}
			last = t.Position
			count++
			n := f.number(t.Text)
			list := &f.lists[n]
			if list.frequency == 0 {
				x.touched = append(x.touched, n)
			}
			list.see(uint32(base + t.Position))
			if f.stream != nil {
				f.stream.add(n)
			}
		}
		if last >= 0 {
			base += last + 1
		}
		base += valueGap
	}
	if f.stream != nil {
		f.stream.close(ordinal)
	}
	if count == 0 {
		return
	}
	for _, n := range x.touched {
		f.lists[n].close(ordinal)
	}
	x.touched = x.touched[:0]
	f.total += int(count)
	f.norms = append(f.norms, make([]byte, int(ordinal)-len(f.norms))...)
	f.norms = append(f.norms, encodeNorm(max(count-overlaps, 1)))
	f.counts = append(f.counts, make([]uint32, int(ordinal)-len(f.counts))...)
	f.counts = append(f.counts, count)
}

// Delete removes a document and reports whether it was there. Scores are from
// then on what they would be if it had never been.
func (x *Index) Delete(id uint32) bool {
	at, ok := x.ordinal(id)
	if !ok {
		return false
	}
	if x.dead == nil {
		x.dead = newBitset(len(x.ids))
	}
	x.dead.set(at)
	x.gone++
	x.rows -= 1 + int(x.nested[at])
	for _, f := range x.fields {
		if int(at) < len(f.counts) {
			f.total -= int(f.counts[at])
		}
	}
	if x.gone >= compactFrom && x.gone > len(x.ids)/2 {
		x.compact()
	}
	return true
}

// Len is the number of documents.
func (x *Index) Len() int { return len(x.ids) - x.gone }

// Has reports whether the index has a field of that path.
func (x *Index) Has(path string) bool { return x.byPath[path] != nil }

// ordinal is that of a document that lives.
func (x *Index) ordinal(id uint32) (uint32, bool) {
	at, ok := slices.BinarySearch(x.ids, id)
	if !ok || x.dead != nil && x.dead.has(uint32(at)) {
		return 0, false
	}
	return uint32(at), true
}

// compact drops what is deleted. It costs as much as the index is large and
// happens after as many deletions, so that it costs each of them the same.
func (x *Index) compact() {
	ordinals := make([]uint32, len(x.ids))
	var ids, nested []uint32
	for i, id := range x.ids {
		if x.dead.has(uint32(i)) {
			ordinals[i] = none
			continue
		}
		ordinals[i] = uint32(len(ids))
		ids = append(ids, id)
		nested = append(nested, x.nested[i])
	}
	for _, f := range x.fields {
		f.compact(ordinals, len(ids))
	}
	x.ids, x.nested, x.dead, x.gone = ids, nested, nil, 0
}

func (f *field) compact(ordinals []uint32, n int) {
	dictionary := newDictionary()
	numbers := make([]uint32, len(f.lists)) // new by old
	for i := range f.lists {
		if list := f.lists[i].renumber(ordinals); list.count > 0 {
			numbers[i] = dictionary.number(f.terms[i])
			dictionary.lists[numbers[i]] = list
		}
	}
	f.dictionary = dictionary
	norms, counts := make([]byte, n), make([]uint32, n)
	for i := range f.norms {
		if to := ordinals[i]; to != none {
			norms[to], counts[to] = f.norms[i], f.counts[i]
		}
	}
	f.norms, f.counts = norms, counts
	if f.stream != nil {
		f.stream = f.stream.renumber(ordinals, numbers)
	}
}
