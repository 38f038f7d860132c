package models

import (
	"reflect"
	"slices"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// DocumentFieldsOf returns the fields that documents of type T, a struct or a
// pointer to one, have in JSON, to be compared with the definition of an index
// that exists already. The types and attributes are those of FieldsOf, as far as
// the type and its tags say them.
//
// Unlike FieldsOf it asks for nothing that only a new index needs: there may be no
// key, vectors may have no profile, mistakes in tags are passed over. An attribute that
// no tag names is false. Where a Go type does not say what it is in an index (any,
// maps, types that write their own JSON) the Type is "". A type= that the Go type does
// not fit is passed over. A type inside itself has
// no Fields there.
//
// The error, a *FieldError, says that T is not a struct, or writes its own JSON.
func DocumentFieldsOf[T any]() ([]SearchField, error) {
	t := encode.Deref(reflect.TypeFor[T]())
	if err := checkStruct(t); err != nil {
		return nil, err
	}
	return documentFields(t, place{}), nil
}

func documentFields(t reflect.Type, at place) []SearchField {
	at.above = append(slices.Clip(at.above), t)
	var fields []SearchField
	for _, f := range encode.FieldsOf(t) {
		tag, _ := parseTag(f.Search)
		if tag.skip {
			continue
		}
		typ, nested, length, err := dataTypeOf(f, tag)
		if err != nil && tag.values["type"] != "" { // which the Go type does not fit
			delete(tag.values, "type")
			typ, nested, length, err = dataTypeOf(f, tag)
		}
		if err != nil {
			typ, nested = writtenAs(encode.Deref(f.Type)), nil
		}
		field := SearchField{Name: f.Name, Type: typ}
		inner := place{path: goPath(at.path, f.GoName), above: at.above}
		switch {
		case nested == nil:
			_ = describe(&field, tag, length, at) // what a new index would be refused for
			if field.Dimensions != nil && *field.Dimensions == 0 {
				field.Dimensions = nil
			}
		case !slices.Contains(at.above, nested):
			field.Fields = documentFields(nested, inner)
		}
		fields = append(fields, field)
	}
	return fields
}

// writtenAs returns the type of what a t that FieldsOf refuses is in JSON, "" if
// that is not known.
func writtenAs(t reflect.Type) DataType {
	switch {
	case encode.MarshalsJSON(t), encode.MarshalsText(t):
	case t.Kind() == reflect.Uint, t.Kind() == reflect.Uint64:
		return DataTypeInt64
	case isBytes(t):
		return DataTypeString // base64
	}
	return ""
}
