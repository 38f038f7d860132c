package odata

import (
	"fmt"
	"unicode/utf16"
)

// Error is returned for an invalid or unsupported expression. Message is the service's text between "Invalid
// expression: " and "\r\nParameter name: $filter"; the caller adds these. Words and positions of syntax errors are
// those of Microsoft.OData.Core, which the service uses.
type Error struct {
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// position returns the number of UTF-16 units before a byte offset. The library reports positions in UTF-16 units.
func position(text string, offset int) int {
	n := 0
	for _, r := range text[:offset] {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

const (
	// tooDeep is the library's message for expressions that are nested too deeply.
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
