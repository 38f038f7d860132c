package batch

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
)

// scalar appends one value of type f.Type, which must be neither null nor complex, to the
// current document. It refuses a value that does not fit the type.
func (p *Parser) scalar(f *stored.Field) *reply.Error {
	c := p.Peek()
	switch c {
	case '{':
		if f.Type == stored.GeographyPoint {
			return p.geographyPoint(f)
		}
		return p.unexpectedNode(f, "StartObject")
	case '[':
		return p.unexpectedNode(f, "StartArray")
	case '"':
		raw, plain, ok := p.Quoted()
		if !ok {
			return p.malformed()
		}
		return p.text(f, raw, plain)
	case 't', 'f':
		word := "true"
		if c == 'f' {
			word = "false"
		}
		if !p.Literal(word) {
			return p.malformed()
		}
		if f.Type != stored.Boolean {
			return p.cannotConvert(f, strings.ToUpper(word[:1])+word[1:]) // as .NET writes it
		}
		b := byte(0)
		if c == 't' {
			b = 1
		}
		p.Buf = append(p.Buf, b)
		return nil
	default:
		if c != '-' && (c < '0' || c > '9') {
			p.Fail("a value was expected")
			return p.malformed()
		}
		text, whole, ok := p.Number()
		if !ok {
			return p.malformed()
		}
		if !p.numeric(f.Type, text, whole) {
			return p.cannotConvert(f, string(text))
		}
		return nil
	}
}

// text appends the value of a JSON string.
func (p *Parser) text(f *stored.Field, raw []byte, plain bool) *reply.Error {
	if !plain && f.Type != stored.String {
		raw = p.unquoted(raw) // System.Text.Json writes the + of an offset as \u002B
	}
	switch f.Type {
	case stored.String:
		start := len(p.Buf)
		if plain {
			p.Buf = append(p.Buf, raw...)
		} else {
			p.Buf = wire.AppendUnquoted(p.Buf, raw)
		}
		if len(p.Buf)-start > MaxTermBytes && (f.Filterable || f.Sortable || f.Facetable) && p.itemError == "" {
			p.itemError = "Field '" + f.Name + "' contains a term that is too large to process. The max length for UTF-8 encoded terms is 32766 bytes. " +
				"The most likely cause of this error is that filtering, sorting, and/or faceting are enabled on this field, which causes the entire field value to be indexed as a single term. " +
				"Please avoid the use of these options for large fields."
		}
		return nil
	case stored.DateTimeOffset:
		if ms, ok := stored.ParseDateTime(raw); ok {
			p.Buf = binary.LittleEndian.AppendUint64(p.Buf, uint64(ms))
			return nil
		}
	default:
		if p.ConvertText(f, raw) {
			return nil
		}
	}
	return p.cannotConvert(f, string(raw))
}

// numeric appends the value of a JSON number and reports whether the type can represent it.
// Whole numbers are never converted to float64, so Edm.Int64 is exact.
func (p *Parser) numeric(t stored.Type, text []byte, whole bool) bool {
	width := 0
	switch t {
	case stored.Int32:
		width = 32
	case stored.Int64:
		width = 64
	case stored.Int16:
		width = 16
	case stored.SByte:
		width = 8
	case stored.Byte:
		n, err := strconv.ParseUint(string(text), 10, 8)
		p.Buf = append(p.Buf, byte(n))
		return err == nil && whole
	case stored.Double:
		n, err := strconv.ParseFloat(string(text), 64)
		p.Buf = binary.LittleEndian.AppendUint64(p.Buf, math.Float64bits(n))
		return err == nil
	case stored.Single, stored.Half:
		n, err := strconv.ParseFloat(string(text), 32)
		single := float32(n)
		if t == stored.Half {
			if math.Abs(n) >= 65520 { // rounds to more than the largest half
				return false
			}
			single = RoundToHalf(single)
		}
		p.Buf = binary.LittleEndian.AppendUint32(p.Buf, math.Float32bits(single))
		return err == nil
	default:
		return false
	}
	n, err := strconv.ParseInt(string(text), 10, width)
	if err != nil || !whole {
		return false
	}
	switch width {
	case 8:
		p.Buf = append(p.Buf, byte(n))
	case 16:
		p.Buf = binary.LittleEndian.AppendUint16(p.Buf, uint16(n))
	case 32:
		p.Buf = binary.LittleEndian.AppendUint32(p.Buf, uint32(n))
	default:
		p.Buf = binary.LittleEndian.AppendUint64(p.Buf, uint64(n))
	}
	return true
}

