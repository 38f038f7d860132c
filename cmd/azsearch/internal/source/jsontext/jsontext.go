// Package jsontext finds the ends of documents in files of JSON. It does not check their syntax.
package jsontext

import (
	"bytes"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Lines splits JSON Lines: one document per line.
type Lines struct{}

// Next returns the length of the first line of b with its line end, or 0 if it needs more bytes. final means that no
// more bytes follow.
func (Lines) Next(b []byte, final bool) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	if final {
		return len(b)
	}
	return 0
}

// Values splits a sequence of JSON values on any number of lines, with or without the brackets and commas of an
// array.
type Values struct{}

// Next is like Lines.Next for the first value of b, including surrounding brackets, commas and white space. An
// invalid value, such as a word, ends at the next comma, bracket or line end.
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

// Trim returns the value in the bytes of one record, and its offset.
func Trim(b []byte) (value []byte, at int) {
	at = leading(b)
	b = b[at:]
	for len(b) > 0 && b[0] != '[' && separates(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b, at
}

// separates reports whether c may stand between values. An array is not a document, so its brackets separate, too.
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

// trailing returns the length of the separators after a value, up to its line end, which belongs to the value.
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

// valueEnd returns the end of the value that begins at i; ok is false if b ends first.
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
				i-- // i is incremented by the loop
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

// stringEnd returns the end of the string that begins at i; ok is false if b ends first.
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

// AppendString appends UTF-8 text as a JSON string. Text without escapes, the usual case, is only scanned once by
// wire.StringEnd.
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
