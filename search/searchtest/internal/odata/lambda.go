package odata

import "github.com/go-azsearch/azsearch/search/searchtest/internal/stored"

// The service's messages for lambda expressions over simple collections.
const (
	oppositeExpected = "Invalid lambda expression. Found a test for equality or inequality where the opposite was expected in a lambda expression that iterates over a field of type Collection(Edm.String). For 'any', please use expressions of the form 'x eq y' or 'search.in(...)'. For 'all', please use expressions of the form 'x ne y', 'not (x eq y)', or 'not search.in(...)'."
	onlyEquality     = "Invalid lambda expression. Found a comparison operator (one of 'lt', 'le', 'gt', or 'ge'). Only equality operators are allowed in lambda expressions that iterate over fields of type Collection(Edm.String). For 'any', please use expressions of the form 'x eq y'. For 'all', please use expressions of the form 'x ne y' or 'not (x eq y)'."
	normalForm       = "Invalid lambda expression. Found an unsupported form of complex Boolean expression. For 'any', please use expressions that are 'ORs of ANDs', also known as Disjunctive Normal Form. For example: '(a and b) or (c and d)' where a, b, c, and d are comparison or equality sub-expressions. For 'all', please use expressions that are 'ANDs of ORs', also known as Conjunctive Normal Form. For example: '(a or b) and (c or d)' where a, b, c, and d are comparison or inequality sub-expressions. Examples of comparison expressions: 'x gt 5', 'x le 2'. Example of an equality expression: 'x eq 5'. Example of an inequality expression: 'x ne 5'."
	unsupportedGeo   = "Invalid lambda expression. Found an unsupported use of geo.distance() or geo.intersects() in a lambda expression that iterates over a field of type Collection(Edm.GeographyPoint). For 'any', please make sure you compare geo.distance() using the 'lt' or 'le' operators and make sure that any usage of geo.intersects() is not negated. For 'all', please make sure you compare geo.distance() using the 'gt' or 'ge' operators and make sure that any usage of geo.intersects() is negated."
	oneJoin          = "Invalid lambda expression. Complex Boolean expressions are not supported in lambda expressions that iterate over fields of type Collection(%s). For 'any', please join sub-expressions with 'or'; 'and' is not supported. For 'all', please join sub-expressions with 'and'; 'or' is not supported."
	noJoin           = "Invalid lambda expression. Complex Boolean expressions are not supported in lambda expressions that iterate over fields of type Collection(Edm.Boolean)."
)

// lambda compiles an any or all expression.
func (b *binder) lambda(x *lambdaSyntax) (predicate, error) {
	path, ok := x.collection.(*pathSyntax)
	if !ok {
		return nil, refuse("Any/All may only be used following a collection.")
	}
	ref, err := b.resolve(path)
	if err != nil {
		return nil, err
	}
	if !ref.collection {
		return nil, refuse("Any/All may only be used following a collection.")
	}
	simple := ref.field.Type != stored.Complex
	if simple {
		if err := b.filterable(ref); err != nil {
			return nil, err
		}
	}
	if x.body == nil {
		if x.all {
			return nil, refuse("The operator 'all' requires a lambda expression. Only 'any' can be used without one.")
		}
		return &notEmpty{ref.path}, b.clause()
	}
	v := variable{x.variable, ref.field, ref.typeName, b.fieldPath(ref)}
	b.scope = append(b.scope, v)
	p, err := b.lambdaBody(x, simple)
	b.scope = b.scope[:len(b.scope)-1]
	if err != nil {
		return nil, err
	}
	return &quantifier{path: ref.path, size: ref.field.Type.Size(), all: x.all, body: p}, nil
}

func (b *binder) lambdaBody(x *lambdaSyntax, simple bool) (predicate, error) {
	operand, err := b.bind(x.body)
	if err != nil {
		return nil, err
	}
	p, ok, err := b.condition(operand)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, refuse("The Any/All query expression must evaluate to a single boolean value.")
	case simple:
		r := lambdaRules{element: b.scope[len(b.scope)-1].field.Type, all: x.all}
		return p, r.check(p, false, false)
	}
	return p, nil
}

// lambdaRules are the rules for the body of a lambda expression over a simple collection. The service evaluates
// filters with inverted indexes, which can answer whether some element has a value (any), or none has (all). So a
// body must have a form for which this suffices.
//
// The rules for all are those for any, negated. check negates the body of all, moves negations to the leaves, and
// requires the form for any: an "or" of leaves or, for numbers and times, an "or" of "and"s.
type lambdaRules struct {
	element stored.Type
	all     bool
}

// check checks a part of the body. inAnd is true inside an "and".
func (r lambdaRules) check(p predicate, negated, inAnd bool) error {
	if n, ok := p.(not); ok {
		return r.check(n.operand, !negated, inAnd)
	}
	terms, isOr := []predicate(nil), false
	switch p := p.(type) {
	case and:
		terms = p
	case or:
		terms, isOr = p, true
	default:
		return r.checkLeaf(p, negated != r.all, inAnd)
	}
	isOr = isOr != (negated != r.all)
	switch {
	case r.element == stored.Boolean:
		return refuse(noJoin)
	case r.element == stored.String || r.element == stored.GeographyPoint:
		if !isOr {
			return refuse(oneJoin, r.element)
		}
	case isOr && inAnd:
		return refuse(normalForm)
	}
	for _, term := range terms {
		if err := r.check(term, negated, inAnd || !isOr); err != nil {
			return err
		}
	}
	return nil
}

// checkLeaf checks one test in the form that it has for any.
func (r lambdaRules) checkLeaf(p predicate, negated, inAnd bool) error {
	switch p := p.(type) {
	case *compareString:
		if p.op.ordered() {
			return refuse(onlyEquality)
		}
		if (p.op == opNotEqual) != negated {
			return refuse(oppositeExpected)
		}
	case *oneOf:
		if negated {
			return refuse(oppositeExpected)
		}
	case *isNull:
		if r.element == stored.String && p.negate != negated {
			return refuse(oppositeExpected)
		}
		if inAnd && p.negate != negated {
			return refuse(normalForm)
		}
	case *inRange:
		if inAnd && inequality(p.op, negated) {
			return refuse(normalForm)
		}
	case *compareDouble:
		if inAnd && inequality(p.op, negated) {
			return refuse(normalForm)
		}
	case *near:
		op := p.op
		if negated {
			op = op.negated()
		}
		if op != opLess && op != opLessOrEqual {
			return refuse(unsupportedGeo)
		}
	case *within:
		if negated {
			return refuse(unsupportedGeo)
		}
	case constant:
		return refuse("Invalid lambda expression. The constants 'true' and 'false' have no parameters bound to the range variable.")
	}
	return nil
}

// inequality reports whether a comparison tests for inequality.
func inequality(op operator, negated bool) bool {
	return op == opNotEqual && !negated || op == opEqual && negated
}
