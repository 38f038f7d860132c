package encode

import "unicode/utf8"

// appendString appends s in quotes, with the escapes of encoding/json without HTML: quotes, backslashes, control
// characters, U+2028 and U+2029. Bytes that are not UTF-8 become U+FFFD, or fail in a document.
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

// plain returns the number of bytes at the start of s that are ASCII and need no escape. It tests eight bytes at a
// time: the subtractions set the high bit of each byte that is too small, and bytes of 0x80 and more have it set.
// Since a borrow can carry into the next byte, a plain byte may stop the fast loop, but no other byte is skipped.
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

// appendEscaped appends s, which is not all plain.
func appendEscaped(st *state, dst []byte, s string) []byte {
	start := 0 // start of the part that is not appended yet
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
