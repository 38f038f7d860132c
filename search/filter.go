package search

import (
	"errors"
	"fmt"
	"strings"
)

// Filter is a condition on documents, the value of $filter in queries. Make one with the functions of this package
// (Eq, In, And, Any, GeoDistance and so on). They quote every value completely, so that text typed by a user is
// compared with and cannot become part of the condition. Filterf makes a Filter from a format, RawFilter from the
// text of a filter.
//
// The zero Filter matches all documents. A Filter is immutable, safe for concurrent use, and may be part of many
// other filters.
//
// Problems with arguments are kept in the Filter and in every Filter made from it. An operation with such a Filter
// sends nothing and returns an *InvalidFilterError; Err returns that error earlier.
type Filter struct {
	expr *expression // nil matches all documents
}

// RawFilter returns a filter from its text in the OData syntax of the service. Use it for filters that are part of
// the program. Do not insert values from elsewhere into text, because they become part of the condition: use Filterf
// for them. Only the balance of quotes and parentheses is checked, so that the text cannot reach beyond its place in
// a larger filter. The service checks the rest. Blank text returns the zero Filter.
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

// And returns a filter that matches if all operands match. Zero filters are ignored, so And() is the zero Filter.
func And(operands ...Filter) Filter {
	return joined(andExpression, operands)
}

// Or returns a filter that matches if any operand matches. Without operands it matches no document. A zero filter as
// an operand is an error, because the result would match all documents.
func Or(operands ...Filter) Filter {
	for i, f := range operands {
		if f.expr == nil {
			return invalid(fmt.Errorf("operand %d of Or is the zero Filter, which matches every document: leave it out, or leave out Or", i+1))
		}
	}
	if len(operands) == 0 {
		return Filter{nowhere}
	}
	return joined(orExpression, operands)
}

// Not returns a filter that matches if operand does not. A zero filter is an error, because the result would match no
// document.
func Not(operand Filter) Filter {
	if operand.expr == nil {
		return invalid(errors.New("the operand of Not is the zero Filter, so the result would match no document"))
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

// IsZero reports whether f is the zero Filter, which matches all documents.
func (f Filter) IsZero() bool { return f.expr == nil }

// Err returns all problems with the arguments from which f was made as an *InvalidFilterError, or nil.
func (f Filter) Err() error {
	if f.expr == nil || len(f.expr.problems) == 0 {
		return nil
	}
	return &InvalidFilterError{Problems: f.expr.problems}
}

// String returns f in the syntax of the service, "" for the zero Filter. If Err is not nil, the result is an error
// text that is not a valid filter.
func (f Filter) String() string {
	if err := f.Err(); err != nil {
		return "!" + err.Error()
	}
	if f.expr == nil {
		return ""
	}
	return f.expr.print()
}

// InvalidFilterError lists the problems with the arguments of a Filter. Nothing was sent.
type InvalidFilterError struct {
	// Problems holds all problems, from left to right in the filter.
	Problems []error
}

// Error names the first five problems.
func (e *InvalidFilterError) Error() string {
	return "invalid filter: " + firstFew(e.Problems, error.Error)
}

// Unwrap returns Problems.
func (e *InvalidFilterError) Unwrap() []error { return e.Problems }

// invalid returns a Filter that holds only problems.
func invalid(problems ...error) Filter {
	return Filter{&expression{kind: primaryExpression, problems: problems}}
}

// joined returns the non-zero operands, joined by and or by or.
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
