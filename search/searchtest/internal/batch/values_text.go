package batch

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"unicode"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// The service reads documents with OData .NET. Its payload converter accepts a string for a
// value of any primitive type and converts it by the rules of the invariant culture. It
// accepts neither numbers nor booleans for strings. The rules are those of the .NET
// Framework, because recorded doubles have its format: names of special numbers are case
// sensitive, and values out of range are errors.

// ConvertText appends the value of a string in a field of another type. It reports whether
// the string has a value of that type.
func (p *Parser) ConvertText(f *stored.Field, text []byte) bool {
	switch f.Type {
	case stored.Boolean:
		value, ok := textToBoolean(text)
		p.Buf = append(p.Buf, value)
		return ok
	case stored.Double:
		if special, ok := TextToSpecial(text); ok {
			p.Buf = binary.LittleEndian.AppendUint64(p.Buf, math.Float64bits(special))
			return true
		}
		fallthrough
	case stored.Single, stored.Half: // elements of vectors, which cannot be NaN or infinite
		number, ok := textToFloat(text)
		return ok && p.numeric(f.Type, number, false)
	case stored.Int64, stored.Int32, stored.Int16, stored.SByte, stored.Byte:
		number, ok := textToWhole(text)
		return ok && p.numeric(f.Type, number, true)
	}
	return false
}

// textToBoolean is Boolean.Parse: any case, surrounded by white space and NULs.
func textToBoolean(text []byte) (value byte, ok bool) {
	switch word := strings.TrimFunc(string(text), IsSpaceOrNUL); {
	case len(word) == len("true") && strings.EqualFold(word, "true"): // the length excludes text outside of ASCII that folds to it
		return 1, true
	case len(word) == len("false") && strings.EqualFold(word, "false"):
		return 0, true
	}
	return 0, false
}

// IsSpaceOrNUL reports whether .NET trims a character from the text of a value.
func IsSpaceOrNUL(r rune) bool { return r == 0 || unicode.IsSpace(r) }

// textToWhole returns the number in a string by the rules of Int64.Parse with
// NumberStyles.Integer: surrounding white space and a leading sign are allowed.
func textToWhole(text []byte) ([]byte, bool) {
	text = trimNumber(text)
	sign, digits := cutSign(text)
	if digits = bytes.TrimLeft(digits, "0"); len(digits) == 0 {
		return []byte("0"), len(text) > 0 && text[len(text)-1] == '0' // -0 is 0, for bytes too
	}
	for _, c := range digits {
		if !isDigit(c) {
			return nil, false
		}
	}
	return append([]byte(sign), digits...), true
}

// textToFloat returns the number in a string by the rules of Double.Parse with
// NumberStyles.Float and AllowThousands. It allows surrounding white space, a leading sign,
// commas anywhere between the first digit and the point, digits on one or both sides of the
// point, and an exponent.
func textToFloat(text []byte) ([]byte, bool) {
	sign, rest := cutSign(trimNumber(text))
	out := []byte(sign)
	digits, point, i := 0, false, 0
	for ; i < len(rest); i++ {
		switch c := rest[i]; {
		case isDigit(c):
			digits++
		case c == '.' && !point:
			point = true
		case c == ',' && digits > 0 && !point:
			continue
		default:
			if c|0x20 != 'e' || digits == 0 {
				return nil, false
			}
			_, exponent := cutSign(rest[i+1:])
			return append(out, rest[i:]...), len(exponent) > 0 && allDigits(exponent)
		}
		out = append(out, rest[i])
	}
	return out, digits > 0
}

// TextToSpecial returns the infinity or NaN that a string names.
func TextToSpecial(text []byte) (float64, bool) {
	switch string(text) {
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	switch strings.TrimSpace(string(text)) {
	case "NaN":
		return math.NaN(), true
	case "INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	}
	return 0, false
}

// trimNumber removes trailing NULs of a number and then ASCII white space on both ends.
func trimNumber(text []byte) []byte {
	return bytes.Trim(bytes.TrimRight(text, "\x00"), " \t\n\v\f\r")
}

// cutSign removes the sign of a number. A plus becomes "".
func cutSign(text []byte) (sign string, rest []byte) {
	if len(text) > 0 && text[0] == '-' {
		return "-", text[1:]
	}
	return "", bytes.TrimPrefix(text, []byte("+"))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func allDigits(text []byte) bool {
	return len(bytes.TrimLeft(text, "0123456789")) == 0
}
