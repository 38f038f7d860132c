package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
)

// misfit returns the problem that raw is not a value of the type of f.
func (f *field) misfit(raw []byte, at int) *Problem {
	shown := strings.ToValidUTF8(string(raw[:min(len(raw), 60)]), "")
	if len(raw) > 60 {
		shown += "…"
	}
	if len(raw) > 0 && raw[0] != '{' && raw[0] != '[' {
		shown = strconv.Quote(shown)
	}
	typ := f.typ
	if element, ok := typ.Element(); ok {
		typ = element
	}
	return &Problem{Kind: KindValue, Field: f.name, At: at, Message: fmt.Sprintf("%s is not %s%s", shown, typ, hints[f.kind])}
}

var hints = map[kind]string{
	boolean: "; use true or false",
	integer: "; use digits, within the range of the type",
	double:  "; use digits and a point, such as 1234.5",
	date:    "; use ISO 8601, such as 2024-01-31 or 2024-01-31T08:30:00Z",
	point:   `; use {"type":"Point","coordinates":[LONGITUDE,LATITUDE]} or POINT(LONGITUDE LATITUDE)`,
}

// text appends the value that text from a cell or JSON string spells. For a field that is not a string, blank text
// is null.
func (c *Converter) text(dst []byte, f *field, value []byte, at int) ([]byte, *Problem) {
	if f.kind == text {
		return jsontext.AppendString(dst, value), nil
	}
	trimmed := bytes.TrimSpace(value)
	if len(trimmed) == 0 {
		return append(dst, "null"...), nil
	}
	switch f.kind {
	case boolean:
		switch {
		case bytes.EqualFold(trimmed, []byte("true")), string(trimmed) == "1":
			return append(dst, "true"...), nil
		case bytes.EqualFold(trimmed, []byte("false")), string(trimmed) == "0":
			return append(dst, "false"...), nil
		}
	case integer, double:
		return appendNumber(dst, f, trimmed, at)
	case date:
		return appendDate(dst, f, trimmed, at)
	case point:
		return appendPoint(dst, f, trimmed, at)
	case complexValue:
		if trimmed[0] == '{' {
			p := parser{Converter: c, src: append([]byte(nil), trimmed...)}
			dst, problem := p.nested(dst, f.object, f.name)
			if problem == nil && p.i < len(p.src) {
				problem = &Problem{Kind: KindValue, Field: f.name, Message: "text behind the JSON object"}
			}
			return dst, at0(problem, at)
		}
	}
	return dst, f.misfit(value, at)
}

// at0 adds at, the offset of a part, to the offset of a problem within that part.
func at0(p *Problem, at int) *Problem {
	if p != nil {
		p.At += at
	}
	return p
}

// listOf appends the elements that text spells: those of a JSON array, or the parts between the field's separators.
func (c *Converter) listOf(dst []byte, f *field, value []byte) ([]byte, *Problem) {
	trimmed := bytes.TrimSpace(value)
	switch {
	case len(trimmed) == 0:
		return append(dst, "[]"...), nil
	case trimmed[0] == '[' && f.separator == "":
		p := parser{Converter: c, src: trimmed}
		dst, problem := p.value(dst, f)
		if problem == nil && p.i < len(p.src) {
			problem = &Problem{Kind: KindValue, Field: f.name, Message: "text behind the JSON array"}
		}
		return dst, problem
	case f.separator == "":
		return dst, &Problem{Kind: KindValue, Field: f.name, Message: fmt.Sprintf("text, and the field is %s; -split %s=SEPARATOR divides it", f.typ, f.name)}
	}
	dst = append(dst, '[')
	for i, part := range bytes.Split(value, []byte(f.separator)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		part = bytes.TrimSpace(part)
		if len(part) == 0 && f.kind != text {
			return dst, &Problem{Kind: KindValue, Field: f.name, Message: "an element is empty"}
		}
		var problem *Problem
		if dst, problem = c.text(dst, f, part, 0); problem != nil {
			return dst, problem
		}
	}
	return append(dst, ']'), nil
}

var integerBits = map[models.DataType]int{
	models.DataTypeInt32: 32, models.DataTypeInt64: 64, models.DataTypeInt16: 16, models.DataTypeSByte: 8,
}

