package searchtest

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// wholeDocument is a document with every field, as inspection shows it.
func wholeDocument(sc *schema, data []byte) []byte {
	dst := make([]byte, 0, 64+2*len(data))
	dst = append(dst, '{')
	dst = appendMembers(dst, sc.fields, data, everything)
	return append(dst, '}')
}

// suppliedDocument is a document with the members that were sent and no others,
// in their order.
func suppliedDocument(sc *schema, data []byte) []byte {
	return appendSupplied(make([]byte, 0, 64+2*len(data)), sc.fields, data)
}

// appendSupplied appends a stored object, with its braces.
func appendSupplied(dst []byte, fields []*field, object []byte) []byte {
	dst = append(dst, '{')
	for first := true; len(object) > 0; first = false {
		if !first {
			dst = append(dst, ',')
		}
		var m member
		m, object = nextMember(object)
		f := fields[slices.IndexFunc(fields, func(f *field) bool { return f.ordinal == m.ordinal })]
		dst = appendJSONString(dst, f.name)
		dst = append(dst, ':')
		switch {
		case m.null:
			dst = append(dst, "null"...)
		case f.collection && f.typ == edmComplex:
			dst = append(dst, '[')
			for i, rest := 0, m.value; len(rest) > 0; i++ {
				if i > 0 {
					dst = append(dst, ',')
				}
				var element []byte
				element, rest = nextElement(rest, 0)
				dst = appendSupplied(dst, f.fields, element)
			}
			dst = append(dst, ']')
		case f.collection:
			dst = appendCollection(dst, f, m.value, everything)
		case f.typ == edmComplex:
			dst = appendSupplied(dst, f.fields, m.value)
		default:
			dst = appendValue(dst, f, m.value, everything)
		}
	}
	return append(dst, '}')
}

// appendMembers appends the members of a stored object as JSON, without the
// braces: every retrievable field in the order of the definition, or those that
// chosen names. Members that were not supplied are null, collections empty.
func appendMembers(dst []byte, fields []*field, object []byte, chosen *selection) []byte {
	var few [32]member
	byOrdinal := few[:]
	if len(fields) > len(few) {
		byOrdinal = make([]member, len(fields))
	}
	for len(object) > 0 {
		var m member
		m, object = nextMember(object)
		if m.ordinal < len(byOrdinal) { // else of a field that this definition does not know
			byOrdinal[m.ordinal] = m
		}
	}
	first := true
	for _, f := range fields {
		below, ok := chosen.below(f)
		if !ok || !f.retrievable && f.typ != edmComplex && !chosen.showsHidden() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONString(dst, f.name)
		dst = append(dst, ':')
		m := byOrdinal[f.ordinal]
		switch {
		case f.collection:
			dst = appendCollection(dst, f, m.value, below)
		case m.whole == nil || m.null:
			dst = append(dst, "null"...)
		default:
			dst = appendValue(dst, f, m.value, below)
		}
	}
	return dst
}

// appendCollection appends a stored collection as a JSON array.
func appendCollection(dst []byte, f *field, collection []byte, chosen *selection) []byte {
	dst = append(dst, '[')
	size := fixedSize(f.typ)
	first := true
	for len(collection) > 0 {
		var element []byte
		element, collection = nextElement(collection, size)
		// The service leaves out objects that were sent as {} when single
		// sub-fields are selected, and only then.
		if f.typ == edmComplex && len(element) == 0 && chosen.bySubField() {
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

// appendValue appends one stored value, which is not null, as JSON.
func appendValue(dst []byte, f *field, value []byte, chosen *selection) []byte {
	switch f.typ {
	case edmString:
		return appendJSONString(dst, value)
	case edmBoolean:
		return strconv.AppendBool(dst, value[0] != 0)
	case edmInt32:
		return strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(value))), 10)
	case edmInt64:
		return strconv.AppendInt(dst, int64(binary.LittleEndian.Uint64(value)), 10)
	case edmDouble:
		return appendJSONDouble(dst, math.Float64frombits(binary.LittleEndian.Uint64(value)))
	case edmDateTimeOffset:
		return appendDateTime(dst, int64(binary.LittleEndian.Uint64(value)))
	case edmGeographyPoint:
		dst = append(dst, `{"type":"Point","coordinates":[`...)
		dst = appendJSONDouble(dst, math.Float64frombits(binary.LittleEndian.Uint64(value)))
		dst = append(dst, ',')
		dst = appendJSONDouble(dst, math.Float64frombits(binary.LittleEndian.Uint64(value[8:])))
		return append(dst, `],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}`...)
	case edmComplex:
		dst = append(dst, '{')
		dst = appendMembers(dst, f.fields, value, chosen)
		return append(dst, '}')
	case edmSingle, edmHalf:
		return appendJSONSingle(dst, math.Float32frombits(binary.LittleEndian.Uint32(value)))
	case edmInt16:
		return strconv.AppendInt(dst, int64(int16(binary.LittleEndian.Uint16(value))), 10)
	case edmSByte:
		return strconv.AppendInt(dst, int64(int8(value[0])), 10)
	default: // edmByte
		return strconv.AppendInt(dst, int64(value[0]), 10)
	}
}
