package search

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// expressionKind is the precedence of the outermost operator of an expression.
type expressionKind int

// From the tightest to the loosest, in the precedence of the service. Raw text is last, because its operator is
// unknown.
const (
	primaryExpression    expressionKind = iota // a field, a constant, a function, any and all
	notExpression                              //
	comparisonExpression                       //
	andExpression                              //
	orExpression                               //
	rawExpression
)

// expression is an immutable node in the tree of a Filter. Nothing walks the tree recursively, because a program may
// build a very deep one in a loop.
type expression struct {
	kind     expressionKind
	text     string        // the whole text, or the part before the operand of a lambda
	operands []*expression // of and, or, not, and a lambda
	problems []error       // its own and those of its operands
}

// nowhere matches no document, and everywhere matches each one. They are constants, because a condition that no
// document meets would have to name a field. The service refuses constants in a lambda. Therefore they are folded,
// and appear only as the whole filter.
var (
	nowhere    = &expression{kind: primaryExpression, text: "false"}
	everywhere = &expression{kind: primaryExpression, text: "true"}
)

// constant returns the constant as a Filter, or a Filter with only the problems if there are any.
func constant(e *expression, problems []error) Filter {
	if len(problems) > 0 {
		return invalid(problems...)
	}
	return Filter{e}
}

// encloses reports whether operand needs parentheses in e. The text of a lambda already has them. For not they
// enclose everything but a primary expression. A nested not would not need them, but is easier to read with them.
func (e *expression) encloses(operand *expression) bool {
	switch e.kind {
	case notExpression:
		return operand.kind != primaryExpression
	case andExpression, orExpression:
		return operand.kind > e.kind
	}
	return false
}

// print returns the expression in the service's syntax.
func (e *expression) print() string {
	var b strings.Builder
	todo := []any{e} // a stack of expressions and texts
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch next := next.(type) {
		case string:
			b.WriteString(next)
		case *expression:
			todo = next.unfold(todo)
		}
	}
	return b.String()
}

// unfold pushes the parts of e, the last one first.
func (e *expression) unfold(todo []any) []any {
	between, after := "", ""
	switch e.kind {
	case andExpression:
		between = " and "
	case orExpression:
		between = " or "
	case primaryExpression:
		if len(e.operands) > 0 {
			after = ")"
		}
	}
	todo = append(todo, after)
	for i := len(e.operands) - 1; i >= 0; i-- {
		if operand := e.operands[i]; e.encloses(operand) {
			todo = append(todo, ")", operand, "(")
		} else {
			todo = append(todo, operand)
		}
		if i > 0 {
			todo = append(todo, between)
		}
	}
	if e.kind == notExpression {
		return append(todo, "not ")
	}
	return append(todo, e.text)
}

// balanced returns an error for unbalanced quotes or parentheses in text.
func balanced(text string) error {
	if err := validText(text); err != nil {
		return fmt.Errorf("the text of a filter %w", err)
	}
	var open []int // the positions of parentheses
	quoted := -1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' && quoted < 0:
			quoted = i
		case strings.HasPrefix(text[i:], "''"):
			i++ // a quote in the string
		case c == '\'':
			quoted = -1
		case quoted >= 0:
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) == 0:
			return fmt.Errorf("the parenthesis at position %d of %s closes nothing", i, clip(text))
		case c == ')':
			open = open[:len(open)-1]
		}
	}
	switch {
	case quoted >= 0:
		return fmt.Errorf("the string that begins at position %d of %s does not end", quoted, clip(text))
	case len(open) > 0:
		return fmt.Errorf("the parenthesis at position %d of %s is not closed", open[len(open)-1], clip(text))
	}
	return nil
}

var errNotUTF8 = errors.New("is not valid UTF-8")

// validText returns errNotUTF8 for text in which JSON encoding would replace characters.
func validText(s string) error {
	if !utf8.ValidString(s) {
		return errNotUTF8
	}
	return nil
}

// clip quotes the beginning of a text for an error.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
}
