package search

import (
	"errors"
	"fmt"
	"strings"
)

// IsMatchOptions are the options of IsMatch and IsMatchScoring. nil and the zero
// value are ready to use.
type IsMatchOptions struct {
	// SearchFields are the paths of the fields to search. Defaults to all searchable fields.
	SearchFields []string
	// FullSyntax parses the text in the full Lucene syntax. It needs SearchFields. Defaults to the simple syntax.
	FullSyntax bool
	// AllTerms requires all terms of the text. It needs SearchFields. Defaults to any term.
	AllTerms bool
}

// IsMatch returns a filter that matches if a full-text search for text finds the document. It does not affect scores.
// Operators in text take effect, even if a user typed them, but only within the search; EscapeText makes them literal.
// The service refuses the filter in Any and All, and in suggestions and completions.
func IsMatch(text string, opts *IsMatchOptions) Filter {
	return match("search.ismatch", text, opts)
}

// IsMatchScoring is IsMatch, but the match contributes to the score of the document.
func IsMatchScoring(text string, opts *IsMatchOptions) Filter {
	return match("search.ismatchscoring", text, opts)
}

func match(function, text string, opts *IsMatchOptions) Filter {
	if opts == nil {
		opts = &IsMatchOptions{}
	}
	var problems []error
	arguments, err := quoteText(text)
	if err != nil {
		problems = append(problems, fmt.Errorf("%s: %w", function, err))
	}
	for _, path := range opts.SearchFields {
		if err := checkPath(path); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", function, err))
		}
	}
	more := opts.FullSyntax || opts.AllTerms
	if more && len(opts.SearchFields) == 0 {
		// In the service's grammar they come after the fields.
		problems = append(problems, errors.New(function+": FullSyntax and AllTerms need SearchFields"))
	}
	if len(problems) > 0 {
		return invalid(problems...)
	}
	call := function + "(" + arguments.text
	if len(opts.SearchFields) > 0 {
		call += ", " + quoteString(strings.Join(opts.SearchFields, ","))
	}
	if more {
		syntax, mode := "simple", "any"
		if opts.FullSyntax {
			syntax = "full"
		}
		if opts.AllTerms {
			mode = "all"
		}
		call += ", " + quoteString(syntax) + ", " + quoteString(mode)
	}
	return Filter{&expression{kind: primaryExpression, text: call + ")"}}
}
