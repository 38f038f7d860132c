package search

import (
	"fmt"
	"slices"
	"strings"
)

// In returns the filter that matches where the field equals one of the values: by
// no document if there are none. Strings are written as search.in, which the
// service evaluates fast for thousands of values; what that cannot express, and
// values that are not strings, are compared one by one, and of comparisons the
// service accepts some hundreds in a filter. For path and what values can be see
// Eq.
func In[T any](path string, values ...T) Filter {
	var problems []error
	if err := checkPath(path); err != nil {
		problems = append(problems, err)
	}
	var listed []string // strings in quotes, none of them twice
	var single []Filter
	seen := make(map[string]bool, len(values))
	for i, value := range values {
		literal, err := literalOf(value)
		if err == nil {
			err = literal.comparable("eq")
		}
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s in, value %d: %w", clip(path), i+1, err))
		case seen[literal.text]:
		case literal.kind == stringLiteral && listable(literal.text):
			listed = append(listed, literal.text)
		default:
			single = append(single, comparison(path, "eq", literal.text))
		}
		if err == nil {
			seen[literal.text] = true
		}
	}
	if len(problems) > 0 {
		return invalid(problems...)
	}
	return Or(append(searchIn(path, listed), single...)...)
}

// delimiters are those that lists are written with, the first choice first. One
// is always said, because the service takes spaces as well for delimiters if
// none is.
const delimiters = ",|;~^#!&:/$@"

// listable reports whether search.in can tell a string from others. It is not
// documented what becomes of white space around the values of a list, and
// between two delimiters there is no value.
func listable(quoted string) bool {
	s := quoted[1 : len(quoted)-1]
	return s != "" && s == strings.TrimSpace(s)
}

// searchIn returns filters one of which matches where the field equals one of the
// listed strings: one search.in if a delimiter is in none of them, or else a few.
func searchIn(path string, listed []string) []Filter {
	for _, delimiter := range delimiters {
		if !slices.ContainsFunc(listed, func(s string) bool { return strings.ContainsRune(s, delimiter) }) {
			return []Filter{listOf(path, listed, delimiter)}[:min(len(listed), 1)]
		}
	}
	var filters []Filter
	for _, delimiter := range delimiters {
		var free, others []string
		for _, s := range listed {
			if strings.ContainsRune(s, delimiter) {
				others = append(others, s)
			} else {
				free = append(free, s)
			}
		}
		if len(free) > 0 {
			filters = append(filters, listOf(path, free, delimiter))
		}
		listed = others
	}
	for _, s := range listed {
		filters = append(filters, comparison(path, "eq", s))
	}
	return filters
}

// listOf returns the filter for strings in quotes that do not contain the
// delimiter.
func listOf(path string, listed []string, delimiter rune) Filter {
	if len(listed) == 1 {
		return comparison(path, "eq", listed[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "search.in(%s, '", path)
	for i, s := range listed {
		if i > 0 {
			b.WriteRune(delimiter)
		}
		b.WriteString(s[1 : len(s)-1])
	}
	fmt.Fprintf(&b, "', '%c')", delimiter)
	return Filter{&expression{kind: primaryExpression, text: b.String()}}
}
