package encode

import "unicode/utf8"

// appendString appends s in quotes. What encoding/json escapes without
// SetEscapeHTML is escaped: quotes, backslashes, control characters, U+2028 and
// U+2029; what is not UTF-8 becomes U+FFFD, and is not written in a document.
func appendString(st *state, dst []byte, s string) []byte {
	dst = append(dst, '"')
	n := plain(s)
	dst = append(dst, s[:n]...)
	if n < len(s) {
		dst = appendEscaped(st, dst, s[n:])
	}
	return append(dst, '"')
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns how many bytes at the start of s are ASCII and need no escape.
// It looks at eight bytes at a time: subtracting borrows from the high bit of
// each byte that is too small, and bytes of 0x80 and more have it anyway. A byte
// may be taken for one to be looked at closely by mistake, because a borrow goes
// on to the next one, but never the other way round.
func plain(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		control := w - ones*' '
		quote := (w ^ ones*'"') - ones
		slash := (w ^ ones*'\\') - ones
		if (w|control|quote|slash)&highs != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends s, some of which is not plain.
func appendEscaped(st *state, dst []byte, s string) []byte {
	start := 0 // of what is not appended yet
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i += plain(s[i:])
			continue
		}
		if c < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		escape := ""
		switch {
		case r == utf8.RuneError && size == 1:
			escape = `\ufffd`
			st.failed = st.failed || st.document
		case r == '\u2028':
			escape = `\u2028`
		case r == '\u2029':
			escape = `\u2029`
		}
		if escape != "" {
			dst = append(append(dst, s[start:i]...), escape...)
			start = i + size
		}
		i += size
	}
	return append(dst, s[start:]...)
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
