package odata

import (
	"slices"
	"strings"
)

// maxDepth is the maximum nesting of expressions: a parenthesis takes eight of the library's limit of 800 recursive
// calls.
const maxDepth = 100

// syntax is a parsed expression whose names are not resolved yet.
type syntax interface{}

type (
	// pathSyntax is a field, a range variable, or a sub-field of one.
	pathSyntax struct {
		parent syntax // start of the path; nil for the document
		names  []string
	}
	callSyntax struct {
		name string
		args []syntax
	}
	// logicalSyntax joins terms by and, or by or.
	logicalSyntax struct {
		or    bool
		terms []syntax
	}
	notSyntax struct {
		operand syntax
	}
	negateSyntax struct {
		operand syntax
	}
	// comparisonSyntax is a comparison, or arithmetic, which is refused later.
	comparisonSyntax struct {
		op          operator
		left, right syntax
	}
	// lambdaSyntax is any or all. Without a variable it has no body.
	lambdaSyntax struct {
		collection syntax
		all        bool
		variable   string
		body       syntax
	}
	starSyntax struct{}
)

// operator is a comparison or arithmetic operator.
type operator uint8

const (
	opEqual operator = iota
	opNotEqual
	opGreater
	opGreaterOrEqual
	opLess
	opLessOrEqual
	opHas // from here on not supported
	opAdd
	opSub
	opMul
	opDiv
	opMod
)

var operators = [...]struct{ keyword, kind string }{
	opEqual:          {"eq", "Equal"},
	opNotEqual:       {"ne", "NotEqual"},
	opGreater:        {"gt", "GreaterThan"},
	opGreaterOrEqual: {"ge", "GreaterThanOrEqual"},
	opLess:           {"lt", "LessThan"},
	opLessOrEqual:    {"le", "LessThanOrEqual"},
	opHas:            {"has", "Has"},
	opAdd:            {"add", "Add"},
	opSub:            {"sub", "Subtract"},
	opMul:            {"mul", "Multiply"},
	opDiv:            {"div", "Divide"},
	opMod:            {"mod", "Modulo"},
}

// kind returns the name of the operator for messages.
func (op operator) kind() string { return operators[op].kind }

// ordered reports whether the operator compares by order, not by equality.
func (op operator) ordered() bool { return opGreater <= op && op <= opLessOrEqual }

// swapped returns the operator for exchanged sides.
func (op operator) swapped() operator {
	switch op {
	case opGreater:
		return opLess
	case opGreaterOrEqual:
		return opLessOrEqual
	case opLess:
		return opGreater
	case opLessOrEqual:
		return opGreaterOrEqual
	}
	return op
}

// negated returns the operator with the opposite result.
func (op operator) negated() operator {
	return [...]operator{
		opEqual: opNotEqual, opNotEqual: opEqual,
		opGreater: opLessOrEqual, opLessOrEqual: opGreater,
		opLess: opGreaterOrEqual, opGreaterOrEqual: opLess,
	}[op]
}

// parser parses expressions by the grammar of Microsoft.OData.Core. It recurses only for nesting; sequences are
// loops.
type parser struct {
	lexer
	variables []string // range variables of the enclosing lambda expressions
	depth     int
}

func newParser(text string) (*parser, error) {
	p := &parser{lexer: lexer{src: text}}
	return p, p.advance()
}

// end returns an error unless the whole text was read.
func (p *parser) end() error {
	if p.tok.kind != tokenEnd {
		return p.syntaxError()
	}
	return nil
}

func (p *parser) expression() (syntax, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, refuse(tooDeep)
	}
	defer func() { p.depth-- }()
	return p.logical(true)
}

// logical parses terms joined by or, and within each of them terms joined by and.
func (p *parser) logical(or bool) (syntax, error) {
	term, keyword := p.comparison, "and"
	if or {
		term, keyword = func() (syntax, error) { return p.logical(false) }, "or"
	}
	first, err := term()
	if err != nil || !p.is(keyword) {
		return first, err
	}
	terms := []syntax{first}
	for p.is(keyword) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		next, err := term()
		if err != nil {
			return nil, err
		}
		terms = append(terms, next)
	}
	return &logicalSyntax{or: or, terms: terms}, nil
}

func (p *parser) comparison() (syntax, error) {
	return p.binary(opEqual, opLessOrEqual, func() (syntax, error) {
		return p.binary(opAdd, opSub, func() (syntax, error) {
			return p.binary(opMul, opMod, func() (syntax, error) {
				return p.binary(opHas, opHas, p.unary)
			})
		})
	})
}

