package odata

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// document is the naive evaluator's form of a document: times are milliseconds, numbers int64 or float64, points are
// points.
type document = map[string]any

// hotelFields has fields of all types, with sub-fields of the complex ones.
var hotelFields = compileFields(
	field("HotelId", "Edm.String", key),
	field("HotelName", "Edm.String"),
	field("Category", "Edm.String"),
	field("Description", "Edm.String", plain),
	field("Tags", "Collection(Edm.String)"),
	field("Rating", "Edm.Int32"),
	field("Visits", "Edm.Int64"),
	field("Price", "Edm.Double"),
	field("Parking", "Edm.Boolean"),
	field("Renovated", "Edm.DateTimeOffset"),
	field("Location", "Edm.GeographyPoint"),
	field("Places", "Collection(Edm.GeographyPoint)"),
	field("Scores", "Collection(Edm.Int32)"),
	field("Prices", "Collection(Edm.Double)"),
	field("Dates", "Collection(Edm.DateTimeOffset)"),
	field("Flags", "Collection(Edm.Boolean)"),
	field("Vector", "Collection(Edm.Single)", plain),
	complexField("Address", "Edm.ComplexType",
		field("City", "Edm.String"),
		complexField("Country", "Edm.ComplexType", field("Code", "Edm.String"), field("Notes", "Edm.String", plain)),
	),
	complexField("Rooms", "Collection(Edm.ComplexType)",
		field("Type", "Edm.String"),
		field("Rate", "Edm.Double"),
		field("Beds", "Edm.Int32"),
		field("Smoking", "Edm.Boolean"),
		field("Tags", "Collection(Edm.String)"),
		field("Notes", "Edm.String", plain),
		complexField("View", "Edm.ComplexType", field("Side", "Edm.String"), field("Secret", "Edm.String", plain)),
	),
)

var hotel = &Options{Fields: byName(hotelFields)}

func key(f *stored.Field) { f.Key = true }
func plain(f *stored.Field) {
	f.Filterable, f.Sortable, f.Facetable, f.Retrievable = false, false, false, false
}

func field(name, typeName string, options ...func(*stored.Field)) *stored.Field {
	f := &stored.Field{Name: name, Retrievable: true, Filterable: true, Facetable: true}
	f.Type, f.Collection, _ = stored.ParseType(typeName)
	f.Sortable = !f.Collection
	f.Searchable = f.Type == stored.String || f.Vector()
	for _, o := range options {
		o(f)
	}
	return f
}

func complexField(name, typeName string, fields ...*stored.Field) *stored.Field {
	f := &stored.Field{Name: name, Retrievable: true}
	f.Type, f.Collection, _ = stored.ParseType(typeName)
	f.Fields = compileFields(fields...)
	f.ByName = byName(f.Fields)
	return f
}

func compileFields(fields ...*stored.Field) []*stored.Field {
	for i, f := range fields {
		f.Ordinal = i
	}
	return fields
}

func byName(fields []*stored.Field) map[string]*stored.Field {
	m := make(map[string]*stored.Field)
	for _, f := range fields {
		m[f.Name] = f
	}
	return m
}

// encode encodes a document in its stored form, with members in another order than the fields.
func encode(fields []*stored.Field, d document) []byte {
	var dst []byte
	for _, f := range slices.Backward(fields) {
		v, ok := d[f.Name]
		if !ok {
			continue
		}
		var body int
		dst, body = stored.OpenMember(dst, f.Ordinal)
		if v == nil {
			stored.NullMember(dst, body)
			continue
		}
		if !f.Collection {
			dst = appendValue(dst, f, v)
		} else {
			for _, element := range v.([]any) {
				if f.Type.Size() > 0 {
					dst = appendValue(dst, f, element)
					continue
				}
				at := len(dst)
				dst = appendValue(append(dst, 0, 0, 0, 0), f, element)
				binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
			}
		}
		stored.CloseMember(dst, body)
	}
	return dst
}

func appendValue(dst []byte, f *stored.Field, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(dst, v...)
	case bool:
		if v {
			return append(dst, 1)
		}
		return append(dst, 0)
	case int64:
		if f.Type == stored.Int32 {
			return binary.LittleEndian.AppendUint32(dst, uint32(v))
		}
		return binary.LittleEndian.AppendUint64(dst, uint64(v))
	case float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	case point:
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.lon))
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.lat))
	default:
		return append(dst, encode(f.Fields, v.(document))...)
	}
}

func date(text string) int64 {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return at.UnixMilli()
}

// passes evaluates a filter that must compile.
func passes(t testing.TB, filter string, d document) bool {
	t.Helper()
	f, err := CompileFilter(filter, hotel)
	if err != nil {
		t.Fatalf("%s: %v", filter, err)
	}
	return f.Match(encode(hotelFields, d), 0, nil)
}

func words(list ...string) []any {
	out := make([]any, len(list))
	for i, w := range list {
		out[i] = w
	}
	return out
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
