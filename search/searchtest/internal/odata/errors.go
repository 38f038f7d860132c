package odata

import (
	"fmt"
	"unicode/utf16"
)

// Error is the refusal of an expression. Message is what the service says
// between "Invalid expression: " and "\r\nParameter name: $filter", which are
// for the caller to add. A mistake in the syntax is worded, and its place
// counted, as Microsoft.OData.Core does, because the service is built on it.
type Error struct {
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// position counts the UTF-16 units before a byte of text: the library that
// reports them works on UTF-16.
func position(text string, offset int) int {
	n := 0
	for _, r := range text[:offset] {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

const (
	// tooDeep is what the library says of nested expressions.
	tooDeep = "Recursion depth exceeded allowed limit."

	notOneLiteral = "Comparison must be between a field, range variable or function call and a literal value."
	notBoolean    = "The $filter expression must evaluate to a single boolean value."
)

func incompatible(left, right, kind string) error {
	return refuse("A binary operator with incompatible types was detected. Found operand types '%s' and '%s' for operator kind '%s'.", left, right, kind)
}

func notSingle(kind string) error {
	return refuse("The operand for a binary operator '%s' is not a single value. Binary operators require both operands to be single values.", kind)
}

func noSuchProperty(name, typeName string) error {
	return refuse("Could not find a property named '%s' on type '%s'.", name, typeName)
}

func throughCollection(name string) error {
	return refuse("The parent value for a property access of a property '%s' is not a single value. Property access can only be applied to a single value.", name)
}

func unbound(what, variable string) error {
	return refuse("%s is not bound to the range variable '%s'. Only bound field references are supported inside lambda expressions ('any' or 'all'). Please change your filter so that it is outside the lambda expression and try again.", what, variable)
}
