package models

import (
	"fmt"
	"reflect"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// jsonShape is the JSON type of the values of a Go type.
type jsonShape string

const (
	unknownShape  jsonShape = "" // an interface, or a type with its own JSON
	stringShape   jsonShape = "a string"
	boolShape     jsonShape = "a boolean"
	numberShape   jsonShape = "a number" // any
	wholeShape    jsonShape = "a whole number"
	fractionShape jsonShape = "a number with a fraction"
	objectShape   jsonShape = "an object"
	pointShape    jsonShape = "an object with type and coordinates"
	listShape     jsonShape = "a list"
	noShape       jsonShape = "nothing" // encoding/json refuses the type
)

// shapeOf returns the JSON type of t, which is not a pointer.
func shapeOf(t reflect.Type) jsonShape {
	switch {
	case t == timeType:
		return stringShape
	case t == pointType:
		return pointShape
	case t == bitsType:
		return listShape
	case t == numberType:
		return numberShape
	case encode.MarshalsJSON(t):
		return unknownShape
	case encode.MarshalsText(t):
		return stringShape
	}
	switch kind := t.Kind(); kind {
	case reflect.Interface:
		return unknownShape
	case reflect.String:
		return stringShape
	case reflect.Bool:
		return boolShape
	case reflect.Struct, reflect.Map:
		return objectShape
	case reflect.Slice:
		if isBytes(t) {
			return stringShape
		}
		return listShape
	case reflect.Array:
		return listShape
	case reflect.Float32, reflect.Float64:
		return fractionShape
	default:
		if kind >= reflect.Int && kind <= reflect.Uintptr {
			return wholeShape
		}
	}
	return noShape
}

// fits reports whether values of t, which are written as the first shape, may have the second one.
func fits(t reflect.Type, written, want jsonShape) bool {
	switch {
	case written == unknownShape || written == want:
		return true
	case want == numberShape:
		return written == wholeShape || written == fractionShape
	case want == wholeShape:
		return written == numberShape // a json.Number, which may be one
	case want == pointShape:
		return written == objectShape && mayBePoint(t)
	}
	return false
}

// mayBePoint reports whether the JSON of a struct or a map may be a GeoJSON point. A map of one type cannot, because
// type is a string and coordinates are a list.
func mayBePoint(t reflect.Type) bool {
	if t.Kind() == reflect.Map {
		return shapeOf(encode.Deref(t.Elem())) == unknownShape
	}
	found := 0
	for _, f := range encode.FieldsOf(t) {
		member := encode.Deref(f.Type)
		switch shape := shapeOf(member); {
		case f.Name == "type" && fits(member, shape, stringShape), f.Name == "coordinates" && fits(member, shape, listShape):
			found++
		}
	}
	return found == 2
}

// isBytes reports whether encoding/json encodes t as a base64 string.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !encode.MarshalsJSON(t.Elem()) && !encode.MarshalsText(t.Elem())
}

// shape returns the JSON type that the service expects for t, which is not a collection.
func (t DataType) shape() jsonShape {
	switch t {
	case DataTypeString, DataTypeDateTimeOffset:
		return stringShape
	case DataTypeBoolean:
		return boolShape
	case DataTypeGeographyPoint:
		return pointShape
	case DataTypeComplex:
		return objectShape
	case DataTypeDouble, DataTypeSingle, DataTypeHalf:
		return numberShape
	}
	return wholeShape
}

// checkGiven returns an error if f does not fit the type in its tag.
func checkGiven(given DataType, f encode.Field) error {
	t := encode.Deref(f.Type)
	written := shapeOf(t)
	if f.Quoted && isQuotable(t) {
		written = stringShape
	}
	element, list := given.Element()
	want := given.shape()
	if list {
		want = listShape
	}
	hint := ""
	if isBytes(t) && list {
		hint = ": []byte is written as base64, PackedBits as a list of numbers"
	}
	if !fits(t, written, want) {
		return fmt.Errorf("type=%s takes %s, and %s is written as %s%s", given, want, t, written, hint)
	}
	if written != listShape || t == bitsType {
		return nil
	}
	inside := encode.Deref(t.Elem())
	if written = shapeOf(inside); !fits(inside, written, element.shape()) {
		return fmt.Errorf("type=%s takes a list whose elements are each %s, and those of %s are each %s", given, element.shape(), t, written)
	}
	return nil
}
