package search

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Filterf returns a filter from a format in the OData syntax of the service. Each verb is replaced with its argument,
// written as a literal:
//
//	search.Filterf("Rating ge %d and HotelName eq %s", 4, name)
//
// The verbs are a subset of those of package fmt, so that go vet checks calls. Each stands for a whole literal,
// including its quotes:
//
//	%s  a string
//	%d  an integer
//	%g  a float
//	%t  a boolean
//	%v  all of these, and what else Eq takes: nil, times, pointers; points
//	    (models.GeographyPoint); and a Filter, which is put in parentheses
//	%%  a percent sign, in a string of the format
//
// Types of such a kind are accepted as by Eq. White space, a comma or a parenthesis must be on each side of a verb. A
// verb must not be inside a string of the format, because the argument could end the string. It takes neither flags nor
// a width. All arguments must be used. The Filter keeps all problems.
//
// Do not pass an In without values into any(…) or all(…) of a format: it becomes the constant false, which the service
// refuses there. Build such conditions with Any and All, which fold it away.
//
// As with RawFilter, never build the format from values.
func Filterf(format string, args ...any) Filter {
	if false {
		_ = fmt.Sprintf(format, args...) // lets go vet check the verbs
	}
	if strings.TrimSpace(format) == "" && len(args) == 0 {
		return Filter{}
	}
	f := formatter{format: format, args: args}
	if err := balanced(format); err != nil {
		f.problems = append(f.problems, err)
	}
	f.scan()
	if f.used < len(args) {
		f.problems = append(f.problems, fmt.Errorf("%d arguments for %d verbs in %s", len(args), f.used, clip(format)))
	}
	return Filter{&expression{kind: rawExpression, text: f.out.String(), problems: f.problems}}
}

// formatter is one call of Filterf.
type formatter struct {
	format   string
	args     []any
	used     int // of args
	out      strings.Builder
	problems []error
}

// scan copies the format and writes arguments for its verbs.
func (f *formatter) scan() {
	quoted := false
	for i := 0; i < len(f.format); {
		c := f.format[i]
		if c != '%' {
			quoted = quoted != (c == '\'') // a doubled quote closes and reopens the string
			f.out.WriteByte(c)
			i++
			continue
		}
		end := verbEnd(f.format, i)
		f.verb(i, end, quoted)
		i = end
	}
}

// verbEnd returns the position after the verb that starts at i. The verb ends with the first character that is not a
// flag, a width or a precision.
func verbEnd(format string, i int) int {
	for i++; i < len(format); i++ {
		if !strings.ContainsRune("+-# 0123456789.*[]", rune(format[i])) {
			return i + 1
		}
	}
	return i
}

// verb handles the verb between start and end.
func (f *formatter) verb(start, end int, quoted bool) {
	verb := f.format[start:end]
	if verb == "%%" && quoted {
		f.out.WriteByte('%')
		return
	}
	if verb == "%%" {
		f.problem(start, verb, "a percent sign means nothing outside of strings")
		return
	}
	var arg any
	missing := f.used == len(f.args)
	if !missing {
		arg = f.args[f.used]
		f.used++
	}
	switch {
	case len(verb) != 2 || !strings.Contains("sdgtv", verb[1:]):
		f.problem(start, verb, "the verbs are %s, %d, %g, %t and %v, without flags or a width")
	case quoted:
		f.problem(start, verb, "it stands inside a string: the verb writes the quotes")
	case !f.alone(start, end):
		f.problem(start, verb, "it must stand alone, between white space, commas and parentheses")
	case missing:
		f.problem(start, verb, fmt.Sprintf("there are only %d arguments", len(f.args)))
	default:
		text, err := formatted(verb[1], arg)
		if err != nil {
			f.problem(start, verb, err.Error())
		}
		f.out.WriteString(text)
	}
}

// problem records a problem with a verb.
func (f *formatter) problem(position int, verb, problem string) {
	f.problems = append(f.problems, fmt.Errorf("%s at position %d of %s: %s", verb, position, clip(f.format), problem))
}

// alone reports whether the text between start and end is a separate token.
func (f *formatter) alone(start, end int) bool {
	return (start == 0 || strings.IndexByte(" \t\r\n(,", f.format[start-1]) >= 0) &&
		(end == len(f.format) || strings.IndexByte(" \t\r\n),", f.format[end]) >= 0)
}

// formatted returns the text that replaces a verb.
func formatted(verb byte, arg any) (string, error) {
	if filter, ok := arg.(Filter); ok && verb == 'v' {
		switch err := filter.Err(); {
		case err != nil:
			return "", err
		case filter.IsZero():
			return "", errors.New("the argument is the zero Filter")
		}
		return "(" + filter.String() + ")", nil
	}
	literal, err := literalOf(arg)
	if err != nil {
		return "", hintAt(arg, err)
	}
	if verb == 'v' || verbOf(literal, arg) == verb {
		return literal.text, nil
	}
	return "", fmt.Errorf("the argument is a %T: use %%%c", arg, verbOf(literal, arg))
}

// verbOf returns the verb that fits an argument.
func verbOf(l literal, arg any) byte {
	if arg == nil {
		return 'v'
	}
	switch kind := reflect.TypeOf(arg).Kind(); {
	case kind == reflect.Pointer: // go vet accepts pointers for %v only
		return 'v'
	case l.kind == stringLiteral:
		return 's'
	case l.kind == boolLiteral:
		return 't'
	case l.kind == numberLiteral && (kind == reflect.Float32 || kind == reflect.Float64):
		return 'g'
	case l.kind == numberLiteral && kind != reflect.String: // else a json.Number
		return 'd'
	}
	return 'v'
}

// hintAt adds a fix to the error about an argument.
func hintAt(arg any, err error) error {
	switch reflect.TypeOf(arg).Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return fmt.Errorf("%w: for a list of values put the Filter of In there, with %%v", err)
	case reflect.Struct:
		if _, ok := arg.(Filter); ok {
			return fmt.Errorf("%w: use %%v for a Filter", err)
		}
	}
	return err
}
