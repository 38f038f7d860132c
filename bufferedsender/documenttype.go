package bufferedsender

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
)

// checkDocumentType returns an error if no value of a type can be a JSON object, as a document must be.
func checkDocumentType(t reflect.Type) error {
	of := t
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil // its JSON may be an object
	}
	text := t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Interface:
		if !text {
			return nil
		}
	}
	return fmt.Errorf("documents of type %s are not JSON objects: use a struct, a map, json.RawMessage or models.Patch, or set Encoder", of)
}
