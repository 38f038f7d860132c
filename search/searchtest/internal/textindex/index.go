package textindex

import (
	"math"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
)

// valueGap is the distance in positions between the values of a collection, so that no phrase spans two values.
const valueGap = 100

// none means no ordinal.
const none = math.MaxUint32

// compactFrom is the minimum number of deleted documents for a compaction.
const compactFrom = 64

// Field is a searchable field.
type Field struct {
	// Path is the name of the field; a sub-field has the form address/city.
	Path string
	// Index and Search convert texts and queries to terms.
	Index, Search analysis.Analyzer
	// Synonyms expand queries. nil means none.
	Synonyms *Synonyms
}

// Config describes an index.
type Config struct {
	Fields []Field
	// Similarity computes scores. Defaults to BM25 with k1 1.2 and b 0.75.
	Similarity Similarity
}

// Document is the indexed part of a document.
type Document struct {
	// Values are the texts of each field, in the order of Config.Fields.
	Values [][]string
	// Nested is the number of objects in collections of complex types. The service stores each as a separate
	// document, so they affect scores if Options.Nested is set.
	Nested int
}

// Index is an inverted index of the searchable fields of documents. Readers may be concurrent; Put, Delete and
// SetFields need exclusive access. It starts no goroutines.
type Index struct {
	fields     []*field
	byPath     map[string]*field
	similarity Similarity

	// Documents are numbered from 0 in the order of their ids. These numbers are called ordinals; all internal data
	// uses them.
	ids    []uint32
	nested []uint32
	dead   bitset // nil if no document is deleted
	gone   int    // number of members of dead
	rows   int    // number of live documents and of objects nested in them

	touched []uint32 // terms of the document being added
}

// field is the index of one Field.
type field struct {
	Field
	*dictionary
	norms  []byte   // rounded length by ordinal; shorter than ids if the last documents have no text
	counts []uint32 // tokens by ordinal
	total  int      // tokens of all live documents
	rules  synonymRules
	stream *stream // nil unless the order of words is needed
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

// SetFields changes the settings that do not require a new index: query analyzers and synonyms. It can also append
// new fields. The paths of existing fields must stay the same, in the same order.
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

// Put adds a document. Its id must be greater than all earlier ids. To replace a document, add it with a new id and
// delete the old one.
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

// Delete removes a document, and reports whether it existed. Scores become the same as if it had never been added.
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

// Len returns the number of live documents.
func (x *Index) Len() int { return len(x.ids) - x.gone }

// Has reports whether the index has a field with that path.
func (x *Index) Has(path string) bool { return x.byPath[path] != nil }

// ordinal returns the ordinal of a live document.
func (x *Index) ordinal(id uint32) (uint32, bool) {
	at, ok := slices.BinarySearch(x.ids, id)
	if !ok || x.dead != nil && x.dead.has(uint32(at)) {
		return 0, false
	}
	return uint32(at), true
}

// compact removes deleted documents. Its cost is proportional to the size of the index; it runs after half of the
// documents were deleted, so the cost per deletion is constant.
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
	numbers := make([]uint32, len(f.lists)) // new number by old number
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
