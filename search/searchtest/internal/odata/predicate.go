package odata

import (
	"encoding/binary"
	"math"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// predicate is a condition on a stored object: a document, an object in a collection or, with empty paths, an
// element of a simple collection. id and matcher are passed by value through all levels, so that evaluation
// allocates nothing.
type predicate interface {
	match(object []byte, id uint32, m Matcher) bool
}

// find returns the value at a path of ordinals, false if it is null or missing.
func find(object []byte, path []int) (value []byte, ok bool) {
	for _, ordinal := range path {
		if object, ok = stored.FindValue(object, ordinal); !ok {
			return nil, false
		}
	}
	return object, true
}

type constant bool

func (p constant) match([]byte, uint32, Matcher) bool { return bool(p) }

type and []predicate

func (p and) match(object []byte, id uint32, m Matcher) bool {
	for _, term := range p {
		if !term.match(object, id, m) {
			return false
		}
	}
	return true
}

type or []predicate

func (p or) match(object []byte, id uint32, m Matcher) bool {
	for _, term := range p {
		if term.match(object, id, m) {
			return true
		}
	}
	return false
}

type not struct{ operand predicate }

func (p not) match(object []byte, id uint32, m Matcher) bool {
	return !p.operand.match(object, id, m)
}

// isNull is a comparison with null.
type isNull struct {
	path   []int
	negate bool
}

func (p *isNull) match(object []byte, _ uint32, _ Matcher) bool {
	_, ok := find(object, p.path)
	return ok == p.negate
}

// isTrue is a Boolean field or range variable as a condition; null is false.
type isTrue struct{ path []int }

func (p *isTrue) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	return ok && value[0] != 0
}

// equalsBoolean is a comparison with true or false; null is different from both.
type equalsBoolean struct {
	path          []int
	value, negate bool
}

func (p *equalsBoolean) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	return (ok && (value[0] != 0) == p.value) != p.negate
}

// inRange compares integers and times. Every comparison with a number of any type is a test for a range of integers.
type inRange struct {
	path     []int
	size     int      // size of the stored value: 4 or 8
	op       operator // as written; for the rules of lambda expressions
	min, max int64
	negate   bool
}

func (p *inRange) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	if !ok {
		return p.negate
	}
	n := decodeInteger(value, p.size)
	return (p.min <= n && n <= p.max) != p.negate
}

func decodeInteger(value []byte, size int) int64 {
	if size == 4 {
		return int64(int32(binary.LittleEndian.Uint32(value)))
	}
	return int64(binary.LittleEndian.Uint64(value))
}

// integerRange converts a comparison with a number to a range. Numbers between two integers, or outside Int64, are
// handled exactly, because a double has fewer digits than an Int64.
func integerRange(op operator, v *literal) (lo, hi int64, negate bool) {
	n, exact, beyond := v.floor()
	switch op {
	case opEqual, opNotEqual:
		if !exact {
			return 1, 0, op == opNotEqual
		}
		return n, n, op == opNotEqual
	case opGreater, opGreaterOrEqual:
		above := op == opGreater || !exact // n is not in the range
		switch {
		case beyond < 0:
			return math.MinInt64, math.MaxInt64, false
		case beyond > 0 || above && n == math.MaxInt64:
			return 1, 0, false
		case above:
			n++
		}
		return n, math.MaxInt64, false
	default:
		below := op == opLess && exact // n is not in the range
		switch {
		case beyond > 0:
			return math.MinInt64, math.MaxInt64, false
		case beyond < 0 || below && n == math.MinInt64:
			return 1, 0, false
		case below:
			n--
		}
		return math.MinInt64, n, false
	}
}

// compareDouble compares doubles by IEEE 754: NaN is different from everything, including itself.
type compareDouble struct {
	path  []int
	op    operator
	value float64
}

func (p *compareDouble) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	if !ok {
		return p.op == opNotEqual
	}
	return compare(p.op, math.Float64frombits(binary.LittleEndian.Uint64(value)), p.value)
}

// compareString compares strings by their bytes, after normalization if the field has a normalizer.
type compareString struct {
	path      []int
	op        operator
	value     string
	normalize func(string) string
}

func (p *compareString) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	if !ok {
		return p.op == opNotEqual
	}
	if p.normalize != nil {
		return compare(p.op, p.normalize(string(value)), p.value)
	}
	// The compiler does not allocate for these conversions.
	switch p.op {
	case opEqual:
		return string(value) == p.value
	case opNotEqual:
		return string(value) != p.value
	case opGreater:
		return string(value) > p.value
	case opGreaterOrEqual:
		return string(value) >= p.value
	case opLess:
		return string(value) < p.value
	default:
		return string(value) <= p.value
	}
}

// compare compares like Go: NaN is different from everything, strings by their bytes.
func compare[V float64 | string](op operator, a, b V) bool {
	switch op {
	case opEqual:
		return a == b
	case opNotEqual:
		return a != b
	case opGreater:
		return a > b
	case opGreaterOrEqual:
		return a >= b
	case opLess:
		return a < b
	default:
		return a <= b
	}
}

// oneOf is search.in.
type oneOf struct {
	path      []int
	values    map[string]struct{}
	normalize func(string) string
}

func (p *oneOf) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	if !ok {
		return false
	}
	if p.normalize != nil {
		_, ok = p.values[p.normalize(string(value))]
		return ok
	}
	_, ok = p.values[string(value)]
	return ok
}

// near compares geo.distance with a number of kilometers.
type near struct {
	path  []int
	from  point
	op    operator
	value float64
}

func (p *near) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	return ok && compare(p.op, decodePoint(value).distance(p.from), p.value)
}

// within is geo.intersects.
type within struct {
	path []int
	area *polygon
}

func (p *within) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	return ok && p.area.contains(decodePoint(value))
}

// notEmpty is any without a lambda expression.
type notEmpty struct{ path []int }

func (p *notEmpty) match(object []byte, _ uint32, _ Matcher) bool {
	value, ok := find(object, p.path)
	return ok && len(value) > 0
}

// quantifier is any or all. A missing or null value is an empty collection.
type quantifier struct {
	path []int
	size int // of an element in bytes; 0 if it varies
	all  bool
	body predicate
}

func (p *quantifier) match(object []byte, id uint32, m Matcher) bool {
	rest, _ := find(object, p.path)
	for len(rest) > 0 {
		var element []byte
		element, rest = stored.NextElement(rest, p.size)
		if p.body.match(element, id, m) != p.all {
			return !p.all
		}
	}
	return p.all
}

// matchCall is search.ismatch or search.ismatchscoring.
type matchCall struct {
	index   int
	scoring bool
}

func (p *matchCall) match(_ []byte, id uint32, m Matcher) bool { return m.Matches(p.index, id) }
