package searchtest

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

// fixedSize is the size of a value of type t, 0 if it varies.
func fixedSize(t edmType) int {
	switch t {
	case edmBoolean, edmSByte, edmByte:
		return 1
	case edmInt16:
		return 2
	case edmInt32, edmSingle, edmHalf:
		return 4
	case edmInt64, edmDouble, edmDateTimeOffset:
		return 8
	case edmGeographyPoint:
		return 16
	}
	return 0
}

// openMember begins a member and returns where it is, for closeMember.
func openMember(dst []byte, ordinal int) ([]byte, int) {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(ordinal))
	return append(dst, 0, 0, 0, 0), len(dst) + 4
}

// closeMember fills in the length of what was appended since openMember.
func closeMember(dst []byte, body int) {
	binary.LittleEndian.PutUint32(dst[body-4:], uint32(len(dst)-body))
}

// nullMember makes the member opened at body null.
func nullMember(dst []byte, body int) {
	binary.LittleEndian.PutUint32(dst[body-4:], nullLength)
}

// member is one member of a stored object.
type member struct {
	ordinal int
	null    bool
	value   []byte
	whole   []byte // header and value
}

// nextMember takes the first member off object, which must not be empty.
func nextMember(object []byte) (member, []byte) {
	m := member{ordinal: int(binary.LittleEndian.Uint16(object))}
	length := binary.LittleEndian.Uint32(object[2:])
	if length == nullLength {
		m.null, m.whole = true, object[:memberHeader]
		return m, object[memberHeader:]
	}
	end := memberHeader + int(length)
	m.value, m.whole = object[memberHeader:end], object[:end]
	return m, object[end:]
}

// nextElement takes the first element of size bytes (0: with a length before
// it) off a stored collection, which must not be empty.
func nextElement(collection []byte, size int) (element, rest []byte) {
	if size == 0 {
		size = int(binary.LittleEndian.Uint32(collection))
		collection = collection[4:]
	}
	return collection[:size], collection[size:]
}

// findMember returns the member with that ordinal.
func findMember(object []byte, ordinal int) (member, bool) {
	for len(object) > 0 {
		var m member
		if m, object = nextMember(object); m.ordinal == ordinal {
			return m, true
		}
	}
	return member{}, false
}

// mergeObjects appends old with the members of changes put in: scalars, nulls
// and collections replace what was there, complex objects are merged member by
// member, and an object without members changes nothing. Vectors that are not
// stored are lost unless they are sent again: the service has no copy to merge.
func mergeObjects(dst []byte, fields []*field, old, changes []byte) []byte {
	var someFields [64]*field // most definitions need no allocation
	var someReplaced [64]bool
	byOrdinal, replaced := someFields[:], someReplaced[:]
	if len(fields) > len(someFields) {
		byOrdinal, replaced = make([]*field, len(fields)), make([]bool, len(fields))
	}
	for _, f := range fields {
		byOrdinal[f.ordinal] = f
	}
	for rest := changes; len(rest) > 0; {
		var m member
		m, rest = nextMember(rest)
		replaced[m.ordinal] = true
	}
	for rest := old; len(rest) > 0; {
		var m member
		m, rest = nextMember(rest)
		if f := byOrdinal[m.ordinal]; replaced[m.ordinal] || f.vector() && !f.stored {
			continue
		}
		dst = append(dst, m.whole...)
	}
	for rest := changes; len(rest) > 0; {
		var m member
		m, rest = nextMember(rest)
		f := byOrdinal[m.ordinal]
		if f.typ != edmComplex || f.collection || m.null {
			dst = append(dst, m.whole...)
			continue
		}
		before, found := findMember(old, m.ordinal)
		switch {
		case len(m.value) == 0 && found:
			dst = append(dst, before.whole...)
		case len(m.value) == 0:
			// {} over a field that was never set leaves it null.
		default:
			var body int
			dst, body = openMember(dst, m.ordinal)
			dst = mergeObjects(dst, f.fields, before.value, m.value)
			closeMember(dst, body)
		}
	}
	return dst
}

// countElements counts the objects in the complex collections of object, those
// inside each other included.
func countElements(fields []*field, object []byte) int {
	n := 0
	for _, f := range fields {
		if f.typ != edmComplex {
			continue
		}
		m, found := findMember(object, f.ordinal)
		if !found || m.null {
			continue
		}
		if !f.collection {
			n += countElements(f.fields, m.value)
			continue
		}
		for rest := m.value; len(rest) > 0; {
			var element []byte
			element, rest = nextElement(rest, 0)
			n += 1 + countElements(f.fields, element)
		}
	}
	return n
}
