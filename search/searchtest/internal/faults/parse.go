package faults

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Read reads a script in JSON into a struct with the same members. unreadable are the
// problems of its text; err is a syntax error.
func Read(r io.Reader, into any) (unreadable []error, err error) {
	var text json.RawMessage
	dec := json.NewDecoder(r)
	if err := dec.Decode(&text); err != nil {
		return nil, fmt.Errorf("faults script: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("faults script: more than one JSON value")
	}
	var reader scriptReader
	reader.object("", text, reflect.ValueOf(into).Elem())
	return reader.problems, nil
}

// zeroMeans is the meaning of an explicit zero of each member for which readers of the script
// would expect another one.
var zeroMeans = map[string]string{
	"probability":        "always",
	"ratio":              "every document",
	"every":              "every request",
	"count":              "no end",
	"for":                "no end",
	"nth":                "every time",
	"times":              "no end",
	"overBytes":          "any size",
	"overActions":        "any number",
	"status":             "the default",
	"retryAfter":         "no header",
	"burst":              "1s",
	"documentsPerSecond": "no limit",
	"bytesPerSecond":     "no limit",
}

// scriptReader reads JSON into a struct and records all problems. encoding/json would stop at
// the first, without its rule.
type scriptReader struct{ problems []error }

func (s *scriptReader) bad(where, format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf(where+format, args...))
}

// object reads the members of text into the fields of into, a struct. where is the prefix of
// problems.
func (s *scriptReader) object(where string, text json.RawMessage, into reflect.Value) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		s.bad(where, "%s is not an object", excerpt(text))
		return
	}
	seen := make(map[string]bool)
	for dec.More() {
		// The text is valid JSON, so tokens and values exist.
		token, _ := dec.Token()
		var value json.RawMessage
		_ = dec.Decode(&value)
		name, field := fieldOf(into, token.(string))
		switch {
		case name == "":
			s.bad(where, "unknown field %q", token)
		case seen[name]:
			s.bad(where, "%s: duplicate member", name)
		default:
			seen[name] = true
			s.value(where, name, value, field)
		}
	}
}

// fieldOf returns the field of a struct for a member, and its name, or "" if there is none.
// Like encoding/json it ignores case.
func fieldOf(of reflect.Value, member string) (string, reflect.Value) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("json"), ",")
		if strings.EqualFold(name, member) {
			return name, of.Field(i)
		}
	}
	return "", reflect.Value{}
}

// value reads one member. null means that it is missing.
func (s *scriptReader) value(where, name string, text json.RawMessage, into reflect.Value) {
	switch typ := into.Type(); {
	case string(text) == "null":
	case typ.Kind() == reflect.Pointer:
		into.Set(reflect.New(typ.Elem()))
		s.object(where+name+": ", text, into.Elem())
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		var elements []json.RawMessage
		if json.Unmarshal(text, &elements) != nil {
			s.bad(where, "%s: %s is not a list of objects", name, excerpt(text))
			return
		}
		into.Set(reflect.MakeSlice(typ, len(elements), len(elements)))
		for i, element := range elements {
			s.object(where+position(name, i), element, into.Index(i))
		}
	case json.Unmarshal(text, into.Addr().Interface()) != nil:
		into.SetZero() // a list may have been read in part
		s.bad(where, "%s: %s is not %s", name, excerpt(text), wanted(typ))
	case into.IsZero() && zeroMeans[name] != "":
		s.bad(where, "%s: %s would mean %s; remove it if that is intended", name, excerpt(text), zeroMeans[name])
	}
}

// position returns the name of the i-th element of a list in problems.
func position(list string, i int) string {
	if list == "rules" {
		list = "rule"
	}
	return fmt.Sprintf("%s %d: ", list, i)
}

// wanted describes the values of a field of type t.
func wanted(t reflect.Type) string {
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return `a duration in quotes, such as "1.5s"`
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Slice:
		return "a list of strings"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}

// excerpt returns the beginning of a value for a message.
func excerpt(text json.RawMessage) string {
	const longest = 40
	if len(text) > longest {
		return strings.ToValidUTF8(string(text[:longest]), "") + "…"
	}
	return string(text)
}
