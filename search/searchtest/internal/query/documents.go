package query

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// WholeDocument returns a document with all fields, for inspection.
func WholeDocument(sc *schema.Index, data []byte) []byte {
	dst := make([]byte, 0, 64+2*len(data))
	dst = append(dst, '{')
	dst = appendMembers(dst, sc.Fields, data, everything)
	return append(dst, '}')
}

// SuppliedDocument returns a document with only the members that were sent, in their order.
func SuppliedDocument(sc *schema.Index, data []byte) []byte {
	return appendSupplied(make([]byte, 0, 64+2*len(data)), sc.Fields, data)
}

// appendSupplied appends a stored object, with its braces.
func appendSupplied(dst []byte, fields []*stored.Field, object []byte) []byte {
	dst = append(dst, '{')
	for first := true; len(object) > 0; first = false {
		if !first {
			dst = append(dst, ',')
		}
		var m stored.Member
		m, object = stored.NextMember(object)
		f := fields[slices.IndexFunc(fields, func(f *stored.Field) bool { return f.Ordinal == m.Ordinal })]
		dst = reply.AppendString(dst, f.Name)
		dst = append(dst, ':')
		switch {
		case m.Null, f.Vector() && len(m.Value) == 0: // [] has the wrong length for a vector
			dst = append(dst, "null"...)
		case f.Collection && f.Type == stored.Complex:
			dst = append(dst, '[')
			for i, rest := 0, m.Value; len(rest) > 0; i++ {
				if i > 0 {
					dst = append(dst, ',')
				}
				var element []byte
				element, rest = stored.NextElement(rest, 0)
				dst = appendSupplied(dst, f.Fields, element)
			}
			dst = append(dst, ']')
		case f.Collection:
			dst = appendCollection(dst, f, m.Value, everything)
		case f.Type == stored.Complex:
			dst = appendSupplied(dst, f.Fields, m.Value)
		default:
			dst = appendValue(dst, f, m.Value, everything)
		}
	}
	return append(dst, '}')
}

// appendMembers appends the members of a stored object as JSON, without the braces: every
// retrievable field in the order of the definition, or those of chosen. Members that were not
// supplied are null or empty collections.
func appendMembers(dst []byte, fields []*stored.Field, object []byte, chosen *selection) []byte {
	var few [32]stored.Member
	byOrdinal := few[:]
	if len(fields) > len(few) {
		byOrdinal = make([]stored.Member, len(fields))
	}
	for len(object) > 0 {
		var m stored.Member
		m, object = stored.NextMember(object)
		if m.Ordinal < len(byOrdinal) { // otherwise the field is not in this definition
			byOrdinal[m.Ordinal] = m
		}
	}
	first := true
	for _, f := range fields {
		below, ok := chosen.below(f)
		if !ok || !f.Retrievable && f.Type != stored.Complex && !chosen.showsHidden() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = reply.AppendString(dst, f.Name)
		dst = append(dst, ':')
		m := byOrdinal[f.Ordinal]
		switch {
		case f.Collection:
			dst = appendCollection(dst, f, m.Value, below)
		case m.Whole == nil || m.Null:
			dst = append(dst, "null"...)
		default:
			dst = appendValue(dst, f, m.Value, below)
		}
	}
	return dst
}

// appendCollection appends a stored collection as a JSON array.
func appendCollection(dst []byte, f *stored.Field, collection []byte, chosen *selection) []byte {
	dst = append(dst, '[')
	size := f.Type.Size()
	first := true
	for len(collection) > 0 {
		var element []byte
		element, collection = stored.NextElement(collection, size)
		// The service leaves out objects that were sent as {} if and only if single
		// sub-fields are selected.
		if f.Type == stored.Complex && len(element) == 0 && chosen.bySubField() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendValue(dst, f, element, chosen)
	}
	return append(dst, ']')
}

// appendValue appends one stored value that is not null, as JSON.
func appendValue(dst []byte, f *stored.Field, value []byte, chosen *selection) []byte {
	switch f.Type {
	case stored.String:
		return reply.AppendString(dst, value)
	case stored.Boolean:
		return strconv.AppendBool(dst, value[0] != 0)
	case stored.Int32:
		return strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(value))), 10)
	case stored.Int64:
		return strconv.AppendInt(dst, int64(binary.LittleEndian.Uint64(value)), 10)
	case stored.Double:
		return reply.AppendDouble(dst, math.Float64frombits(binary.LittleEndian.Uint64(value)))
	case stored.DateTimeOffset:
		dst = append(dst, '"')
		dst = stored.AppendDateTime(dst, int64(binary.LittleEndian.Uint64(value)))
		return append(dst, '"')
	case stored.GeographyPoint:
		dst = append(dst, `{"type":"Point","coordinates":[`...)
		dst = reply.AppendDouble(dst, math.Float64frombits(binary.LittleEndian.Uint64(value)))
		dst = append(dst, ',')
		dst = reply.AppendDouble(dst, math.Float64frombits(binary.LittleEndian.Uint64(value[8:])))
		return append(dst, `],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}`...)
	case stored.Complex:
		dst = append(dst, '{')
		dst = appendMembers(dst, f.Fields, value, chosen)
		return append(dst, '}')
	case stored.Single, stored.Half:
		return reply.AppendSingle(dst, math.Float32frombits(binary.LittleEndian.Uint32(value)))
	case stored.Int16:
		return strconv.AppendInt(dst, int64(int16(binary.LittleEndian.Uint16(value))), 10)
	case stored.SByte:
		return strconv.AppendInt(dst, int64(int8(value[0])), 10)
	default: // edmByte
		return strconv.AppendInt(dst, int64(value[0]), 10)
	}
}
