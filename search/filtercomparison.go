package search

import (
	"errors"
	"fmt"
)

// Eq returns a filter that matches if the field equals value. Strings are compared whole and case-sensitively, unless
// the field has a normalizer.
//
// path is the path of a filterable field: "Rating" or "Address/City". Within Any and All it begins with the range
// variable: "room/BaseRate".
//
// value is a string, a bool, an integer, a float (including NaN and the infinities), a json.Number, a time.Time, a
// type of such a kind, or a pointer to one of these. A time is compared in UTC and in milliseconds, the precision
// that documents keep. nil and nil pointers stand for null. A type with MarshalText is written as that string, as in
// documents. Types with MarshalJSON must be converted first, because their kind does not determine the JSON in
// documents. For points see GeoDistance.
func Eq(path string, value any) Filter { return compare(path, "eq", value) }

// Ne returns a filter that matches if the field does not equal value. Null differs from every value but nil. For path
// and value see Eq.
func Ne(path string, value any) Filter { return compare(path, "ne", value) }

// Gt returns a filter that matches if the field is greater than value: a number, a time or a string. The service does
// not document how strings are ordered, but recommends comparing keys for paging. A null field does not match. For
// path see Eq.
func Gt(path string, value any) Filter { return compare(path, "gt", value) }

// Ge is Gt for greater than or equal to value.
func Ge(path string, value any) Filter { return compare(path, "ge", value) }

// Lt is Gt for less than value.
func Lt(path string, value any) Filter { return compare(path, "lt", value) }

// Le is Gt for less than or equal to value.
func Le(path string, value any) Filter { return compare(path, "le", value) }

// IsTrue returns a filter that matches if a boolean field is true. False and null do not match. For path see Eq.
func IsTrue(path string) Filter {
	if err := checkPath(path); err != nil {
		return invalid(err)
	}
	return Filter{&expression{kind: primaryExpression, text: path}}
}

// IsNull returns a filter that matches if the field is null. Collections are never null: see NotEmpty. For path see
// Eq.
func IsNull(path string) Filter { return Eq(path, nil) }

// IsNotNull returns a filter that matches if the field is not null. For path see Eq.
func IsNotNull(path string) Filter { return Ne(path, nil) }

// compare returns the comparison of a field with a value.
func compare(path, operator string, value any) Filter {
	var problems []error
	if err := checkPath(path); err != nil {
		problems = append(problems, err)
	}
	literal, err := literalOf(value)
	if err == nil {
		err = literal.comparable(operator)
	}
	if err != nil {
		problems = append(problems, fmt.Errorf("%s %s: %w", clip(path), operator, err))
	}
	if len(problems) > 0 {
		return invalid(problems...)
	}
	return comparison(path, operator, literal.text)
}

// comparison returns the comparison of operands that are already checked.
func comparison(left, operator, right string) Filter {
	return Filter{&expression{kind: comparisonExpression, text: left + " " + operator + " " + right}}
}

// comparable returns an error if the service cannot compare the literal with this operator.
func (l literal) comparable(operator string) error {
	switch ordered := operator != "eq" && operator != "ne"; {
	case l.kind == pointLiteral:
		return errors.New("points cannot be compared: see GeoDistance")
	case l.kind == nullLiteral && ordered:
		return errors.New("null has no order: it can only be equal or not")
	case l.kind == boolLiteral && ordered:
		return errors.New("booleans have no order: they can only be equal or not")
	}
	return nil
}
