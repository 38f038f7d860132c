package search

import (
	"errors"
	"fmt"
	"strings"
)

// Filter is a condition that documents meet or not, the value of $filter in
// queries. It is made by the functions of this package (Eq, In, And, Any,
// GeoDistance, …), which write every value as a literal that nothing in the
// value can end: what a user typed can be compared with, and never becomes part
// of the condition. Filterf makes one from a format, RawFilter from text that is
// a filter already.
//
// The zero Filter is no filter: all documents meet it. A Filter does not change
// and can be used by many goroutines and in many other filters.
//
// What is wrong with an argument is kept in the Filter and in every Filter made
// with it. The operation that is given such a Filter sends nothing and returns
// an *InvalidFilterError; Err returns it earlier.
type Filter struct {
	expr *expression // nil: no filter
}

// RawFilter returns the filter that text says, in the OData syntax of the
// service. It is for filters that were written by whoever writes the program:
// what text says, it says, so the values of others do not belong into it. See
// Filterf for those. It is checked only for quotes and parentheses that have no
// partner, so that it cannot reach beyond its place in a larger filter. The
// service checks the rest. Text that is empty or blank is no filter.
func RawFilter(text string) Filter {
	if strings.TrimSpace(text) == "" {
		return Filter{}
	}
	e := &expression{kind: rawExpression, text: text}
	if err := balanced(text); err != nil {
		e.problems = []error{err}
	}
	return Filter{e}
}

// And returns the filter that matches where all operands do. Operands that are
// no filter are left out, so that And() is no filter as well.
func And(operands ...Filter) Filter {
	return joined(andExpression, operands)
}

// Or returns the filter that matches where any of the operands does: nowhere, if
// there are none. An operand that is no filter is an error, because all
// documents would meet the result.
func Or(operands ...Filter) Filter {
	for i, f := range operands {
		if f.expr == nil {
			return invalid(fmt.Errorf("operand %d of Or is no filter, so that every document would match: leave it out, or leave out Or", i+1))
		}
	}
	if len(operands) == 0 {
		return Filter{nowhere}
	}
	return joined(orExpression, operands)
}

// Not returns the filter that matches where operand does not. Not of no filter is
// an error, because no document would meet the result.
func Not(operand Filter) Filter {
	if operand.expr == nil {
		return invalid(errors.New("the operand of Not is no filter, so that no document would match"))
	}
	switch operand.expr {
	case nowhere:
		return Filter{everywhere}
	case everywhere:
		return Filter{nowhere}
	}
	return Filter{&expression{
		kind:     notExpression,
		operands: []*expression{operand.expr},
		problems: operand.expr.problems,
	}}
}

// IsZero reports whether f is no filter.
func (f Filter) IsZero() bool { return f.expr == nil }

// Err returns what is wrong with the arguments that f was made of, all of it, as
// an *InvalidFilterError, or nil.
func (f Filter) Err() error {
	if f.expr == nil || len(f.expr.problems) == 0 {
		return nil
	}
	return &InvalidFilterError{Problems: f.expr.problems}
}

// String returns f as the service reads it, "" if it is no filter. If Err is
// not nil it returns a text about that which is not a filter.
func (f Filter) String() string {
	if err := f.Err(); err != nil {
		return "!" + err.Error()
	}
	if f.expr == nil {
		return ""
	}
	return f.expr.print()
}

// InvalidFilterError says what is wrong with the arguments that a Filter was
// made of. Nothing was sent.
type InvalidFilterError struct {
	// Problems holds everything that is wrong, in the order in which the filter
	// is read.
	Problems []error
}

// Error names the first few problems.
func (e *InvalidFilterError) Error() string {
	return "invalid filter: " + firstFew(e.Problems, error.Error)
}

// Unwrap returns Problems.
func (e *InvalidFilterError) Unwrap() []error { return e.Problems }

// invalid returns the Filter for arguments that no filter can be made of.
func invalid(problems ...error) Filter {
	return Filter{&expression{kind: primaryExpression, problems: problems}}
}

// joined returns the operands that are filters, joined by and or by or.
func joined(kind expressionKind, operands []Filter) Filter {
	e := &expression{kind: kind}
	neutral, decisive := everywhere, nowhere
	if kind == orExpression {
		neutral, decisive = nowhere, everywhere
	}
	without, decided := false, false
	for _, f := range operands {
		switch f.expr {
		case nil:
			continue
		case neutral:
			without = true
			continue
		case decisive:
			decided = true
		}
		e.operands = append(e.operands, f.expr)
		e.problems = append(e.problems, f.expr.problems...)
	}
	switch {
	case decided:
		return constant(decisive, e.problems)
	case len(e.operands) == 0 && without:
		return Filter{neutral}
	}
	switch len(e.operands) {
	case 0:
		return Filter{}
	case 1:
		return Filter{e.operands[0]}
	}
	return Filter{e}
}
