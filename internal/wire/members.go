package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

var (
	// ErrNotJSON means that a text is not valid JSON.
	ErrNotJSON = errors.New("not valid JSON")
	// ErrNotAnObject means that a JSON text is not an object.
	ErrNotAnObject = errors.New("document must be a JSON object")
)

// EachMember calls f with the name (with its quotes) and the value of every top-level member of a JSON object, in
// order, until f returns false. It builds and decodes nothing.
//
// It finds the members of every valid object. It does not validate: in invalid JSON it may report some members and
// miss the rest. Its callers also check the text with encoding/json or Check.
func EachMember(b []byte, f func(name, value []byte) bool) error {
	i := Space(b, 0)
	if i >= len(b) {
		return ErrNotJSON
	}
	if b[i] != '{' {
		return ErrNotAnObject
	}
	i = Space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return nil
	}
	for {
		nameStart := Space(b, i)
		nameEnd := stringEnd(b, nameStart)
		if nameEnd < 0 {
			return ErrNotJSON
		}
		i = Space(b, nameEnd)
		if i >= len(b) || b[i] != ':' {
			return ErrNotJSON
		}
		valueStart := Space(b, i+1)
		valueEnd := ValueEnd(b, valueStart)
		if valueEnd < 0 {
			return ErrNotJSON
		}
		if !f(b[nameStart:nameEnd], b[valueStart:valueEnd]) {
			return nil
		}
		i = Space(b, valueEnd)
		if i >= len(b) {
			return ErrNotJSON
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return nil
		default:
			return ErrNotJSON
		}
	}
}

// Space returns the index of the first byte, from i on, that is not white space.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that starts at i, or -1.
func stringEnd(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for end-1-slashes >= i && b[end-1-slashes] == '\\' {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// ValueEnd returns the index after the value that starts at i, or -1.
func ValueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				if i = stringEnd(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != '"' && b[i] > ' ' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// Unquote returns the decoded value of a JSON string literal.
func Unquote(quoted []byte) (string, bool) {
	if len(quoted) < 2 {
		return "", false
	}
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", false
	}
	return s, true
}

// Quotes reports whether the value of a JSON string literal is s.
func Quotes(quoted []byte, s string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(s)+2 && string(quoted[1:len(quoted)-1]) == s
	}
	u, ok := Unquote(quoted)
	return ok && u == s
}
