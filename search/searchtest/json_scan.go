package searchtest

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is how deep JSON may nest, the limit of encoding/json.
const maxNesting = 10_000

// scanner reads JSON out of bytes in memory, once, from left to right, and
// builds nothing: callers take each value as they come to it. It accepts what
// encoding/json accepts (FuzzScanner compares the two).
//
// Its methods return false, with what and where in failure, at the first byte
// that is not JSON; nothing may be read after that.
type scanner struct {
	data []byte
	pos  int

	failure string // what was wrong, "" so far
}

// fail records what is wrong at the current position.
func (s *scanner) fail(what string) bool {
	if s.failure == "" {
		s.failure = what + " at position " + strconv.Itoa(s.pos)
	}
	return false
}

// peek skips white space and returns the next byte, 0 at the end of the data.
// (A NUL in the data is no JSON either, so the two need not be told apart.)
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// expect consumes c, which must be the next byte after white space.
func (s *scanner) expect(c byte) bool {
	if s.peek() != c {
		return s.fail("'" + string(rune(c)) + "' was expected")
	}
	s.pos++
	return true
}

// atEnd reports whether nothing but white space is left.
func (s *scanner) atEnd() bool {
	s.peek()
	return s.pos == len(s.data)
}

// literal consumes word: true, false or null.
func (s *scanner) literal(word string) bool {
	end := s.pos + len(word)
	if end > len(s.data) || string(s.data[s.pos:end]) != word {
		return s.fail("an invalid literal was found")
	}
	s.pos = end
	return true
}

// quoted consumes a string, whose opening quote must be the next byte, and
// returns what stands between the quotes. plain means that this is the value
// itself: no escapes in it, and valid UTF-8.
func (s *scanner) quoted() (raw []byte, plain, ok bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	s.pos++
	start, escaped, high := s.pos, false, false
	data, i := s.data, s.pos
	for {
		// Eight bytes at a time as long as none of them is special. The tests
		// may also flag bytes above a real hit, never below the first one.
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
			s.pos = len(data)
			return nil, false, s.fail("the string is not closed")
		}
		switch c := data[i]; {
		case c == '"':
			s.pos = i + 1
			raw = data[start:i]
			return raw, !escaped && (!high || utf8.Valid(raw)), true
		case c == '\\':
			escaped = true
			n := escapeLength(data[i:])
			if n == 0 {
				s.pos = i
				return nil, false, s.fail("an unrecognized escape sequence was found")
			}
			i += n
		case c < 0x20:
			s.pos = i
			return nil, false, s.fail("a control character was found in a string")
		default:
			high = high || c >= utf8.RuneSelf
			i++
		}
	}
}

// escapeLength returns the length of the escape sequence that data begins with,
// 0 if it is none.
func escapeLength(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(data[2:]) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 reads four hexadecimal digits, -1 if there are none.
func hex4(data []byte) rune {
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

// appendUnquoted appends the value of a string that quoted accepted, as valid
// UTF-8: lone surrogates and broken encodings become U+FFFD, as in
// encoding/json.
func appendUnquoted(dst, raw []byte) []byte {
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
				r := hex4(raw[i+1:])
				i += 5
				if utf16.IsSurrogate(r) {
					low := rune(-1)
					if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
						low = hex4(raw[i+2:])
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

// number consumes a number and returns its text. whole means that it has
// neither a fraction nor an exponent.
func (s *scanner) number() (text []byte, whole, ok bool) {
	data, start, i := s.data, s.pos, s.pos
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
		s.pos = i
		return nil, false, s.fail("an invalid number was found")
	}
	whole = true
	if i < len(data) && data[i] == '.' {
		whole = false
		i++
		if !digits() {
			s.pos = i
			return nil, false, s.fail("an invalid number was found")
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		whole = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if !digits() {
			s.pos = i
			return nil, false, s.fail("an invalid number was found")
		}
	}
	s.pos = i
	return data[start:i], whole, true
}

// skip consumes any value. depth is how many objects and arrays it is in.
func (s *scanner) skip(depth int) bool {
	switch c := s.peek(); c {
	case '{', '[':
		if depth >= maxNesting {
			return s.fail("the JSON is nested too deeply")
		}
		s.pos++
		closing := c + 2 // ']' and '}' come two places after their partners
		if s.peek() == closing {
			s.pos++
			return true
		}
		for {
			if c == '{' {
				if s.peek() != '"' {
					return s.fail("a property name was expected")
				}
				if _, _, ok := s.quoted(); !ok || !s.expect(':') {
					return false
				}
			}
			if !s.skip(depth + 1) {
				return false
			}
			switch s.peek() {
			case closing:
				s.pos++
				return true
			case ',':
				s.pos++
			default:
				return s.fail("a comma or the end of the value was expected")
			}
		}
	case '"':
		_, _, ok := s.quoted()
		return ok
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			_, _, ok := s.number()
			return ok
		}
		return s.fail("a value was expected")
	}
}
