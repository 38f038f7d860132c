package parquetrows

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
)

// encoder writes rows as JSON.
type encoder struct {
	root    *node
	leaves  []format.SchemaElement
	columns [][]parquet.Value // by column: values of the row that are not written yet
}

// node is a field of a schema.
type node struct {
	name     []byte // quoted, with a colon
	shape    shape
	optional bool
	repeated bool
	def, rep int // maximum levels
	first    int // range of its leaf columns, last excluded
	last     int
	fields   []*node
	scalar   func(b []byte, v *parquet.Value) []byte
}

type shape uint8

const (
	group shape = iota
	leaf
	list // of its only field, which is repeated
	dictionary
)

func newEncoder(file *parquet.File) *encoder {
	e := &encoder{}
	for _, element := range file.Metadata().Schema {
		if element.Type.Valid {
			e.leaves = append(e.leaves, element)
		}
	}
	e.root = e.node(file.Root())
	return e
}

func (e *encoder) node(c *parquet.Column) *node {
	name, _ := json.Marshal(c.Name()) // a string always marshals
	n := &node{
		name: append(name, ':'), optional: c.Optional(), repeated: c.Repeated(),
		def: c.MaxDefinitionLevel(), rep: c.MaxRepetitionLevel(), first: len(e.columns),
	}
	if c.Leaf() {
		n.shape, n.scalar = leaf, scalarOf(c.Type())
		if _, is := e.leaves[len(e.columns)].LogicalType.Value.(*format.Float16Type); is { // the library does not know the type
			n.scalar = func(b []byte, v *parquet.Value) []byte { return appendFloat(b, float16(v.ByteArray()), 32) }
		}
		e.columns = append(e.columns, nil)
		n.last = len(e.columns)
		return n
	}
	for _, child := range c.Columns() {
		n.fields = append(n.fields, e.node(child))
	}
	n.last = len(e.columns)
	if len(n.fields) == 1 && n.fields[0].repeated {
		inner := n.fields[0]
		switch typ := c.Type().LogicalType(); {
		case typ != nil && isMap(typ) && len(inner.fields) == 2:
			n.shape = dictionary
		case typ != nil && isList(typ):
			n.shape = list
			if len(inner.fields) == 1 { // in the standard form a group contains the element
				element := *inner.fields[0]
				n.fields[0] = &node{shape: group, repeated: true, def: inner.def, rep: inner.rep, first: inner.first, last: inner.last, fields: []*node{&element}}
			}
		}
	}
	return n
}

func isList(t *format.LogicalType) bool { _, ok := t.Value.(*format.ListType); return ok }
func isMap(t *format.LogicalType) bool  { _, ok := t.Value.(*format.MapType); return ok }

// row appends a row as a JSON object.
func (e *encoder) row(b []byte, row parquet.Row) []byte {
	clear(e.columns)
	for start := 0; start < len(row); {
		column, end := row[start].Column(), start+1
		for end < len(row) && row[end].Column() == column {
			end++
		}
		e.columns[column] = row[start:end]
		start = end
	}
	return e.group(b, e.root)
}

func (e *encoder) group(b []byte, n *node) []byte {
	b = append(b, '{')
	for i, f := range n.fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, f.name...)
		b = e.field(b, f)
	}
	return append(b, '}')
}

// field appends the value of a field that may be null or repeated.
func (e *encoder) field(b []byte, n *node) []byte {
	if n.repeated {
		return e.array(b, n, n)
	}
	if n.optional && e.level(n) < n.def {
		e.pass(n)
		return append(b, "null"...)
	}
	return e.value(b, n)
}

func (e *encoder) value(b []byte, n *node) []byte {
	switch n.shape {
	case leaf:
		column := e.columns[n.first]
		if len(column) == 0 {
			return append(b, "null"...)
		}
		e.columns[n.first] = column[1:]
		return n.scalar(b, &column[0])
	case list:
		element := n.fields[0]
		if element.fields != nil {
			return e.array(b, element, element.fields[0])
		}
		return e.array(b, element, element)
	case dictionary:
		return e.dictionary(b, n.fields[0])
	}
	return e.group(b, n)
}

// array appends the elements of a repeated field as a JSON array.
func (e *encoder) array(b []byte, repeated, element *node) []byte {
	b = append(b, '[')
	if e.level(repeated) < repeated.def {
		e.pass(repeated)
		return append(b, ']')
	}
	for {
		if element == repeated {
			b = e.value(b, element)
		} else {
			b = e.field(b, element)
		}
		if !e.more(repeated) {
			return append(b, ']')
		}
		b = append(b, ',')
	}
}

// dictionary appends a map as a JSON object.
func (e *encoder) dictionary(b []byte, pair *node) []byte {
	b = append(b, '{')
	if e.level(pair) < pair.def {
		e.pass(pair)
		return append(b, '}')
	}
	for {
		start := len(b)
		if b = e.field(b, pair.fields[0]); b[start] != '"' {
			b = appendString(b[:start], append([]byte(nil), b[start:]...))
		}
		b = e.field(append(b, ':'), pair.fields[1])
		if !e.more(pair) {
			return append(b, '}')
		}
		b = append(b, ',')
	}
}

// level returns the definition level of the next value below n, -1 if there is none.
func (e *encoder) level(n *node) int {
	if column := e.columns[n.first]; len(column) > 0 {
		return column[0].DefinitionLevel()
	}
	return -1
}

// more reports whether the repeated field has another element in this row.
func (e *encoder) more(n *node) bool {
	column := e.columns[n.first]
	return len(column) > 0 && column[0].RepetitionLevel() >= n.rep
}

