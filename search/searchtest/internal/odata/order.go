package odata

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// maxOrderClauses is the maximum number of expressions in $orderby.
const maxOrderClauses = 32

// Row is a document to sort.
type Row struct {
	ID       uint32
	Score    float64
	Document []byte // in stored form
}

// Order is a compiled $orderby. The zero Order is the default order: descending score. It is safe for concurrent
// use.
type Order struct {
	keys []orderKey
}

// orderKey is one expression in $orderby.
type orderKey struct {
	kind       orderKind
	path       []int
	typ        stored.Type
	normalize  func(string) string
	from       point
	descending bool
}

type orderKind uint8

const (
	orderField orderKind = iota
	orderDistance
	orderScore
)

// CompileOrder parses an $orderby and checks it against the fields. Its error is an [*Error].
func CompileOrder(text string, o *Options) (*Order, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	var terms []syntax
	order := &Order{}
	for {
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		key := orderKey{descending: p.is("desc")}
		if key.descending || p.is("asc") {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		terms, order.keys = append(terms, x), append(order.keys, key)
		if p.tok.kind != tokenComma {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if len(terms) > maxOrderClauses {
		return nil, refuse("Found %d clauses in $orderby. At most %d are allowed.", len(terms), maxOrderClauses)
	}
	b := &binder{options: o}
	for i, x := range terms {
		if err := order.keys[i].bind(x, b); err != nil {
			return nil, err
		}
	}
	return order, nil
}

func (k *orderKey) bind(x syntax, b *binder) error {
	switch x := x.(type) {
	case *literal:
		return refuse("Sorting on literal values is not supported in $orderby.")
	case *callSyntax:
		return k.bindCall(x, b)
	case *pathSyntax:
		ref, err := b.resolve(x)
		if err != nil {
			return err
		}
		if ref.collection || ref.field.Type == stored.Complex {
			return refuse("The $orderby expression must evaluate to a single value of primitive type.")
		}
		k.path, k.typ, k.normalize = ref.path, ref.field.Type, b.options.normalizer(ref.field)
		if k.typ == stored.GeographyPoint {
			return refuse("Sorting on the field '%s' of type 'Edm.GeographyPoint' is not supported. Use the function 'geo.distance'.", ref.text)
		}
		return sortable(ref)
	}
	return refuse("Only fields and the functions 'geo.distance' and 'search.score' are supported in $orderby.")
}

func (k *orderKey) bindCall(x *callSyntax, b *binder) error {
	switch x.name {
	case "search.score":
		k.kind = orderScore
		if len(x.args) > 0 {
			return wrongArguments(x.name)
		}
		return nil
	case "geo.distance":
		k.kind = orderDistance
		var args []operand
		for _, arg := range x.args {
			bound, err := b.bind(arg)
			if err != nil {
				return err
			}
			if bound.collection() {
				return refuse("The argument for an invocation of a function with name '%s' is not a single value. All arguments for this function must be single values.", x.name)
			}
			args = append(args, bound)
		}
		ref, v, err := b.geography(x.name, args, literalPoint)
		if err != nil {
			return err
		}
		k.path, k.from = ref.path, v.point
		return sortable(ref)
	}
	if signatures[x.name] != nil {
		return refuse("The function '%s' is not supported in $orderby.", x.name)
	}
	_, err := b.call(x)
	return err
}

func sortable(r *reference) error {
	if !r.field.Sortable {
		return refuse("'%s' is not a sortable field. Only sortable fields can be used in $orderby.", r.text)
	}
	return nil
}

// Compare returns a negative number if a comes before b. Null comes first in ascending order, and last in descending
// order. A missing distance counts as greater than all distances. Ties are ordered by descending score, then by id.
func (o *Order) Compare(a, b Row) int {
	for i := range o.keys {
		k := &o.keys[i]
		if c := k.compare(k.value(&a), k.value(&b)); c != 0 {
			return c
		}
	}
	return compareRest(&a, &b)
}

func compareRest(a, b *Row) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// sortValue is a value of any type in a comparable form: by number, then by text.
type sortValue struct {
	null   bool
	number int64
	text   []byte
}

// value returns the sort value of a row. The text aliases the document.
func (k *orderKey) value(r *Row) sortValue {
	if k.kind == orderScore {
		return sortValue{number: sortableDouble(r.Score)}
	}
	value, ok := find(r.Document, k.path)
	switch {
	case k.kind == orderDistance && !ok:
		return sortValue{number: math.MaxInt64}
	case k.kind == orderDistance:
		return sortValue{number: sortableDouble(decodePoint(value).distance(k.from))}
	case !ok:
		return sortValue{null: true}
	}
	switch k.typ {
	case stored.String:
		if k.normalize != nil {
			value = []byte(k.normalize(string(value)))
		}
		return sortValue{text: value}
	case stored.Boolean:
		return sortValue{number: int64(value[0])}
	case stored.Double:
		return sortValue{number: sortableDouble(math.Float64frombits(binary.LittleEndian.Uint64(value)))}
	}
	return sortValue{number: decodeInteger(value, k.typ.Size())}
}

func (k *orderKey) compare(a, b sortValue) int {
	c := 0
	switch {
	case a.null != b.null:
		if c = 1; a.null {
			c = -1
		}
	case a.number != b.number:
		c = cmp.Compare(a.number, b.number)
	default:
		c = bytes.Compare(a.text, b.text)
	}
	if k.descending {
		return -c
	}
	return c
}

// sortableDouble maps doubles to integers in the same order. NaN is greater than all others, and -0 equals 0.
func sortableDouble(f float64) int64 {
	if f == 0 || math.IsNaN(f) {
		f = math.Abs(f)
	}
	n := int64(math.Float64bits(f))
	return n ^ n>>63&math.MaxInt64
}
