package odata

import (
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// documentType is the name of the type of documents in messages.
const documentType = "search.document"

// binder resolves the names in a parsed filter, checks types, and compiles the filter to a predicate.
type binder struct {
	options *Options
	scope   []variable // innermost last
	clauses int
	matches []Match
}

// variable is the range variable of a lambda expression.
type variable struct {
	name     string
	field    *stored.Field // the collection
	typeName string        // of an element
	path     string        // of the collection
}

// reference is a resolved field or range variable.
type reference struct {
	field      *stored.Field
	path       []int  // ordinals, starting at the document or range variable
	text       string // as written
	collection bool   // the value is a collection
	typeName   string
}

// operand is a part of an expression with its type: exactly one of ref, literal, distance and boolean is set.
type operand struct {
	ref      *reference
	literal  *literal
	distance *near     // geo.distance without the number that it is compared with
	boolean  predicate // a condition
	function bool      // boolean is a function call, which can be compared with true
}

// typeName returns the name of the type for messages.
func (x operand) typeName() string {
	switch {
	case x.ref != nil:
		return x.ref.typeName
	case x.literal != nil:
		return x.literal.typeName
	case x.distance != nil:
		return "Edm.Double"
	}
	return "Edm.Boolean"
}

func (x operand) collection() bool { return x.ref != nil && x.ref.collection }

// bind compiles an expression that may be a value or a condition.
func (b *binder) bind(x syntax) (operand, error) {
	switch x := x.(type) {
	case *literal:
		return operand{literal: x}, nil
	case *pathSyntax:
		ref, err := b.resolve(x)
		return operand{ref: ref}, err
	case *callSyntax:
		return b.call(x)
	case *logicalSyntax:
		p, err := b.logical(x)
		return operand{boolean: p}, err
	case *notSyntax:
		p, err := b.not(x)
		return operand{boolean: p}, err
	case *comparisonSyntax:
		p, err := b.comparison(x)
		return operand{boolean: p}, err
	case *lambdaSyntax:
		p, err := b.lambda(x)
		return operand{boolean: p}, err
	case *negateSyntax:
		return operand{}, refuse("The unary operator '-' is not supported.")
	}
	return operand{}, refuse("The wildcard '*' is not supported in this expression.")
}

// condition converts an operand to a condition: a condition itself, a Boolean field or a constant. For other
// operands it returns false.
func (b *binder) condition(x operand) (p predicate, ok bool, err error) {
	switch {
	case x.boolean != nil:
		return x.boolean, true, nil
	case x.literal != nil && x.literal.kind == literalBoolean:
		return constant(x.literal.boolean), true, nil
	case x.ref != nil && x.ref.field.Type == stored.Boolean && !x.ref.collection:
		if err := b.filterable(x.ref); err != nil {
			return nil, false, err
		}
		return &isTrue{x.ref.path}, true, b.clause()
	}
	return nil, false, nil
}

// clause counts a comparison or function call, and returns an error above maxClauses.
func (b *binder) clause() error {
	if b.clauses++; b.clauses > maxClauses {
		return refuse("The filter has too many clauses. At most %d comparisons and function calls are allowed; search.in counts as one.", maxClauses)
	}
	return nil
}

func (b *binder) logical(x *logicalSyntax) (predicate, error) {
	kind := "And"
	if x.or {
		kind = "Or"
	}
	terms := make([]predicate, len(x.terms))
	left, err := b.bind(x.terms[0])
	if err != nil {
		return nil, err
	}
	for i, term := range x.terms[1:] {
		right, err := b.bind(term)
		if err != nil {
			return nil, err
		}
		if left.collection() || right.collection() {
			return nil, notSingle(kind)
		}
		leftOK := true
		if i == 0 {
			if terms[0], leftOK, err = b.condition(left); err != nil {
				return nil, err
			}
		}
		p, rightOK, err := b.condition(right)
		if err != nil {
			return nil, err
		}
		if !leftOK || !rightOK {
			return nil, incompatible(left.typeName(), right.typeName(), kind)
		}
		// The first two terms form the left operand of the third.
		terms[i+1], left = p, operand{boolean: p}
	}
	if x.or {
		return or(terms), nil
	}
	return and(terms), nil
}

func (b *binder) not(x *notSyntax) (predicate, error) {
	operand, err := b.bind(x.operand)
	if err != nil {
		return nil, err
	}
	if operand.collection() {
		return nil, refuse("The operand for a unary operator 'Not' is not a single value. Unary operators require the operand to be a single value.")
	}
	p, ok, err := b.condition(operand)
	if err == nil && !ok {
		err = refuse("A unary operator with an incompatible type was detected. Found operand type '%s' for operator kind 'Not'.", operand.typeName())
	}
	return not{p}, err
}

// resolve returns the field or range variable that a path names.
func (b *binder) resolve(x *pathSyntax) (*reference, error) {
	if x.parent != nil {
		return nil, noSuchProperty(x.names[0], "Edm.Boolean")
	}
	ref := &reference{text: strings.Join(x.names, "/"), typeName: documentType}
	names, fields := x.names, b.options.Fields
	i := slices.IndexFunc(b.scope, func(v variable) bool { return v.name == names[0] })
	if i >= 0 {
		v := b.scope[i]
		ref.field, ref.typeName, fields, names = v.field, v.typeName, v.field.ByName, names[1:]
	}
	if err := ref.follow(names, fields); err != nil {
		return nil, err
	}
	if last := len(b.scope) - 1; i < last {
		return nil, unbound("The field reference '"+ref.text+"'", b.scope[last].name)
	}
	return ref, nil
}

// follow resolves names from field to field.
func (r *reference) follow(names []string, fields map[string]*stored.Field) error {
	for _, name := range names {
		if r.collection {
			return throughCollection(name)
		}
		f, ok := fields[name]
		if !ok {
			return noSuchProperty(name, r.typeName)
		}
		r.field, r.path, r.collection, fields = f, append(r.path, f.Ordinal), f.Collection, f.ByName
		r.typeName = childType(r.typeName, f)
	}
	return nil
}

// complexType is the prefix of the type names of complex fields, before the path.
const complexType = "search.complex."

// childType returns the type name of a field in an object of type parent.
func childType(parent string, f *stored.Field) string {
	switch {
	case f.Type != stored.Complex:
		return f.Type.String()
	case strings.HasPrefix(parent, complexType):
		return parent + "." + f.Name
	}
	return complexType + f.Name
}

func (b *binder) filterable(r *reference) error {
	if !r.field.Filterable {
		return refuse("'%s' is not a filterable field. Only filterable fields can be used in filter expressions.", b.fieldPath(r))
	}
	return nil
}

// fieldPath returns the path of a field, with a range variable replaced by its collection.
func (b *binder) fieldPath(r *reference) string {
	first, rest, nested := strings.Cut(r.text, "/")
	i := slices.IndexFunc(b.scope, func(v variable) bool { return v.name == first })
	if i < 0 {
		return r.text
	}
	path := b.scope[i].path
	if nested {
		path += "/" + rest
	}
	return path
}