// binary parses operands joined by the operators from lowest to highest.
func (p *parser) binary(lowest, highest operator, operand func() (syntax, error)) (syntax, error) {
	left, err := operand()
	for err == nil {
		op := lowest
		for op <= highest && !p.is(operators[op].keyword) {
			op++
		}
		if op > highest {
			return left, nil
		}
		if err = p.advance(); err != nil {
			break
		}
		var right syntax
		right, err = operand()
		left = &comparisonSyntax{op: op, left: left, right: right}
	}
	return nil, err
}

func (p *parser) unary() (syntax, error) {
	minus := p.tok.kind == tokenMinus
	if !minus && !p.is("not") {
		return p.primary()
	}
	if p.depth++; p.depth > maxDepth {
		return nil, refuse(tooDeep)
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	operand, err := p.unary()
	if err != nil {
		return nil, err
	}
	if minus {
		return &negateSyntax{operand}, nil
	}
	return &notSyntax{operand}, nil
}

// primary parses an operand and the segments after slashes.
func (p *parser) primary() (syntax, error) {
	// The library peeks one token ahead here, and reports its lexical error first.
	if _, err := p.peek(); err != nil {
		return nil, err
	}
	x, err := p.primaryStart()
	for err == nil && p.tok.kind == tokenSlash {
		if err = p.advance(); err != nil {
			break
		}
		switch {
		case p.is("any"):
			x, err = p.lambda(x, false)
		case p.is("all"):
			x, err = p.lambda(x, true)
		case p.tok.kind != tokenIdentifier:
			return nil, p.syntaxError()
		default:
			x, err = p.segment(x)
		}
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

func (p *parser) primaryStart() (syntax, error) {
	switch p.tok.kind {
	case tokenIdentifier:
		return p.segment(nil)
	case tokenOpen:
		if err := p.advance(); err != nil {
			return nil, err
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		if p.tok.kind != tokenClose {
			return nil, p.expected("')' or operator")
		}
		return x, p.advance()
	case tokenStar:
		return starSyntax{}, p.advance()
	case tokenString, tokenBoolean, tokenNull, tokenNumber, tokenDateTime, tokenGeography, tokenForeign:
		return p.parseLiteral()
	}
	return nil, p.expected("Expression")
}

// segment parses one name of a path, or a function call.
func (p *parser) segment(parent syntax) (syntax, error) {
	name, err := p.dottedName()
	if err != nil {
		return nil, err
	}
	if p.tok.kind == tokenOpen {
		return p.call(name, parent)
	}
	if path, ok := parent.(*pathSyntax); ok {
		path.names = append(path.names, name)
		return path, nil
	}
	return &pathSyntax{parent: parent, names: []string{name}}, nil
}

// dottedName parses a name such as search.in.
func (p *parser) dottedName() (string, error) {
	var name strings.Builder
	for {
		if p.tok.kind != tokenIdentifier {
			return "", p.syntaxError()
		}
		name.WriteString(p.text())
		if err := p.advance(); err != nil || p.tok.kind != tokenDot {
			return name.String(), err
		}
		name.WriteByte('.')
		if err := p.advance(); err != nil {
			return "", err
		}
	}
}

func (p *parser) call(name string, parent syntax) (syntax, error) {
	c := &callSyntax{name: name}
	if parent != nil {
		return nil, refuse("Found a Uri function '%s' with a parent token. Uri functions cannot have parent tokens.", name)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.tok.kind != tokenClose || len(c.args) > 0 {
		arg, err := p.expression()
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, arg)
		if p.tok.kind != tokenComma {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != tokenClose {
		return nil, p.expected("')' or ','")
	}
	return c, p.advance()
}

// lambda parses the parentheses after any or all.
func (p *parser) lambda(collection syntax, all bool) (syntax, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokenOpen {
		return nil, p.expected("'('")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	x := &lambdaSyntax{collection: collection, all: all}
	if p.tok.kind == tokenClose {
		return x, p.advance()
	}
	if p.tok.kind != tokenIdentifier {
		return nil, p.identifierExpected()
	}
	x.variable = p.text()
	if slices.Contains(p.variables, x.variable) {
		return nil, refuse("The range variable '%s' has already been declared.", x.variable)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokenColon {
		return nil, p.syntaxError()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	p.variables = append(p.variables, x.variable)
	var err error
	if x.body, err = p.expression(); err != nil {
		return nil, err
	}
	p.variables = p.variables[:len(p.variables)-1]
	if p.tok.kind != tokenClose {
		return nil, p.expected("')' or ','")
	}
	return x, p.advance()
}

func (p *parser) identifierExpected() error {
	return refuse("An identifier was expected at position %d.", position(p.src, p.tok.pos))
}
