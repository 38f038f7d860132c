package search

import (
	"fmt"
	"slices"
	"strings"
)

// In returns a filter that matches if the field equals one of the values. Without values it matches no document.
// Strings become search.in, which the service evaluates fast for thousands of values. Other values, and strings that
// search.in cannot express, become separate comparisons; the service accepts some hundreds of them in a filter. For
// path and values see Eq.
func In[T any](path string, values ...T) Filter {
	var problems []error
	if err := checkPath(path); err != nil {
		problems = append(problems, err)
	}
	var listed []string // distinct quoted strings
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

// delimiters are the possible delimiters of a list, by preference. The filter always names one, because the service's
// default delimiters include the space.
const delimiters = ",|;~^#!&:/$@"

// listable reports whether a quoted string can be in a search.in. The service does not document what it does with
// white space around values, and a list cannot contain the empty string.
func listable(quoted string) bool {
	s := quoted[1 : len(quoted)-1]
	return s != "" && s == strings.TrimSpace(s)
}

// searchIn returns filters for the listed strings, to be joined by or. It is a single search.in if there is a
// delimiter that occurs in none of the strings.
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

// listOf returns the filter for quoted strings that do not contain the delimiter.
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
