package odata

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// literalKind says which member of a literal has its value.
type literalKind uint8

const (
	literalNull literalKind = iota
	literalBoolean
	literalString
	literalInteger // Int32 and Int64
	literalFloat   // Single and Double
	literalDecimal
	literalDateTime
	literalPoint
	literalPolygon
	literalForeign // of a type that no field has
)

// literal is a constant.
type literal struct {
	kind     literalKind
	typeName string // as the library names it in messages

	boolean bool
	text    string // of strings
	integer int64  // also milliseconds since 1970
	float   float64
	decimal *big.Rat
	point   point
	polygon *polygon
}

// parseLiteral reads the current token, which is a literal of some kind.
func (l *lexer) parseLiteral() (*literal, error) {
	t, text := l.tok, l.text()
	v := &literal{typeName: t.typeName}
	ok, why := true, ""
	switch t.kind {
	case tokenNull:
	case tokenBoolean:
		v.kind, v.boolean = literalBoolean, text == "true"
	case tokenString:
		v.kind, v.text = literalString, unquote(text)
	case tokenDateTime:
		v.kind = literalDateTime
		v.integer, ok = stored.ParseDateTime([]byte(text))
	case tokenNumber:
		ok = v.parseNumber(text)
	case tokenGeography:
		why = v.parseGeography(unquote(text[strings.IndexByte(text, '\''):]))
		ok = why == ""
	default:
		v.kind = literalForeign
	}
	if !ok {
		if why != "" {
			why = " with reason '" + why + "'"
		}
		return nil, refuse("Unrecognized '%s' literal '%s' at '%d' in '%s'%s.", t.typeName, text, position(l.src, t.pos), l.src, why)
	}
	return v, l.advance()
}

func unquote(text string) string {
	return strings.ReplaceAll(text[1:len(text)-1], "''", "'")
}

// isNumber reports whether the literal can be compared with numbers.
func (v *literal) isNumber() bool {
	return v.kind == literalInteger || v.kind == literalFloat || v.kind == literalDecimal
}

// parseNumber reads a number of the type that the lexer found.
func (v *literal) parseNumber(text string) (ok bool) {
	if strings.HasPrefix(text, "NaN") {
		v.kind, v.float = literalFloat, math.NaN()
		return true
	}
	if strings.HasPrefix(text, "INF") || text == "-INF" {
		v.kind, v.float = literalFloat, math.Inf(1)
		if text[0] == '-' {
			v.float = math.Inf(-1)
		}
		return true
	}
	text = strings.TrimRight(text, "mMdDlLfF")
	var err error
	switch v.typeName {
	case "Edm.Int32", "Edm.Int64":
		v.kind = literalInteger
		v.integer, err = strconv.ParseInt(text, 10, 64)
	case "Edm.Decimal":
		v.kind = literalDecimal
		v.decimal, ok = parseDecimal(text)
		return ok
	case "Edm.Single":
		// The value is what was written, not its neighbour among the singles: the
		// library takes care not to lose 1.234 on the way to a double.
		fallthrough
	default:
		v.kind = literalFloat
		v.float, err = strconv.ParseFloat(text, 64)
	}
	return err == nil
}

// toDouble is a number as an Edm.Double, which constants are converted to when
// they are compared with one.
func (v *literal) toDouble() float64 {
	switch v.kind {
	case literalInteger:
		return float64(v.integer)
	case literalDecimal:
		f, _ := v.decimal.Float64()
		return f
	}
	return v.float
}

// floor is the largest integer that is not greater than a finite number.
// Beyond the range of Int64, beyond is the sign and the integer is not set.
func (v *literal) floor() (n int64, exact bool, beyond int) {
	switch v.kind {
	case literalInteger:
		return v.integer, true, 0
	case literalDecimal:
		whole := new(big.Int)
		rest := new(big.Int)
		whole.DivMod(v.decimal.Num(), v.decimal.Denom(), rest) // Euclidean: the rest is never negative
		if !whole.IsInt64() {
			return 0, false, whole.Sign()
		}
		return whole.Int64(), rest.Sign() == 0, 0
	}
	whole := math.Floor(v.float)
	switch {
	case whole >= 1<<63:
		return 0, false, 1
	case whole < -1<<63:
		return 0, false, -1
	}
	return int64(whole), whole == v.float, 0
}

// numberType guesses the type of a number without a suffix as the library does:
// the smallest integer, or the least exact of single, double and decimal that
// loses nothing of what is written.
func numberType(text string, fraction bool) (name string, ok bool) {
	if !fraction {
		if _, err := strconv.ParseInt(text, 10, 32); err == nil {
			return "Edm.Int32", true
		}
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return "Edm.Int64", true
		}
	}
	double, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", false
	}
	if exact, ok := parseDecimal(text); ok {
		shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(double, 'f', -1, 64))
		if exact.Cmp(shortest) != 0 {
			return "Edm.Decimal", true
		}
	}
	single, err := strconv.ParseFloat(text, 32)
	if err == nil {
		if back, _ := strconv.ParseFloat(strconv.FormatFloat(single, 'g', -1, 32), 64); back == double {
			return "Edm.Single", true
		}
	}
	return "Edm.Double", true
}

// parseDecimal reads what fits into a decimal: 96 bits, and no exponent. Digits
// beyond those are the reason for the limit of length.
func parseDecimal(text string) (*big.Rat, bool) {
	if len(text) > 31 || strings.ContainsAny(text, "eE") {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || new(big.Int).Quo(r.Num(), r.Denom()).BitLen() > 96 {
		return nil, false
	}
	return r, true
}
