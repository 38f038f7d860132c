package models

import (
	"reflect"
	"slices"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// DocumentFieldsOf returns the fields that documents of type T have in JSON, for a comparison with the definition of
// an existing index. T is a struct or a pointer to one. Types and attributes are those of FieldsOf, as far as the
// type and its tags determine them.
//
// Unlike FieldsOf, it does not require what only a new index needs: a key and the profiles of vectors may be missing,
// and mistakes in tags are ignored, including a type= that does not fit the Go type. An attribute that no tag names
// is false. If a Go type does not determine the type in an index (any, maps, types with their own JSON), Type is "".
// Where a type contains itself, the inner one has no Fields.
//
// The error is a *FieldError if T is not a struct or has its own JSON encoding.
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
		if err != nil && tag.values["type"] != "" { // the Go type does not fit it
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
			_ = describe(&field, tag, length, at) // ignore problems that matter to a new index only
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

// writtenAs returns the type of the JSON of a t that FieldsOf refuses, "" if it is unknown.
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
