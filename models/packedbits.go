package models

import (
	"encoding/json"
	"reflect"
)

// PackedBits is a binary vector in a document, a Collection(Edm.Byte): each byte holds eight dimensions. In JSON it
// is a list of numbers, while a []byte would be a base64 string, which the service refuses. nil is null. For the
// vector of a query see VectorOf.
type PackedBits []byte

var bitsType = reflect.TypeFor[PackedBits]()

// MarshalJSON implements json.Marshaler.
func (b PackedBits) MarshalJSON() ([]byte, error) {
	if b == nil {
		return []byte("null"), nil
	}
	return appendIntegers(nil, b), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *PackedBits) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, (*[]byte)(b))
}
