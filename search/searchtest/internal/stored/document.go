package stored

import (
	"encoding/binary"
	"math"
)

// The stored form of a document is one run of bytes: the members that were
// supplied, in the order they came, each as
//
//	ordinal of the field   2 bytes
//	length of the value    4 bytes, nullLength for null
//	value                  length bytes
//
// All numbers are little-endian. Members that were not supplied are not there,
// which reads back as null just the same, but lets {} be told from an object
// full of nulls. A value is, by the type of its field:
//
//	Edm.String             UTF-8
//	Edm.Boolean            1 byte
//	Edm.Int32              4 bytes
//	Edm.Int64              8 bytes
//	Edm.Double             8 bytes
//	Edm.DateTimeOffset     8 bytes, milliseconds since 1970, UTC
//	Edm.GeographyPoint     16 bytes, longitude and latitude
//	Edm.ComplexType        members, as above
//	Single Half            4 bytes (halves are rounded when they are read in)
//	Int16 SByte Byte       2, 1 and 1 bytes
//	Collection(x)          the values of x one after the other; where x has no
//	                       fixed size each has its length, 4 bytes, before it
//
// It is written in one go while the request is scanned, costs one allocation a
// document, and a merge copies members as bytes.

const (
	memberHeader = 6
	nullLength   = math.MaxUint32
)

// OpenMember begins a member and returns where it is, for CloseMember.
func OpenMember(dst []byte, ordinal int) ([]byte, int) {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(ordinal))
	return append(dst, 0, 0, 0, 0), len(dst) + 4
}

// CloseMember fills in the length of what was appended since OpenMember.
func CloseMember(dst []byte, body int) {
	binary.LittleEndian.PutUint32(dst[body-4:], uint32(len(dst)-body))
}

// NullMember makes the member opened at body null.
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

// NextMember takes the first member off object, which must not be empty.
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

// NextElement takes the first element of size bytes (0: with a length before
// it) off a stored collection, which must not be empty.
func NextElement(collection []byte, size int) (element, rest []byte) {
	if size == 0 {
		size = int(binary.LittleEndian.Uint32(collection))
		collection = collection[4:]
	}
	return collection[:size], collection[size:]
}

// FindMember returns the member with that ordinal.
func FindMember(object []byte, ordinal int) (Member, bool) {
	for len(object) > 0 {
		var m Member
		if m, object = NextMember(object); m.Ordinal == ordinal {
			return m, true
		}
	}
	return Member{}, false
}

// FindValue returns the value of the member with that ordinal, and false if it is
// null or not there. It takes half the time of FindMember, and most of what
// filters and facets do is this.
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

// MergeObjects appends old with the members of changes put in: scalars, nulls
// and collections replace what was there, complex objects are merged member by
// member, and an object without members changes nothing. Vectors that are not
// stored are lost unless they are sent again: the service has no copy to merge.
func MergeObjects(dst []byte, fields []*Field, old, changes []byte) []byte {
	var someFields [64]*Field // most definitions need no allocation
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
			// {} over a field that was never set leaves it null.
		default:
			var body int
			dst, body = OpenMember(dst, m.Ordinal)
			dst = MergeObjects(dst, f.Fields, before.Value, m.Value)
			CloseMember(dst, body)
		}
	}
	return dst
}

// CountElements counts the objects in the complex collections of object, those
// inside each other included.
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