// pass skips the values below n that represent a null or an empty list.
func (e *encoder) pass(n *node) {
	for c := n.first; c < n.last; c++ {
		if len(e.columns[c]) > 0 {
			e.columns[c] = e.columns[c][1:]
		}
	}
}

// scalarOf returns a function that appends a value of type t as JSON.
func scalarOf(t parquet.Type) func([]byte, *parquet.Value) []byte {
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.DecimalType:
			return func(b []byte, v *parquet.Value) []byte { return appendDecimal(b, v, int(l.Scale)) }
		case *format.DateType:
			return func(b []byte, v *parquet.Value) []byte {
				return appendTime(b, time.Unix(int64(v.Int32())*86400, 0))
			}
		case *format.TimestampType:
			switch l.Unit.Value.(type) {
			case *format.MilliSeconds:
				return func(b []byte, v *parquet.Value) []byte { return appendTime(b, time.UnixMilli(v.Int64())) }
			case *format.MicroSeconds:
				return func(b []byte, v *parquet.Value) []byte { return appendTime(b, time.UnixMicro(v.Int64())) }
			}
			return func(b []byte, v *parquet.Value) []byte { return appendTime(b, time.Unix(0, v.Int64())) }
		case *format.UUIDType:
			return func(b []byte, v *parquet.Value) []byte {
				id, err := uuid.FromBytes(v.ByteArray())
				if err != nil {
					return append(b, "null"...)
				}
				return append(append(append(b, '"'), id.String()...), '"')
			}
		case *format.JsonType:
			return appendJSON
		case *format.StringType, *format.EnumType: // what is not UTF-8 stays so, and the record is rejected
			return func(b []byte, v *parquet.Value) []byte { return jsontext.AppendString(b, v.ByteArray()) }
		case *format.IntType:
			if !l.IsSigned {
				if t.Kind() == parquet.Int64 {
					return func(b []byte, v *parquet.Value) []byte { return strconv.AppendUint(b, v.Uint64(), 10) }
				}
				return func(b []byte, v *parquet.Value) []byte { return strconv.AppendUint(b, uint64(v.Uint32()), 10) }
			}
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(b []byte, v *parquet.Value) []byte { return strconv.AppendBool(b, v.Boolean()) }
	case parquet.Int32:
		return func(b []byte, v *parquet.Value) []byte { return strconv.AppendInt(b, int64(v.Int32()), 10) }
	case parquet.Int64:
		if c := t.ConvertedType(); c != nil && *c == deprecated.TimestampMillis {
			return func(b []byte, v *parquet.Value) []byte { return appendTime(b, time.UnixMilli(v.Int64())) }
		} else if c != nil && *c == deprecated.TimestampMicros {
			return func(b []byte, v *parquet.Value) []byte { return appendTime(b, time.UnixMicro(v.Int64())) }
		}
		return func(b []byte, v *parquet.Value) []byte { return strconv.AppendInt(b, v.Int64(), 10) }
	case parquet.Int96: // timestamps of old files: nanoseconds of the day, then the Julian day
		return func(b []byte, v *parquet.Value) []byte {
			i := v.Int96()
			return appendTime(b, time.Unix((int64(i[2])-2440588)*86400, int64(i[1])<<32|int64(i[0])))
		}
	case parquet.Float:
		return func(b []byte, v *parquet.Value) []byte { return appendFloat(b, float64(v.Float()), 32) }
	case parquet.Double:
		return func(b []byte, v *parquet.Value) []byte { return appendFloat(b, v.Double(), 64) }
	}
	return func(b []byte, v *parquet.Value) []byte { return appendString(b, v.ByteArray()) }
}

func appendTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"INF"`...)
	case math.IsInf(f, -1):
		return append(b, `"-INF"`...)
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(b, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(b, f, 'f', -1, bits)
}

// float16 returns a number of half precision, little-endian.
func float16(b []byte) float64 {
	bits := binary.LittleEndian.Uint16(b)
	fraction, exponent := float64(bits&0x3ff), int(bits>>10&0x1f)
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 0x1f:
		if f = math.Inf(1); fraction != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(fraction+0x400, exponent-25)
	}
	if bits&0x8000 != 0 {
		f = -f
	}
	return f
}

// appendJSON appends the value of a column of JSON. What is not JSON becomes text, because between the members of the
// row it could be further members.
func appendJSON(b []byte, v *parquet.Value) []byte {
	text := v.ByteArray()
	if json.Valid(text) {
		return append(b, text...)
	}
	return jsontext.AppendString(b, text)
}

// appendString appends bytes of no declared type as a JSON string: text if they are UTF-8, else base64.
func appendString(b, s []byte) []byte {
	if !utf8.Valid(s) {
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), s), '"')
	}
	return jsontext.AppendString(b, s)
}

func appendDecimal(b []byte, v *parquet.Value, scale int) []byte {
	unscaled := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		unscaled.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		unscaled.SetInt64(v.Int64())
	default: // big-endian, two's complement
		raw := v.ByteArray()
		if unscaled.SetBytes(raw); len(raw) > 0 && raw[0] >= 0x80 {
			unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
	}
	if unscaled.Sign() < 0 {
		b = append(b, '-')
		unscaled.Neg(unscaled)
	}
	digits := unscaled.String()
	for len(digits) <= scale {
		digits = "0" + digits
	}
	b = append(b, digits[:len(digits)-scale]...)
	if scale > 0 {
		b = append(append(b, '.'), digits[len(digits)-scale:]...)
	}
	return b
}
