package models

import (
	"fmt"
	"reflect"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// jsonShape is the JSON type of the values of a Go type.
type jsonShape string

const (
	unknownShape jsonShape = "" // an interface, or a type with its own JSON
	stringShape  jsonShape = "a string"
	boolShape    jsonShape = "a boolean"
	numberShape  jsonShape = "a number"
	objectShape  jsonShape = "an object"
	listShape    jsonShape = "a list"
	noShape      jsonShape = "nothing" // encoding/json refuses the type
)

// shapeOf returns the JSON type of t, which is not a pointer.
func shapeOf(t reflect.Type) jsonShape {
	switch {
	case t == timeType:
		return stringShape
	case t == pointType:
		return objectShape
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
	default:
		if kind >= reflect.Int && kind <= reflect.Float64 {
			return numberShape
		}
	}
	return noShape
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
	case DataTypeGeographyPoint, DataTypeComplex:
		return objectShape
	}
	return numberShape
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
	if written != unknownShape && written != want {
		return fmt.Errorf("type=%s takes %s, and %s is written as %s%s", given, want, t, written, hint)
	}
	if written != listShape || t == bitsType {
		return nil
	}
	inside := encode.Deref(t.Elem())
	if written = shapeOf(inside); written != unknownShape && written != element.shape() {
		return fmt.Errorf("type=%s takes a list whose elements are each %s, and those of %s are each %s", given, element.shape(), t, written)
	}
	return nil
}
