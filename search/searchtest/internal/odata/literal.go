package odata

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// literalKind determines the member of literal that has the value.
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
	literalForeign // of a type that fields cannot have
)

// literal is a constant.
type literal struct {
	kind     literalKind
	typeName string // the library's name for messages

	boolean bool
	text    string // for literalString
	integer int64  // for literalInteger; for literalDateTime milliseconds since 1970
	float   float64
	decimal *big.Rat
	point   point
	polygon *polygon
}

// parseLiteral parses the current token, which must be a literal.
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

// parseNumber parses a number of the type that the lexer determined.
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
		// The value is the written number, not the nearest Single: the library converts 1.234 to a double without
		// loss.
		fallthrough
	default:
		v.kind = literalFloat
		v.float, err = strconv.ParseFloat(text, 64)
	}
	return err == nil
}

// toDouble returns a number as Edm.Double, for comparisons with doubles.
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

// floor returns the largest integer not greater than a finite number. If it is outside the range of Int64, beyond is
// its sign, and n is not set.
func (v *literal) floor() (n int64, exact bool, beyond int) {
	switch v.kind {
	case literalInteger:
		return v.integer, true, 0
	case literalDecimal:
		whole := new(big.Int)
		rest := new(big.Int)
		whole.DivMod(v.decimal.Num(), v.decimal.Denom(), rest) // Euclidean: the remainder is never negative
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

// numberType returns the type that the library gives a number without a suffix: the smallest integer type, or the
// least precise of single, double and decimal that keeps all digits.
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

// parseDecimal parses a number that fits in a decimal: 96 bits, without exponent. The limit on the length bounds the
// number of digits after the point.
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