// RoundToHalf rounds f to the nearest number with 16 bits, ties to even. f must be in range.
func RoundToHalf(f float32) float32 {
	// Halves have 11 significant bits and, below 2^-14, steps of 2^-24.
	exponent := max(math.Ilogb(float64(f)), -14)
	if f == 0 {
		return f
	}
	step := math.Ldexp(1, exponent-10)
	return float32(math.RoundToEven(float64(f)/step) * step)
}

// geographyPoint reads {"type":"Point","coordinates":[lon,lat],"crs":…}.
func (p *Parser) geographyPoint(f *stored.Field) *reply.Error {
	var position [2]float64
	var isPoint, hasPosition bool
	p.Pos++
	for first := true; ; first = false {
		if c := p.Peek(); first && c == '}' {
			p.Pos++
			break
		} else if c != '"' {
			p.Fail("a property name was expected")
			return p.malformed()
		}
		name, plain, ok := p.Quoted()
		if !ok || !p.Expect(':') {
			return p.malformed()
		}
		if !plain {
			name = p.unquoted(name)
		}
		switch string(name) {
		case "type":
			if p.Peek() != '"' {
				return p.badPoint(f, "the type must be 'Point'")
			}
			value, plain, ok := p.Quoted()
			if !ok {
				return p.malformed()
			}
			if !plain {
				value = p.unquoted(value)
			}
			isPoint = string(value) == "Point"
		case "coordinates":
			if hasPosition, ok = p.position(&position); !ok {
				return p.malformed()
			}
		case "crs":
			if err := p.coordinateSystem(f); err != nil {
				return err
			}
		default:
			if !p.Skip(p.Depth + 1) {
				return p.malformed()
			}
		}
		if p.Peek() == '}' {
			p.Pos++
			break
		}
		if !p.Expect(',') {
			return p.malformed()
		}
	}
	lon, lat := position[0], position[1]
	switch {
	case !isPoint:
		return p.badPoint(f, "the type must be 'Point'")
	case !hasPosition:
		return p.badPoint(f, "the coordinates must be an array of a longitude and a latitude")
	case !(lon >= -180 && lon <= 180) || !(lat >= -90 && lat <= 90):
		return p.badPoint(f, "longitudes are from -180 to 180, latitudes from -90 to 90")
	}
	p.Buf = binary.LittleEndian.AppendUint64(p.Buf, math.Float64bits(lon))
	p.Buf = binary.LittleEndian.AppendUint64(p.Buf, math.Float64bits(lat))
	return nil
}

// position reads the coordinates of a point. valid reports whether there are at least two and
// all are numbers. Coordinates after the second are ignored.
func (p *Parser) position(into *[2]float64) (valid, ok bool) {
	if p.Peek() != '[' {
		return false, p.Skip(p.Depth + 1)
	}
	p.Pos++
	valid = true
	for n := 0; ; n++ {
		c := p.Peek()
		switch {
		case c == ']' && n == 0:
			p.Pos++
			return false, true
		case c == '-' || '0' <= c && c <= '9':
			text, _, ok := p.Number()
			if !ok {
				return false, false
			}
			value, err := strconv.ParseFloat(string(text), 64)
			if n < len(into) {
				into[n] = value
			}
			valid = valid && err == nil
		default:
			valid = false
			if !p.Skip(p.Depth + 1) {
				return false, false
			}
		}
		if p.Peek() == ']' {
			p.Pos++
			return valid && n >= 1, true
		}
		if !p.Expect(',') {
			return false, false
		}
	}
}

// coordinateSystem reads the crs of a point. The service has only one.
func (p *Parser) coordinateSystem(f *stored.Field) *reply.Error {
	p.Peek()
	start := p.Pos
	if !p.Skip(p.Depth + 1) {
		return p.malformed()
	}
	crs := p.Data[start:p.Pos]
	if string(crs) == "null" || containsEPSG4326(crs) {
		return nil
	}
	return p.badPoint(f, "the coordinate reference system must be EPSG:4326")
}
