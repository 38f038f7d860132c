package models

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// jsonField is a field of a struct as encoding/json sees it.
type jsonField struct {
	name   string // in JSON
	goName string // in Go, with the embedded structs it was promoted through: "Base.ID"
	index  []int
	typ    reflect.Type
	search string // the `search` tag
	tagged bool   // the name comes from the `json` tag
	quoted bool   // `json:",string"`

	omitZero  bool // `json:",omitzero"`
	omitEmpty bool // `json:",omitempty"`
}

var (
	jsonMarshalerType = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// jsonFieldsOf returns the fields that encoding/json writes for a struct type,
// in the order of their declaration, embedded structs expanded where they stand.
func jsonFieldsOf(t reflect.Type) []jsonField {
	if known, ok := jsonFieldCache.Load(t); ok {
		return known.([]jsonField)
	}
	fields := dominant(collect(t, nil, "", nil))
	known, _ := jsonFieldCache.LoadOrStore(t, fields)
	return known.([]jsonField)
}

var jsonFieldCache sync.Map // reflect.Type → []jsonField, written once per type

// collect returns the candidates of t and of the structs embedded in it, hidden
// ones included. through holds the embedded types above t, to end recursion.
func collect(t reflect.Type, index []int, path string, through []reflect.Type) []jsonField {
	if slices.Contains(through, t) {
		return nil
	}
	through = append(slices.Clip(through), t)
	var fields []jsonField
	for i := range t.NumField() {
		sf := t.Field(i)
		ft := sf.Type
		if sf.Anonymous {
			if ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			}
			if !sf.IsExported() && ft.Kind() != reflect.Struct {
				continue
			}
		} else if !sf.IsExported() {
			continue
		}
		tag := sf.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !validJSONName(name) {
			name = ""
		}
		at := append(slices.Clone(index), i)
		goName := path + sf.Name
		if sf.Anonymous && name == "" && ft.Kind() == reflect.Struct {
			fields = append(fields, collect(ft, at, goName+".", through)...)
			continue
		}
		f := jsonField{
			name: name, goName: goName, index: at, typ: sf.Type,
			search: sf.Tag.Get("search"), tagged: name != "",
			quoted:    slices.Contains(strings.Split(options, ","), "string"),
			omitZero:  slices.Contains(strings.Split(options, ","), "omitzero"),
			omitEmpty: slices.Contains(strings.Split(options, ","), "omitempty"),
		}
		if name == "" {
			f.name = sf.Name
		}
		fields = append(fields, f)
	}
	return fields
}

// dominant applies the rule of encoding/json to fields of the same name: the
// least embedded wins, then the one named by its tag; if that leaves two, none.
func dominant(all []jsonField) []jsonField {
	byName := make(map[string][]jsonField, len(all))
	for _, f := range all {
		byName[f.name] = append(byName[f.name], f)
	}
	return slices.DeleteFunc(all, func(f jsonField) bool {
		rivals := byName[f.name]
		if len(rivals) == 1 {
			return false
		}
		for _, r := range rivals {
			if slices.Equal(r.index, f.index) {
				continue
			}
			if len(r.index) < len(f.index) || len(r.index) == len(f.index) && (r.tagged || !f.tagged) {
				return true
			}
		}
		return false
	})
}

// validJSONName reports whether encoding/json accepts s as the name in a tag.
func validJSONName(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range s {
		if strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) || isLetterOrDigit(c) {
			continue
		}
		return false
	}
	return true
}

// value returns the field of v, a struct, or the zero Value if a pointer to an
// embedded struct on the way is nil.
func (f *jsonField) value(v reflect.Value) reflect.Value {
	for i, x := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v
}

// leftOut reports whether encoding/json leaves the field out for its value. A
// type's IsZero method is not asked: a value that it calls zero counts as there.
func (f *jsonField) leftOut(v reflect.Value) bool {
	if !v.IsValid() {
		return true
	}
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return f.omitEmpty && v.Len() == 0 || f.omitZero && v.IsNil()
	case reflect.Struct, reflect.Array:
		return f.omitZero && v.IsZero()
	}
	return (f.omitEmpty || f.omitZero) && v.IsZero()
}

// deref returns t without its pointers.
func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// marshalsJSON reports whether values of t, or addressable ones, write their own
// JSON.
func marshalsJSON(t reflect.Type) bool { return implements(t, jsonMarshalerType) }

// marshalsText reports whether values of t, or addressable ones, write
// themselves as text, which encoding/json turns into a string.
func marshalsText(t reflect.Type) bool { return implements(t, textMarshalerType) }

func implements(t, method reflect.Type) bool {
	return t.Implements(method) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(method)
}
