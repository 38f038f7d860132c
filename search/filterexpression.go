package search

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// expressionKind says how tightly the outermost operator of an expression
// binds.
type expressionKind int

// From the tightest to the loosest, as the service ranks its operators. Nothing
// is known of raw text.
const (
	primaryExpression    expressionKind = iota // a field, a constant, a function, any and all
	notExpression                              //
	comparisonExpression                       //
	andExpression                              //
	orExpression                               //
	rawExpression
)

// expression is a node of the tree that a Filter is. It does not change. Trees
// may be as deep as programs make them in loops, therefore nothing here walks
// them by recursion.
type expression struct {
	kind     expressionKind
	text     string        // all of it, or what comes before the operand of a lambda
	operands []*expression // of and, or, not, and a lambda
	problems []error       // its own and those of its operands
}

// nowhere matches no document, and everywhere each. They are constants: conditions such as
// one that a field is null and is not would depend on a field. The service refuses them in a
// lambda, so they are folded: they stand in a filter only if they are all of it.
var (
	nowhere    = &expression{kind: primaryExpression, text: "false"}
	everywhere = &expression{kind: primaryExpression, text: "true"}
)

// constant returns the expression that is a constant, or a filter that has only the problems
// of others if there are any.
func constant(e *expression, problems []error) Filter {
	if len(problems) > 0 {
		return invalid(problems...)
	}
	return Filter{e}
}

// encloses reports whether operand stands in parentheses in e. The operand of a
// lambda stands between its parentheses already. not needs them around
// everything but a primary expression, and has them around another not as well,
// for the reader.
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
	todo := []any{e} // expressions and texts, the next one last
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

// balanced returns what is wrong with the quotes and parentheses of text.
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

// validText returns errNotUTF8 for text that cannot be sent as it is: JSON
// would replace what is wrong.
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
