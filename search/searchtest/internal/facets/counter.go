package facets

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Bucket is the number of documents with a value, or with a value in a range. A document counts at most once per
// bucket.
type Bucket struct {
	Count int64

	// Value is the value or, with an interval, its start. It is not set for ranges.
	Value Value

	// Range is true for a bucket from From (included) to To (excluded). The first range has no From, the last no To.
	Range          bool
	HasFrom, HasTo bool
	From, To       Value

	// Figure is the result of a metric; then nothing else is set. Otherwise nil.
	Figure *Figure
}

// Counter counts documents for one facet. It is not safe for concurrent use.
type Counter struct {
	facet    *Facet
	document int // number of the current document

	// Indexes in tallies: by text for strings, by the bits of the value for other types. Ranges are in order.
	texts   map[string]int32
	numbers map[uint64]int32
	tallies []tally

	statistics statistics
	visited    int // number of values
}

// tally is a bucket during counting.
type tally struct {
	value Value
	count int64
	last  int // the last counted document
}

// NewCounter returns a counter without documents.
func (f *Facet) NewCounter() *Counter {
	c := &Counter{facet: f}
	switch {
	case f.kind == byRange:
		c.tallies = make([]tally, len(f.bounds)+1)
	case f.field.Type == stored.String:
		c.texts = make(map[string]int32)
	default:
		c.numbers = make(map[uint64]int32)
	}
	return c
}

// Add counts a stored document.
func (c *Counter) Add(document []byte) {
	c.document++
	before := c.visited
	c.walk(document, c.facet.path)
	if c.visited == before && c.facet.missing != nil {
		c.statistics.add(*c.facet.missing)
	}
}

// walk visits all values at a path, in every element of collections.
func (c *Counter) walk(object []byte, path []*stored.Field) {
	f := path[0]
	value, ok := stored.FindValue(object, f.Ordinal)
	switch {
	case !ok:
	case !f.Collection:
		c.visit(value, path)
	default:
		size := f.Type.Size()
		for rest := value; len(rest) > 0; {
			var element []byte
			element, rest = stored.NextElement(rest, size)
			c.visit(element, path)
		}
	}
}

func (c *Counter) visit(value []byte, path []*stored.Field) {
	switch {
	case len(path) > 1:
		c.walk(value, path[1:])
		return
	case c.texts != nil:
		c.text(value)
	case c.facet.field.Type == stored.Double:
		c.double(math.Float64frombits(binary.LittleEndian.Uint64(value)))
	default:
		c.integer(decodeInteger(value))
	}
	c.visited++
}

func (c *Counter) text(value []byte) {
	if c.facet.normalize != nil {
		value = []byte(c.facet.normalize(string(value)))
	}
	i, ok := c.texts[string(value)]
	if !ok {
		text := string(value)
		i = c.open(Value{Type: stored.String, Text: text})
		c.texts[text] = i
	}
	c.count(i)
}

func (c *Counter) double(v float64) {
	f := c.facet
	switch f.kind {
	case byRange:
		if !math.IsNaN(v) { // NaN is in no range
			c.inRange(Value{Type: stored.Double, Double: v})
		}
		return
	case byInterval:
		v = math.Floor(v/float64(f.interval)) * float64(f.interval)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
	case byMetric:
		if f.metric != Cardinality {
			c.statistics.add(v)
			return
		}
	}
	if v == 0 {
		v = 0 // replaces -0
	}
	key := math.Float64bits(v)
	i, ok := c.numbers[key]
	if !ok {
		i = c.open(Value{Type: stored.Double, Double: v})
		c.numbers[key] = i
	}
	c.count(i)
}

// integer counts values that are neither strings nor doubles.
func (c *Counter) integer(n int64) {
	f := c.facet
	typ := f.field.Type
	switch {
	case f.kind == byRange:
		c.inRange(Value{Type: typ, Integer: n})
		return
	case f.kind == byMetric && f.metric != Cardinality:
		c.statistics.add(float64(n))
		return
	case f.kind == byInterval && typ == stored.DateTimeOffset:
		n = f.unit.start(n, f.offset)
	case f.kind == byInterval:
		n = floor(n, f.interval)
	}
	i, ok := c.numbers[uint64(n)]
	if !ok {
		i = c.open(Value{Type: typ, Integer: n})
		c.numbers[uint64(n)] = i
	}
	c.count(i)
}

// inRange counts a value in the range before the first greater bound.
func (c *Counter) inRange(v Value) {
	i, found := slices.BinarySearchFunc(c.facet.bounds, v, Value.compare)
	if found {
		i++
	}
	c.count(int32(i))
}

func (c *Counter) open(v Value) int32 {
	c.tallies = append(c.tallies, tally{value: v})
	return int32(len(c.tallies) - 1)
}

func (c *Counter) count(i int32) {
	if t := &c.tallies[i]; t.last != c.document {
		t.last = c.document
		t.count++
	}
}

// Buckets returns the buckets in the order of the facet. Ranges, including empty ones, and intervals are ascending.
// Values have the order and maximum number of the facet, by default the most frequent first; ties are ordered by
// value. Null has no bucket.
func (c *Counter) Buckets() []Bucket {
	f := c.facet
	switch f.kind {
	case byRange:
		return c.ranges()
	case byMetric:
		figure := c.figure()
		return []Bucket{{Figure: &figure}}
	}
	tallies := slices.Clone(c.tallies)
	order := f.order
	if f.kind == byInterval {
		order = valueAscending
	}
	slices.SortFunc(tallies, func(a, b tally) int {
		var first int
		switch order {
		case countDescending:
			first = cmp.Compare(b.count, a.count)
		case countAscending:
			first = cmp.Compare(a.count, b.count)
		case valueDescending:
			return b.value.compare(a.value)
		}
		return cmp.Or(first, a.value.compare(b.value))
	})
	if f.kind == byValue && f.count > 0 && len(tallies) > f.count {
		tallies = tallies[:f.count]
	}
	buckets := make([]Bucket, len(tallies))
	for i, t := range tallies {
		buckets[i] = Bucket{Count: t.count, Value: t.value}
	}
	return buckets
}

func (c *Counter) ranges() []Bucket {
	bounds := c.facet.bounds
	buckets := make([]Bucket, len(c.tallies))
	for i, t := range c.tallies {
		b := Bucket{Count: t.count, Range: true}
		if i > 0 {
			b.HasFrom, b.From = true, bounds[i-1]
		}
		if i < len(bounds) {
			b.HasTo, b.To = true, bounds[i]
		}
		buckets[i] = b
	}
	return buckets
}
