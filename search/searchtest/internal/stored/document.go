package stored

import (
	"encoding/binary"
	"math"
)

// The stored form of a document is one byte slice: the supplied members in their original order, each as
//
//	ordinal of the field   2 bytes
//	length of the value    4 bytes, nullLength for null
//	value                  length bytes
//
// All numbers are little-endian. Members that were not supplied are missing. They are read as null, but this
// distinguishes {} from an object with null members. The value depends on the type of the field:
//
//	Edm.String             UTF-8
//	Edm.Boolean            1 byte
//	Edm.Int32              4 bytes
//	Edm.Int64              8 bytes
//	Edm.Double             8 bytes
//	Edm.DateTimeOffset     8 bytes, milliseconds since 1970, UTC
//	Edm.GeographyPoint     16 bytes, longitude and latitude
//	Edm.ComplexType        members, as above
//	Single Half            4 bytes (halves are rounded when they are read)
//	Int16 SByte Byte       2, 1 and 1 bytes
//	Collection(x)          the values of x in sequence; if x has no fixed size,
//	                       4 bytes with the length precede each value
//
// It is written in one pass over the request with one allocation per document. A merge copies members as bytes.

const (
	memberHeader = 6
	nullLength   = math.MaxUint32
)

// OpenMember begins a member and returns its body offset, for CloseMember.
func OpenMember(dst []byte, ordinal int) ([]byte, int) {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(ordinal))
	return append(dst, 0, 0, 0, 0), len(dst) + 4
}

// CloseMember sets the length of the member to what was appended since OpenMember.
func CloseMember(dst []byte, body int) {
	binary.LittleEndian.PutUint32(dst[body-4:], uint32(len(dst)-body))
}

// NullMember sets the member opened at body to null.
func NullMember(dst []byte, body int) {
	binary.LittleEndian.PutUint32(dst[body-4:], nullLength)
}

// Member is one member of a stored object.
type Member struct {
	Ordinal int
	Null    bool
	Value   []byte
	Whole   []byte // header and value
}

// NextMember returns the first member of object, which must not be empty, and the rest.
func NextMember(object []byte) (Member, []byte) {
	m := Member{Ordinal: int(binary.LittleEndian.Uint16(object))}
	length := binary.LittleEndian.Uint32(object[2:])
	if length == nullLength {
		m.Null, m.Whole = true, object[:memberHeader]
		return m, object[memberHeader:]
	}
	end := memberHeader + int(length)
	m.Value, m.Whole = object[memberHeader:end], object[:end]
	return m, object[end:]
}

// NextElement returns the first element of a stored collection, which must not be empty, and the rest. Size 0 means
// that its length precedes the element.
func NextElement(collection []byte, size int) (element, rest []byte) {
	if size == 0 {
		size = int(binary.LittleEndian.Uint32(collection))
		collection = collection[4:]
	}
	return collection[:size], collection[size:]
}

// FindMember returns the member with the given ordinal, false if there is none.
func FindMember(object []byte, ordinal int) (Member, bool) {
	for len(object) > 0 {
		var m Member
		if m, object = NextMember(object); m.Ordinal == ordinal {
			return m, true
		}
	}
	return Member{}, false
}

// FindValue returns the value of the member with the given ordinal, false if it is null or missing. It takes half
// the time of FindMember, and dominates the time of filters and facets.
func FindValue(object []byte, ordinal int) (value []byte, ok bool) {
	for len(object) > 0 {
		found := int(binary.LittleEndian.Uint16(object)) == ordinal
		length := binary.LittleEndian.Uint32(object[2:])
		object = object[memberHeader:]
		switch {
		case length == nullLength && found:
			return nil, false
		case length == nullLength:
			continue
		case found:
			return object[:length], true
		}
		object = object[length:]
	}
	return nil, false
}

// MergeObjects appends old with the members of changes merged: scalars, nulls and collections replace old members,
// complex objects are merged member by member, and an object without members changes nothing. Vectors with
// stored:false are lost unless changes has them, because the service has no copy to merge.
func MergeObjects(dst []byte, fields []*Field, old, changes []byte) []byte {
	var someFields [64]*Field // avoids allocation for most definitions
	var someReplaced [64]bool
	byOrdinal, replaced := someFields[:], someReplaced[:]
	if len(fields) > len(someFields) {
		byOrdinal, replaced = make([]*Field, len(fields)), make([]bool, len(fields))
	}
	for _, f := range fields {
		byOrdinal[f.Ordinal] = f
	}
	for rest := changes; len(rest) > 0; {
		var m Member
		m, rest = NextMember(rest)
		replaced[m.Ordinal] = true
	}
	for rest := old; len(rest) > 0; {
		var m Member
		m, rest = NextMember(rest)
		if f := byOrdinal[m.Ordinal]; replaced[m.Ordinal] || f.Vector() && !f.Stored {
			continue
		}
		dst = append(dst, m.Whole...)
	}
	for rest := changes; len(rest) > 0; {
		var m Member
		m, rest = NextMember(rest)
		f := byOrdinal[m.Ordinal]
		if f.Type != Complex || f.Collection || m.Null {
			dst = append(dst, m.Whole...)
			continue
		}
		before, found := FindMember(old, m.Ordinal)
		switch {
		case len(m.Value) == 0 && found:
			dst = append(dst, before.Whole...)
		case len(m.Value) == 0:
			// {} for a field that was never set leaves it null.
		default:
			var body int
			dst, body = OpenMember(dst, m.Ordinal)
			dst = MergeObjects(dst, f.Fields, before.Value, m.Value)
			CloseMember(dst, body)
		}
	}
	return dst
}

// CountElements returns the number of objects in the complex collections of object, including nested ones.
func CountElements(fields []*Field, object []byte) int {
	n := 0
	for _, f := range fields {
		if f.Type != Complex {
			continue
		}
		m, found := FindMember(object, f.Ordinal)
		if !found || m.Null {
			continue
		}
		if !f.Collection {
			n += CountElements(f.Fields, m.Value)
			continue
		}
		for rest := m.Value; len(rest) > 0; {
			var element []byte
			element, rest = NextElement(rest, 0)
			n += 1 + CountElements(f.Fields, element)
		}
	}
	return n
}
