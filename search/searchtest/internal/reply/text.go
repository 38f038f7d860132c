package reply

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string in the service's form: everything outside printable
// ASCII as \uXXXX. Invalid UTF-8 becomes U+FFFD.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c == '\n':
			dst = append(dst, '\\', 'n')
			i++
		case c == '\r':
			dst = append(dst, '\\', 'r')
			i++
		case c == '\t':
			dst = append(dst, '\\', 't')
			i++
		case c == '\b':
			dst = append(dst, '\\', 'b')
			i++
		case c == '\f':
			dst = append(dst, '\\', 'f')
			i++
		case c < utf8.RuneSelf:
			dst = appendUnicodeEscape(dst, rune(c))
			i++
		default:
			end := min(i+utf8.UTFMax, len(s))
			r, size := utf8.DecodeRuneInString(string(s[i:end]))
			i += size
			if r >= 0x10000 {
				hi, lo := utf16.EncodeRune(r)
				dst = appendUnicodeEscape(dst, hi)
				dst = appendUnicodeEscape(dst, lo)
			} else {
				dst = appendUnicodeEscape(dst, r)
			}
		}
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendUnicodeEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// AppendDouble appends f in the service's form of an Edm.Double. Infinities and NaN are
// strings, whole numbers end in ".0", and exponents have the form of .NET
// (4.94065645841247E-324). It has 15 digits if these identify the number, otherwise 17.
func AppendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"INF"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-INF"`...)
	}
	return appendNumber(dst, f, 15, 17, 64)
}

// AppendSingle is AppendDouble for the 32-bit elements of vectors.
func AppendSingle(dst []byte, f float32) []byte {
	return appendNumber(dst, float64(f), 7, 9, 32)
}

// appendNumber appends the finite number f with fewer digits if these read back as f, and
// otherwise with more.
func appendNumber(dst []byte, f float64, fewer, more, bits int) []byte {
	var digits, text [40]byte
	precision := fewer
	mantissa := strconv.AppendFloat(digits[:0], f, 'e', precision-1, bits)
	if back, err := strconv.ParseFloat(string(mantissa), bits); err != nil || back != f {
		precision = more
		mantissa = strconv.AppendFloat(digits[:0], f, 'e', precision-1, bits)
	}
	// mantissa is d.ddddde±xx: split it and drop the trailing zeros.
	out := text[:0]
	if mantissa[0] == '-' {
		dst = append(dst, '-')
		mantissa = mantissa[1:]
	}
	e := 0
	for mantissa[e] != 'e' {
		e++
	}
	exponent, _ := strconv.Atoi(string(mantissa[e+1:]))
	out = append(out, mantissa[0])
	out = append(out, mantissa[2:e]...)
	for len(out) > 1 && out[len(out)-1] == '0' {
		out = out[:len(out)-1]
	}
	switch {
	case exponent < -4 || exponent >= precision:
		dst = append(dst, out[0])
		if len(out) > 1 {
			dst = append(dst, '.')
			dst = append(dst, out[1:]...)
		}
		dst = append(dst, 'E')
		if exponent < 0 {
			dst = append(dst, '-')
			exponent = -exponent
		} else {
			dst = append(dst, '+')
		}
		if exponent < 10 {
			dst = append(dst, '0')
		}
		return strconv.AppendInt(dst, int64(exponent), 10)
	case exponent < 0:
		dst = append(dst, '0', '.')
		for i := -1; i > exponent; i-- {
			dst = append(dst, '0')
		}
		return append(dst, out...)
	case len(out) <= exponent+1:
		dst = append(dst, out...)
		for i := len(out); i <= exponent; i++ {
			dst = append(dst, '0')
		}
		return append(dst, '.', '0')
	default:
		dst = append(dst, out[:exponent+1]...)
		dst = append(dst, '.')
		return append(dst, out[exponent+1:]...)
	}
}
