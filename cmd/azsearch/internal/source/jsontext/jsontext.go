// Package jsontext is for reading files of JSON documents: it says where one ends, and checks nothing inside it.
package jsontext

import (
	"bytes"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Lines is JSON Lines: one document a line.
type Lines struct{}

// Next returns the length of the first line of b with its end, or 0 if more bytes are needed; final says that there
// are none.
func (Lines) Next(b []byte, final bool) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	if final {
		return len(b)
	}
	return 0
}

// Values is JSON values one after the other, over any number of lines: those of an array, with its brackets and
// commas, or without.
type Values struct{}

// Next is that of Lines for the first value of b, with the brackets, commas and white space around it. A value that
// is none, a word for example, ends at the next comma, bracket or line end.
func (Values) Next(b []byte, final bool) int {
	start := leading(b)
	end, ok := valueEnd(b, start)
	switch {
	case ok:
		return end + trailing(b[end:])
	case final:
		return len(b)
	}
	return 0
}

// Trim returns the value in what Next has found, and where it begins.
func Trim(b []byte) (value []byte, at int) {
	at = leading(b)
	b = b[at:]
	for len(b) > 0 && b[0] != '[' && separates(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b, at
}

// separates reports whether c stands between values. A value of a bracket would be no document.
func separates(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', '[', ']':
		return true
	}
	return false
}

func leading(b []byte) int {
	i := 0
	for i < len(b) && separates(b[i]) {
		i++
	}
	return i
}

// trailing is the length of what stands behind a value up to the end of its line, so that it keeps its line end.
func trailing(b []byte) int {
	for i := range b {
		if !separates(b[i]) || b[i] == '[' {
			return i
		}
		if b[i] == '\n' {
			return i + 1
		}
	}
	return len(b)
}

// valueEnd returns where the value ends that begins at i; ok is false if b ends before.
func valueEnd(b []byte, i int) (end int, ok bool) {
	if i == len(b) {
		return i, false
	}
	if b[i] != '{' {
		for ; i < len(b); i++ {
			switch b[i] {
			case '"':
				if i, ok = stringEnd(b, i); !ok {
					return i, false
				}
				i-- // the loop adds it again
			case ',', ']', '\n', '{':
				return i, true
			}
		}
		return i, false
	}
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i, ok = stringEnd(b, i); !ok {
				return i, false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
		i++
	}
	return i, false
}

// stringEnd returns where the string ends that begins at i.
func stringEnd(b []byte, i int) (end int, ok bool) {
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b), false
		}
		i += n + 1
		escapes := 0
		for j := i - 2; b[j] == '\\'; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i, true
		}
	}
}

// AppendString appends text, which is UTF-8, as a JSON string. Most text needs no escapes, which is found out at the
// speed of wire.
func AppendString(dst, s []byte) []byte {
	before := len(dst)
	dst = append(append(append(dst, '"'), s...), '"')
	if bytes.IndexByte(s, '\\') < 0 {
		if end, ok := wire.StringEnd(dst, before+1); ok && end == len(dst) {
			return dst
		}
	}
	dst = append(dst[:before], '"')
	start := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}
