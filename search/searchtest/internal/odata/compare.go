package odata

import (
	"math"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// family is a set of types that can be compared with each other.
type family uint8

const (
	familyNull family = iota
	familyBoolean
	familyString
	familyNumber
	familyDateTime
	familyNone // not comparable
)

func familyOf(x operand) family {
	switch {
	case x.ref != nil:
		switch x.ref.field.Type {
		case stored.String:
			return familyString
		case stored.Boolean:
			return familyBoolean
		case stored.Int32, stored.Int64, stored.Double:
			return familyNumber
		case stored.DateTimeOffset:
			return familyDateTime
		}
		return familyNone
	case x.literal != nil:
		switch x.literal.kind {
		case literalNull:
			return familyNull
		case literalBoolean:
			return familyBoolean
		case literalString:
			return familyString
		case literalDateTime:
			return familyDateTime
		}
		if x.literal.isNumber() {
			return familyNumber
		}
		return familyNone
	case x.distance != nil:
		return familyNumber
	}
	return familyBoolean
}

// comparison compiles a comparison. One side must be a constant.
func (b *binder) comparison(x *comparisonSyntax) (predicate, error) {
	if x.op > opLessOrEqual {
		return nil, refuse("The operator '%s' is not supported.", operators[x.op].keyword)
	}
	for _, side := range []syntax{x.left, x.right} {
		switch side := side.(type) {
		case *comparisonSyntax: // not bound, because recursion would be as deep as a chain of comparisons is long
			if side.op > opLessOrEqual {
				return nil, refuse("The operator '%s' is not supported.", operators[side.op].keyword)
			}
			return nil, refuse(notOneLiteral)
		case *logicalSyntax, *notSyntax, *lambdaSyntax:
			if _, err := b.bind(side); err != nil {
				return nil, err
			}
			return nil, refuse(notOneLiteral)
		}
	}
	left, err := b.bind(x.left)
	if err != nil {
		return nil, err
	}
	right, err := b.bind(x.right)
	if err != nil {
		return nil, err
	}
	if left.collection() || right.collection() {
		return nil, notSingle(x.op.kind())
	}
	if err := compatible(x.op, left, right); err != nil {
		return nil, err
	}
	if (left.literal == nil) == (right.literal == nil) {
		return nil, refuse(notOneLiteral)
	}
	op := x.op
	if left.literal != nil {
		left, right, op = right, left, op.swapped()
	}
	if err := b.clause(); err != nil {
		return nil, err
	}
	switch {
	case left.ref != nil:
		if err := b.filterable(left.ref); err != nil {
			return nil, err
		}
		return b.compareField(left.ref, op, right.literal)
	case left.distance != nil:
		return compareDistance(left.distance, op, right.literal)
	case !left.function || right.literal.kind != literalBoolean:
		return nil, refuse(notOneLiteral)
	}
	if right.literal.boolean == (op == opEqual) {
		return left.boolean, nil
	}
	return not{left.boolean}, nil
}

// compatible returns an error if op cannot compare the types of both sides.
func compatible(op operator, left, right operand) error {
	a, b := familyOf(left), familyOf(right)
	switch {
	case a == familyNone || b == familyNone:
	case a == familyNull || b == familyNull:
		if !op.ordered() {
			return nil
		}
	case a == b && (a != familyBoolean || !op.ordered()):
		return nil
	}
	return incompatible(left.typeName(), right.typeName(), op.kind())
}

func (b *binder) compareField(ref *reference, op operator, v *literal) (predicate, error) {
	if v.kind == literalNull {
		return &isNull{path: ref.path, negate: op == opNotEqual}, nil
	}
	switch ref.field.Type {
	case stored.Boolean:
		return &equalsBoolean{path: ref.path, value: v.boolean, negate: op == opNotEqual}, nil
	case stored.String:
		p := &compareString{path: ref.path, op: op, value: v.text, normalize: b.options.normalizer(ref.field)}
		if p.normalize != nil {
			p.value = p.normalize(p.value)
		}
		return p, nil
	case stored.Double:
		return &compareDouble{path: ref.path, op: op, value: v.toDouble()}, nil
	case stored.DateTimeOffset:
		v = &literal{kind: literalInteger, integer: v.integer}
	default:
		if v.kind == literalFloat && (math.IsNaN(v.float) || math.IsInf(v.float, 0)) {
			return nil, refuse("Comparing a value of type '%s' with NaN, INF or -INF is not supported.", ref.typeName)
		}
	}
	p := &inRange{path: ref.path, size: ref.field.Type.Size(), op: op}
	p.min, p.max, p.negate = integerRange(op, v)
	return p, nil
}

func compareDistance(p *near, op operator, v *literal) (predicate, error) {
	if !op.ordered() || !v.isNumber() {
		return nil, refuse("The function 'geo.distance' can only be compared with a number, by one of the operators 'lt', 'le', 'gt' and 'ge'.")
	}
	p.op, p.value = op, v.toDouble()
	return p, nil
}
