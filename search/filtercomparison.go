package search

import (
	"errors"
	"fmt"
)

// Eq returns the filter that matches where the field equals value. Strings are
// compared whole and case-sensitively, unless the field has a normalizer.
//
// path is the path of a filterable field: "Rating", "Address/City", or inside of
// Any and All one that begins with the range variable, "room/BaseRate".
//
// value is a string, a bool, an integer, a float (NaN and the infinities as
// well), a json.Number, a time.Time (compared in UTC and in milliseconds, which
// is what documents keep), a pointer to one of these or a type of such a kind.
// nil and nil pointers stand for null. A type with MarshalText is the string that
// this writes, as in documents. Types with MarshalJSON must be converted first:
// their kind says nothing about what documents hold. For points see GeoDistance.
func Eq(path string, value any) Filter { return compare(path, "eq", value) }

// Ne returns the filter that matches where the field does not equal value, which
// includes where it is null, unless value is nil. For path and value see Eq.
func Ne(path string, value any) Filter { return compare(path, "ne", value) }

// Gt returns the filter that matches where the field is greater than value: a
// number, a time or a string. (The service does not document how strings are
// ordered, but its advice for paging by key is to compare them.) It is not met
// where the field is null. For path see Eq.
func Gt(path string, value any) Filter { return compare(path, "gt", value) }

// Ge is Gt for greater than or equal to value.
func Ge(path string, value any) Filter { return compare(path, "ge", value) }

// Lt is Gt for less than value.
func Lt(path string, value any) Filter { return compare(path, "lt", value) }

// Le is Gt for less than or equal to value.
func Le(path string, value any) Filter { return compare(path, "le", value) }

// IsTrue returns the filter that matches where a boolean field is true, not where
// it is false or null. For path see Eq.
func IsTrue(path string) Filter {
	if err := checkPath(path); err != nil {
		return invalid(err)
	}
	return Filter{&expression{kind: primaryExpression, text: path}}
}

// IsNull returns the filter that matches where the field is null. Collections are
// never null: see NotEmpty. For path see Eq.
func IsNull(path string) Filter { return Eq(path, nil) }

// IsNotNull returns the filter that matches where the field is not null. For path
// see Eq.
func IsNotNull(path string) Filter { return Ne(path, nil) }

// compare returns the filter that compares a field with a value.
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

// comparison returns the filter for operands that have been checked.
func comparison(left, operator, right string) Filter {
	return Filter{&expression{kind: comparisonExpression, text: left + " " + operator + " " + right}}
}

// comparable returns why the service has no such comparison with the literal.
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
