// Package wire scans JSON in memory without building values.
package wire

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxNesting is the maximum depth of JSON, as in encoding/json.
const MaxNesting = 10_000

// Scanner reads JSON in memory once, from left to right, and builds no values: callers read
// each value as they reach it. It accepts the same texts as encoding/json, which FuzzScanner
// checks.
//
// At the first invalid byte its methods return false, with the reason and the position in
// Failure. Nothing may be read after that.
type Scanner struct {
	Data []byte
	Pos  int

	Failure string // the error, "" for none
}

// Fail records an error at the current position.
func (s *Scanner) Fail(what string) bool {
	if s.Failure == "" {
		s.Failure = what + " at position " + strconv.Itoa(s.Pos)
	}
	return false
}

// Peek skips white space and returns the next byte, 0 at the end of the data. A NUL in the
// data is invalid JSON too, so callers treat both the same.
func (s *Scanner) Peek() byte {
	for s.Pos < len(s.Data) {
		switch c := s.Data[s.Pos]; c {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return c
		}
	}
	return 0
}

// Expect consumes c, which must be the next byte after white space.
func (s *Scanner) Expect(c byte) bool {
	if s.Peek() != c {
		return s.Fail("'" + string(rune(c)) + "' was expected")
	}
	s.Pos++
	return true
}

// AtEnd reports whether only white space is left.
func (s *Scanner) AtEnd() bool {
	s.Peek()
	return s.Pos == len(s.Data)
}

// Literal consumes word: true, false or null.
func (s *Scanner) Literal(word string) bool {
	end := s.Pos + len(word)
	if end > len(s.Data) || string(s.Data[s.Pos:end]) != word {
		return s.Fail("an invalid literal was found")
	}
	s.Pos = end
	return true
}

// Quoted consumes a string, whose opening quote must be the next byte, and returns the text
// between the quotes. plain means that this text is the value: valid UTF-8 without escapes.
func (s *Scanner) Quoted() (raw []byte, plain, ok bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	s.Pos++
	start, escaped, high := s.Pos, false, false
	data, i := s.Data, s.Pos
	for {
		// Eight bytes at a time while none is special. The tests may also flag a byte
		// above a special one, but the lowest flag is always correct.
		for i+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[i:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			special := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w | w) & highs
			if special != 0 {
				i += bits.TrailingZeros64(special) >> 3
				break
			}
			i += 8
		}
		if i >= len(data) {
			s.Pos = len(data)
			return nil, false, s.Fail("the string is not closed")
		}
		switch c := data[i]; {
		case c == '"':
			s.Pos = i + 1
			raw = data[start:i]
			return raw, !escaped && (!high || utf8.Valid(raw)), true
		case c == '\\':
			escaped = true
			n := EscapeLength(data[i:])
			if n == 0 {
				s.Pos = i
				return nil, false, s.Fail("an unrecognized escape sequence was found")
			}
			i += n
		case c < 0x20:
			s.Pos = i
			return nil, false, s.Fail("a control character was found in a string")
		default:
			high = high || c >= utf8.RuneSelf
			i++
		}
	}
}

// EscapeLength returns the length of the escape sequence at the beginning of data, 0 for
// none.
func EscapeLength(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if Hex4(data[2:]) >= 0 {
			return 6
		}
	}
	return 0
}

// Hex4 returns the value of four hexadecimal digits, -1 if data does not begin with them.
func Hex4(data []byte) rune {
	if len(data) < 4 {
		return -1
	}
	var r rune
	for _, c := range data[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// AppendUnquoted appends the value of a string that Quoted accepted, as valid UTF-8: lone
// surrogates and invalid encodings become U+FFFD, as in encoding/json.
func AppendUnquoted(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\':
			i++
			switch c = raw[i]; c {
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'u':
				r := Hex4(raw[i+1:])
				i += 5
				if utf16.IsSurrogate(r) {
					low := rune(-1)
					if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
						low = Hex4(raw[i+2:])
					}
					if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
						i += 6
					}
				}
				dst = utf8.AppendRune(dst, r)
				continue
			}
			dst = append(dst, c)
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}

// Number consumes a number and returns its text. whole means that it has
// neither a fraction nor an exponent.
func (s *Scanner) Number() (text []byte, whole, ok bool) {
	data, start, i := s.Data, s.Pos, s.Pos
	if i < len(data) && data[i] == '-' {
		i++
	}
	digits := func() bool {
		first := i
		for i < len(data) && '0' <= data[i] && data[i] <= '9' {
			i++
		}
		return i > first
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if !digits() {
		s.Pos = i
		return nil, false, s.Fail("an invalid number was found")
	}
	whole = true
	if i < len(data) && data[i] == '.' {
		whole = false
		i++
		if !digits() {
			s.Pos = i
			return nil, false, s.Fail("an invalid number was found")
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		whole = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if !digits() {
			s.Pos = i
			return nil, false, s.Fail("an invalid number was found")
		}
	}
	s.Pos = i
	return data[start:i], whole, true
}

// Skip consumes any value. depth is the number of enclosing objects and arrays.
func (s *Scanner) Skip(depth int) bool {
	switch c := s.Peek(); c {
	case '{', '[':
		if depth >= MaxNesting {
			return s.Fail("the JSON is nested too deeply")
		}
		s.Pos++
		closing := c + 2 // ']' and '}' come two places after their partners
		if s.Peek() == closing {
			s.Pos++
			return true
		}
		for {
			if c == '{' {
				if s.Peek() != '"' {
					return s.Fail("a property name was expected")
				}
				if _, _, ok := s.Quoted(); !ok || !s.Expect(':') {
					return false
				}
			}
			if !s.Skip(depth + 1) {
				return false
			}
			switch s.Peek() {
			case closing:
				s.Pos++
				return true
			case ',':
				s.Pos++
			default:
				return s.Fail("a comma or the end of the value was expected")
			}
		}
	case '"':
		_, _, ok := s.Quoted()
		return ok
	case 't':
		return s.Literal("true")
	case 'f':
		return s.Literal("false")
	case 'n':
		return s.Literal("null")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			_, _, ok := s.Number()
			return ok
		}
		return s.Fail("a value was expected")
	}
}
