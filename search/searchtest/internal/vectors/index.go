package vectors

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Index has the vectors of one field. Searches may be concurrent; writes need exclusive access.
type Index struct {
	element    stored.Type
	dimensions int // number of array elements
	metric     Metric

	// Row i of the matrix belongs to ids[i], and rows[ids[i]] is i. A row has width elements; rows of packed bits are
	// in words. The last row replaces a removed row.
	width  int
	matrix []float32
	words  []uint64
	ids    []uint32
	rows   map[uint32]int
}

// Neighbor is a document found by a search.
type Neighbor struct {
	ID      uint32
	Score   float64 // @search.score
	Measure float64 // cosine, dot product or distance, for thresholds
}

// NewIndex returns an index for vectors with the given number of elements; for packed bits the number of bytes.
// Hamming is required for packed bits, and invalid for other elements.
func NewIndex(element stored.Type, dimensions int, metric Metric) (*Index, error) {
	if !element.VectorElement() || dimensions < 1 {
		return nil, fmt.Errorf("no vectors of %d elements of type %v", dimensions, element)
	}
	if (element == stored.Byte) != (metric == Hamming) {
		return nil, fmt.Errorf("the metric hamming is for packed bits, and packed bits need it; the elements are of type %v", element)
	}
	ix := &Index{element: element, dimensions: dimensions, metric: metric, width: dimensions, rows: make(map[uint32]int)}
	if metric == Hamming {
		ix.width = (dimensions + 7) / 8
	}
	return ix, nil
}

// Len returns the number of vectors.
func (ix *Index) Len() int { return len(ix.ids) }

// Put adds or replaces the vector of a document. value is the stored field, with as many elements as the index has
// dimensions. If the field is null, call Delete instead.
func (ix *Index) Put(id uint32, value []byte) error {
	if len(value) != ix.dimensions*ix.element.Size() {
		return fmt.Errorf("a vector of %d bytes in an index for %d elements of type %v", len(value), ix.dimensions, ix.element)
	}
	row, ok := ix.rows[id]
	if !ok {
		row = len(ix.ids)
		ix.rows[id] = row
		ix.ids = append(ix.ids, id)
		if ix.metric == Hamming {
			ix.words = append(ix.words, make([]uint64, ix.width)...)
		} else {
			ix.matrix = append(ix.matrix, make([]float32, ix.width)...)
		}
	}
	if ix.metric == Hamming {
		pack(ix.words[row*ix.width:][:ix.width], value)
		return nil
	}
	v := ix.matrix[row*ix.width:][:ix.width]
	ix.decode(v, value)
	if ix.metric == Cosine {
		normalize(v)
	}
	return nil
}

// Delete removes the vector of a document, if it has one.
func (ix *Index) Delete(id uint32) {
	row, ok := ix.rows[id]
	if !ok {
		return
	}
	last := len(ix.ids) - 1
	moved := ix.ids[last]
	ix.ids[row], ix.rows[moved] = moved, row
	delete(ix.rows, id)
	ix.ids = ix.ids[:last]
	if ix.metric == Hamming {
		copy(ix.words[row*ix.width:][:ix.width], ix.words[last*ix.width:])
		ix.words = ix.words[:last*ix.width]
		return
	}
	copy(ix.matrix[row*ix.width:][:ix.width], ix.matrix[last*ix.width:])
	ix.matrix = ix.matrix[:last*ix.width]
}

// Search returns the k nearest documents, or all if there are fewer, nearest first and ties by id. It compares only
// documents for which accept returns true; nil accepts all. query must have as many elements as the index has
// dimensions; for packed bits these are whole numbers from 0 to 255.
//
// Neighbors are selected in single precision; then scores and order are computed in double precision.
func (ix *Index) Search(query []float32, k int, accept func(id uint32) bool) ([]Neighbor, error) {
	if len(query) != ix.dimensions {
		return nil, fmt.Errorf("a vector of %d elements for an index of %d", len(query), ix.dimensions)
	}
	if ix.metric == Hamming {
		return ix.searchBits(query, k, accept)
	}
	if ix.metric == Cosine {
		query = slices.Clone(query)
		normalize(query)
	}
	best := nearest{limit: k}
	for row, id := range ix.ids {
		if accept == nil || accept(id) {
			best.add(candidate{ix.metric.closeness(query, ix.matrix[row*ix.width:][:ix.width]), id})
		}
	}
	return ix.neighbors(&best, func(c candidate) float64 {
		return ix.metric.exact(query, ix.matrix[ix.rows[c.id]*ix.width:][:ix.width])
	}), nil
}

func (ix *Index) searchBits(query []float32, k int, accept func(id uint32) bool) ([]Neighbor, error) {
	packed := make([]byte, len(query))
	for i, q := range query {
		packed[i] = byte(min(max(q, 0), 255))
		if float32(packed[i]) != q {
			return nil, fmt.Errorf("element %d of a packed-bit vector is %v, not a whole number from 0 to 255", i, q)
		}
	}
	words := make([]uint64, ix.width)
	pack(words, packed)
	best := nearest{limit: k}
	for row, id := range ix.ids {
		if accept == nil || accept(id) {
			best.add(candidate{-float32(differentBits(words, ix.words[row*ix.width:][:ix.width])), id})
		}
	}
	return ix.neighbors(&best, func(c candidate) float64 { return float64(-c.closeness) }), nil
}

// neighbors orders candidates by their exact measures.
func (ix *Index) neighbors(best *nearest, exact func(candidate) float64) []Neighbor {
	found := make([]Neighbor, len(best.heap))
	for i, c := range best.heap {
		measure := exact(c)
		found[i] = Neighbor{ID: c.id, Score: ix.metric.score(measure), Measure: measure}
	}
	slices.SortFunc(found, func(a, b Neighbor) int {
		// by measure, because different measures can have equal scores
		x, y := a.Measure, b.Measure
		if ix.metric == Cosine || ix.metric == DotProduct {
			x, y = y, x
		}
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		case a.ID < b.ID:
			return -1
		}
		return 1
	})
	return found
}

// decode decodes a stored vector.
func (ix *Index) decode(dst []float32, value []byte) {
	for i := range dst {
		switch ix.element {
		case stored.Int16:
			dst[i] = float32(int16(binary.LittleEndian.Uint16(value[2*i:])))
		case stored.SByte:
			dst[i] = float32(int8(value[i]))
		default: // Single, and Half, which is stored as Single
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(value[4*i:]))
		}
	}
}

// normalize scales a vector to length 1. A zero vector stays unchanged: its cosine with all others is 0.
func normalize(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	length := math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
}

// pack packs bytes into words; the rest of the last word is 0.
func pack(words []uint64, value []byte) {
	clear(words)
	for i, b := range value {
		words[i/8] |= uint64(b) << (8 * (i % 8))
	}
}

func differentBits(a, b []uint64) int {
	n := 0
	for i, w := range a {
		n += bits.OnesCount64(w ^ b[i])
	}
	return n
}
