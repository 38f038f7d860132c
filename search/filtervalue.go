package search

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/models"
)

// literalKind is the type of a literal in the service's syntax.
type literalKind int

const (
	nullLiteral literalKind = iota
	boolLiteral
	numberLiteral
	stringLiteral
	timeLiteral
	pointLiteral
)

// literal is a value in the service's syntax.
type literal struct {
	kind literalKind
	text string
}

// literalOf writes a value as a literal. Eq lists the accepted values.
func literalOf(value any) (literal, error) {
	switch v := value.(type) {
	case nil:
		return literal{nullLiteral, "null"}, nil
	case string:
		return quoteText(v)
	case time.Time:
		return timeOf(v)
	case models.GeographyPoint:
		return pointOf(v)
	case json.Number:
		return numberOf(v)
	}
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return literal{nullLiteral, "null"}, nil
		}
		if kind := v.Elem().Kind(); kind != reflect.Pointer && kind != reflect.Interface {
			return literalOf(v.Elem().Interface())
		}
	}
	if implements(v.Type(), reflect.TypeFor[json.Marshaler]()) {
		// Its kind does not determine the JSON in the documents of the index.
		return literal{}, fmt.Errorf("a %T has its own form in JSON: convert it to what documents hold, a string or a number for example", value)
	}
	if implements(v.Type(), reflect.TypeFor[encoding.TextMarshaler]()) {
		return marshaledText(v)
	}
	switch v.Kind() {
	case reflect.String:
		return quoteText(v.String())
	case reflect.Bool:
		return literal{boolLiteral, strconv.FormatBool(v.Bool())}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return literal{numberLiteral, strconv.FormatInt(v.Int(), 10)}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return literal{}, fmt.Errorf("%d is more than an Edm.Int64 holds", v.Uint())
		}
		return literal{numberLiteral, strconv.FormatUint(v.Uint(), 10)}, nil
	case reflect.Float32, reflect.Float64:
		return literal{numberLiteral, formatFloat(v.Float(), v.Type().Bits())}, nil
	}
	return literal{}, fmt.Errorf("a %T is not a value that filters can hold", value)
}

// implements reports whether t or a pointer to it has the methods of an interface.
func implements(t, methods reflect.Type) bool {
	return t.Implements(methods) || reflect.PointerTo(t).Implements(methods)
}

// marshaledText returns the literal of a value with MarshalText, which is a string in documents.
func marshaledText(v reflect.Value) (literal, error) {
	addressed := reflect.New(v.Type())
	addressed.Elem().Set(v)
	m, _ := reflect.TypeAssert[encoding.TextMarshaler](addressed)
	text, err := m.MarshalText()
	if err != nil {
		return literal{}, fmt.Errorf("MarshalText of a %v: %w", v.Type(), err)
	}
	return quoteText(string(text))
}

// quoteText returns a string literal.
func quoteText(s string) (literal, error) {
	if !utf8.ValidString(s) {
		return literal{}, fmt.Errorf("the string %s %w", clip(strings.ToValidUTF8(s, "\ufffd")), errNotUTF8)
	}
	return literal{stringLiteral, quoteString(s)}, nil
}

// quoteString returns the string literal of s, which is valid UTF-8. Quotes are doubled; no other character is
// special.
func quoteString(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// timeOf returns the literal of a time, in UTC and truncated to milliseconds. The service keeps no more, and a
// document written with a time must match a filter with the same time.
func timeOf(t time.Time) (literal, error) {
	t = t.UTC()
	if year := t.Year(); year < 1 || year > 9999 {
		return literal{}, fmt.Errorf("the year of a time is %d, not 1 to 9999", year)
	}
	return literal{timeLiteral, t.Truncate(time.Millisecond).Format("2006-01-02T15:04:05.999Z")}, nil
}

// pointOf returns the literal of a point.
func pointOf(p models.GeographyPoint) (literal, error) {
	if err := validPoint(p); err != nil {
		return literal{}, err
	}
	return literal{pointLiteral, "geography'POINT(" + position(p) + ")'"}, nil
}

// validPoint checks a point in the same way as encoding it in a document.
func validPoint(p models.GeographyPoint) error {
	_, err := p.MarshalJSON()
	return err
}

// position writes a valid point as in WKT, without exponents.
func position(p models.GeographyPoint) string {
	degrees := func(f float64) string { return strconv.FormatFloat(f+0, 'f', -1, 64) } // +0 turns -0 into 0
	return degrees(p.Longitude) + " " + degrees(p.Latitude)
}

// numberOf returns the literal of a JSON number.
func numberOf(n json.Number) (literal, error) {
	if n == "" || !strings.ContainsRune("-0123456789", rune(n[0])) || !json.Valid([]byte(n)) {
		return literal{}, fmt.Errorf("json.Number(%s) is not a number", clip(string(n)))
	}
	return literal{numberLiteral, string(n)}, nil
}

// exactIntegers is the bound below which float64 represents every integer exactly.
const exactIntegers = 1 << 53

// formatFloat returns the shortest literal of a float that parses to the same value. Exact integers have no exponent.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	case f == 0:
		return "0" // -0 equals 0
	}
	if size := math.Abs(f); size >= 1e-6 && size < exactIntegers {
		return strconv.FormatFloat(f, 'f', -1, bits)
	}
	return strconv.FormatFloat(f, 'e', -1, bits)
}

// errEmptyPath means that the path of a field is empty.
var errEmptyPath = errors.New("the path of a field is empty")

// checkPath checks the path of a field: names separated by slashes.
func checkPath(path string) error {
	if path == "" {
		return errEmptyPath
	}
	first := true
	for name := range strings.SplitSeq(path, "/") {
		if !identifier(name) {
			return fmt.Errorf("the path %s is not made of names (letters, digits and underscores, not starting with a digit) with slashes between them", clip(path))
		}
		if first && reserved(name) {
			return fmt.Errorf("the path %s begins with a word that the service does not read as a field", clip(path))
		}
		first = false
	}
	return nil
}

// reserved reports whether the service reads an operand that begins with name as something other than a field.
func reserved(name string) bool {
	switch name {
	case "null", "true", "false", "not", "NaN", "INF":
		return true
	}
	return false
}

// identifier reports whether name is a valid name of a field or range variable.
func identifier(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}
