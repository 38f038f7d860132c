package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// InvalidQueryError lists the problems of a query. Nothing was sent.
type InvalidQueryError struct {
	// Problems holds all problems.
	Problems []*OptionError
}

// Error names the first five problems.
func (e *InvalidQueryError) Error() string {
	return "nothing was sent, because the query is not valid: " + firstFew(e.Problems, (*OptionError).Error)
}

// Unwrap returns the problems.
func (e *InvalidQueryError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// OptionError is the problem of one option of a query: a value that the service would refuse, options that exclude
// each other, an option that the api-version of the client lacks, or an invalid filter (*InvalidFilterError).
type OptionError struct {
	// Option is the name of the option or argument: "VectorQueries[0].K", "the search text".
	Option string
	// Err is the problem.
	Err error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *OptionError) Unwrap() error { return e.Err }

// queryBody is the body of a request under construction. Each of its methods checks one option and writes its member
// if the option is set, so that no option is written unchecked.
type queryBody struct {
	version  apiversion.Version
	prefix   string // of option names: "VectorQueries[0]."
	out      []byte
	problems []*OptionError
}

func newQueryBody(version apiversion.Version) *queryBody {
	return &queryBody{version: version, out: []byte{'{'}}
}

// end returns the body, or all problems as an *InvalidQueryError.
func (b *queryBody) end() ([]byte, error) {
	if len(b.problems) > 0 {
		return nil, &InvalidQueryError{Problems: b.problems}
	}
	return append(b.out, '}'), nil
}

func (b *queryBody) problem(option string, err error) {
	b.problems = append(b.problems, &OptionError{Option: b.prefix + option, Err: err})
}

func (b *queryBody) problemf(option, format string, args ...any) {
	b.problem(option, fmt.Errorf(format, args...))
}

// needs records a problem if the version lacks an option that is set.
func (b *queryBody) needs(option string, c apiversion.Capability) {
	if err := missing(b.version, c); err != nil {
		b.problem(option, err)
	}
}

// name writes the name of a member.
func (b *queryBody) name(member string) {
	if n := len(b.out); b.out[n-1] != '{' && b.out[n-1] != '[' {
		b.out = append(b.out, ',')
	}
	b.out = append(append(append(b.out, '"'), member...), '"', ':')
}

// string writes a string that is already checked.
func (b *queryBody) string(member, value string) {
	encoded, _ := json.Marshal(value) // a string always encodes
	b.name(member)
	b.out = append(b.out, encoded...)
}

// text writes a string of the caller, unless it is "".
func (b *queryBody) text(member, option, value string) {
	if value == "" {
		return
	}
	if err := validText(value); err != nil {
		b.problem(option, err)
		return
	}
	b.string(member, value)
}

// flag writes a boolean that is true, since the default is false.
func (b *queryBody) flag(member string, value bool) {
	if value {
		b.name(member)
		b.out = append(b.out, "true"...)
	}
}

// integer writes a number that is not 0.
func (b *queryBody) integer(member string, value int) {
	if value != 0 {
		b.name(member)
		b.out = strconv.AppendInt(b.out, int64(value), 10)
	}
}

// number writes a finite number.
func (b *queryBody) number(member string, value float64) {
	encoded, _ := json.Marshal(value) // the caller has checked that it is finite
	b.name(member)
	b.out = append(b.out, encoded...)
}

// additional writes members that have no option into the object that begins at start.
func (b *queryBody) additional(start int, members map[string]json.RawMessage) {
	written := append(slices.Clone(b.out[start:]), '}')
	for _, member := range slices.Sorted(maps.Keys(members)) {
		option, value := fmt.Sprintf("AdditionalProperties[%q]", member), members[member]
		switch {
		case validText(member) != nil || !utf8.Valid(value):
			b.problem(option, errNotUTF8)
		case !json.Valid(value):
			b.problemf(option, "%s is not JSON: a string takes quotes", clip(string(value)))
		case has(written, member):
			b.problemf(option, "an option has written %q: set one of them", member)
		default:
			name, _ := json.Marshal(member) // a string always encodes
			b.name(string(name[1 : len(name)-1]))
			b.out = append(b.out, value...)
		}
	}
}

// has reports whether an object has a member.
func has(object []byte, member string) (found bool) {
	_ = wire.EachMember(object, func(name, _ []byte) bool {
		found = found || wire.Quotes(name, member)
		return !found
	})
	return found
}

// oneOf writes one of the known values of an option.
func oneOf[S ~string](b *queryBody, member, option string, value S, known ...S) {
	switch {
	case value == "":
	case !slices.Contains(known, value):
		names := make([]string, len(known))
		for i, k := range known {
			names[i] = strconv.Quote(string(k))
		}
		b.problemf(option, "%s is none of %s", clip(string(value)), strings.Join(names, ", "))
	default:
		b.string(member, string(value))
	}
}

// paths writes a list of fields as one comma-separated string.
func (b *queryBody) paths(member, option string, paths []string, check func(string) error) {
	for _, path := range paths {
		if err := check(path); err != nil {
			b.problem(option, err)
		}
	}
	if len(paths) > 0 {
		b.string(member, strings.Join(paths, ","))
	}
}

// strings writes a list of strings that are already checked.
func (b *queryBody) strings(member string, list []string) {
	if len(list) > 0 {
		encoded, _ := json.Marshal(list) // strings always encode
		b.name(member)
		b.out = append(b.out, encoded...)
	}
}

func (b *queryBody) filter(member, option string, filter Filter) {
	switch err := filter.Err(); {
	case err != nil:
		b.problem(option, err)
	case !filter.IsZero():
		b.text(member, option, filter.String())
	}
}

// maxOrderBy is the largest number of clauses that the service accepts.
const maxOrderBy = 32

func (b *queryBody) orderBy(clauses []string) {
	if len(clauses) > maxOrderBy {
		b.problemf("OrderBy", "it has %d clauses, the service takes %d", len(clauses), maxOrderBy)
	}
	for i, clause := range clauses {
		if strings.TrimSpace(clause) == "" {
			b.problemf("OrderBy", "clause %d is empty", i)
		}
		if wrong, is := strings.CutPrefix(clause, "!"); is { // from Distance.order
			b.problemf("OrderBy", "clause %d: %s", i, wrong)
		}
	}
	b.text("orderby", "OrderBy", strings.Join(clauses, ","))
}

// tags writes the tags around matches: both or neither.
func (b *queryBody) tags(pre, post string) {
	if (pre == "") != (post == "") {
		b.problem("HighlightPreTag", errors.New("HighlightPreTag and HighlightPostTag go together: set both or neither"))
	}
	b.text("highlightPreTag", "HighlightPreTag", pre)
	b.text("highlightPostTag", "HighlightPostTag", post)
}

func (b *queryBody) coverage(percent *float64) {
	switch {
	case percent == nil:
	case !(*percent >= 0 && *percent <= 100): // the negation also catches NaN
		b.problemf("MinimumCoverage", "%v is not a percentage from 0 to 100", *percent)
	default:
		b.number("minimumCoverage", *percent)
	}
}

// positive checks a number for which 0 means the default. It returns true if the number is valid and not 0.
func (b *queryBody) positive(option string, value, least float64) bool {
	switch {
	case value == 0:
		return false
	case !(value >= least) || value <= 0 || math.IsInf(value, 0): // the negation also catches NaN
		if least > 0 {
			b.problemf(option, "%v is not a number from %v on", value, least)
		} else {
			b.problemf(option, "%v is not a number above 0", value)
		}
		return false
	}
	return true
}

// selectPath checks an entry of Select.
func selectPath(path string) error {
	if path == "*" {
		return nil
	}
	return checkPath(path)
}

// highlightPath checks an entry of HighlightFields: a path, optionally with a dash and a number of fragments.
func highlightPath(path string) error {
	name, number, found := strings.Cut(path, "-")
	if found {
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 1000 || number[0] == '+' {
			return fmt.Errorf("%s does not end in a number of fragments from 1 to 1000", clip(path))
		}
	}
	return checkPath(name)
}