// appendNumber appends a number for a field of the type of f, unchanged if it is valid JSON.
func appendNumber(dst []byte, f *field, s []byte, at int) ([]byte, *Problem) {
	switch f.kind {
	case integer:
		n, ok := wholeNumber(s)
		if typ, list := f.typ.Element(); ok && list {
			ok = inRange(n, typ)
		} else if ok {
			ok = f.typ == models.DataTypeInt64 || n == int64(int32(n))
		}
		if !ok {
			return dst, f.misfit(s, at)
		}
		return strconv.AppendInt(dst, n, 10), nil
	case double:
		return appendDouble(dst, f, s, at)
	case text:
		return jsontext.AppendString(dst, s), nil
	}
	return dst, f.misfit(s, at)
}

func inRange(n int64, t models.DataType) bool {
	if t == models.DataTypeByte {
		return n >= 0 && n <= math.MaxUint8
	}
	bits := integerBits[t]
	return bits == 64 || n >= -1<<(bits-1) && n < 1<<(bits-1)
}

// wholeNumber parses a whole number. 5.0 and 1e3 are whole, 5.5 is not.
func wholeNumber(s []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(s), 10, 64)
	if err == nil {
		return n, true
	}
	if !numeric(s) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(s), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return 0, false
	}
	return int64(x), true
}

// numeric reports whether s has only the characters of a decimal number. strconv accepts other forms, too.
func numeric(s []byte) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return len(s) > 0
}

func appendDouble(dst []byte, f *field, s []byte, at int) ([]byte, *Problem) {
	end, ok := 0, false
	if c := s[0]; c == '-' || c >= '0' && c <= '9' {
		end, ok = wire.NumberEnd(s, 0)
	}
	exact := ok && end == len(s)
	if exact && len(s) < 30 && bytes.IndexByte(s, 'e') < 0 && bytes.IndexByte(s, 'E') < 0 {
		return append(dst, s...), nil
	}
	switch string(s) {
	case "NaN", "INF", "-INF":
		if f.typ == models.DataTypeDouble {
			return jsontext.AppendString(dst, s), nil
		}
		return dst, f.misfit(s, at)
	}
	bits := 64
	if element, _ := f.typ.Element(); element == models.DataTypeSingle || element == models.DataTypeHalf {
		bits = 32
	}
	x, err := strconv.ParseFloat(string(s), bits)
	if err != nil || !numeric(s) {
		return dst, f.misfit(s, at)
	}
	if exact {
		return append(dst, s...), nil
	}
	return strconv.AppendFloat(dst, x, 'g', -1, bits), nil
}

// appendPoint appends GeoJSON unchanged, or converts well-known text to GeoJSON.
func appendPoint(dst []byte, f *field, s []byte, at int) ([]byte, *Problem) {
	if s[0] == '{' {
		var p struct {
			Type        string    `json:"type"`
			Coordinates []float64 `json:"coordinates"`
		}
		if json.Unmarshal(s, &p) != nil || p.Type != "Point" || len(p.Coordinates) != 2 || !onEarth(p.Coordinates[0], p.Coordinates[1]) {
			return dst, f.misfit(s, at)
		}
		return append(dst, s...), nil
	}
	name, inside, ok := strings.Cut(string(s), "(")
	inside, closed := strings.CutSuffix(strings.TrimSpace(inside), ")")
	numbers := strings.Fields(inside)
	if !ok || !closed || !strings.EqualFold(strings.TrimSpace(name), "POINT") || len(numbers) != 2 {
		return dst, f.misfit(s, at)
	}
	longitude, err1 := strconv.ParseFloat(numbers[0], 64)
	latitude, err2 := strconv.ParseFloat(numbers[1], 64)
	if err1 != nil || err2 != nil || !onEarth(longitude, latitude) {
		return dst, f.misfit(s, at)
	}
	dst = append(dst, `{"type":"Point","coordinates":[`...)
	dst = append(strconv.AppendFloat(dst, longitude, 'f', -1, 64), ',')
	return append(strconv.AppendFloat(dst, latitude, 'f', -1, 64), "]}"...), nil
}

func onEarth(longitude, latitude float64) bool {
	return math.Abs(longitude) <= 180 && math.Abs(latitude) <= 90
}
