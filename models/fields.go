package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// FieldsOf returns the fields of an index for documents of type T, a struct or a pointer to one. Names are those of
// encoding/json. The fields of embedded structs count as fields of T. A field tagged `json:"-"` is omitted.
//
// # Attributes
//
// The tag `search` lists the attributes of a field. Attributes that cost storage or have limits are off by default: a
// field without a tag, or with an empty one, is only retrievable. It is not searchable, filterable, sortable or
// facetable. FieldsOf sets every attribute explicitly, so the service's opposite defaults never apply. Words turn
// attributes on; only hidden turns one off.
//
//	word                       meaning
//	key                        the key of documents; exactly one top-level string field
//	searchable                 part of full-text search; strings and lists of strings
//	filterable                 usable in filters; not for vectors
//	sortable                   usable to order results; not for lists, fields inside lists, vectors
//	facetable                  usable for counts by value; not for points and vectors
//	hidden                     not retrievable: never shown in documents and results; not for the key
//	retrievable                shown; the default, except for vectors
//	analyzer=NAME              how text is split, for example en.lucene; implies searchable
//	searchAnalyzer=NAME        the analyzer of queries, together with
//	indexAnalyzer=NAME         the analyzer of documents; both imply searchable
//	normalizer=NAME            applied before filtering, sorting, counting; needs filterable, sortable or facetable
//	synonymMaps=NAME           the synonym map for queries; implies searchable
//	dimensions=N               the length of a vector, 2 to 4096; defaults to the length of an array
//	vectorProfile=NAME         the profile of a vector; required for vectors
//	vectorEncoding=packedBit   for vectors of bits, Collection(Edm.Byte)
//	stored=false               keep no copy of a hidden vector; stored=true is the default
//	permissionFilter=KIND      the field holds userIds, groupIds or rbacScope
//	sensitivityLabel           the field holds the sensitivity label
//	type=TYPE                  the type in the index, for example Edm.Int64, instead of the one below
//	-                          alone: not in the index. The service refuses documents with
//	                           unknown members, so JSON must not have it either (omitempty)
//
// A struct, and a list of structs, becomes a complex field. Its only word is "-"; its fields have their own tags.
// Vectors are always searchable.
//
// # Types
//
//	Go                                           index
//	string, encoding.TextMarshaler               Edm.String
//	bool                                         Edm.Boolean
//	int8, int16, int32, uint8, uint16            Edm.Int32
//	int, int64, uint32                           Edm.Int64
//	float32, float64                             Edm.Double
//	time.Time                                    Edm.DateTimeOffset
//	GeographyPoint                               Edm.GeographyPoint
//	struct                                       Edm.ComplexType
//	[]E, [N]E                                    Collection(type of E)
//	[]float32, [N]float32                        Collection(Edm.Single), a vector
//	[]float64 with dimensions                    Collection(Edm.Single), a vector
//	[]int8, []int16 with dimensions              Collection(Edm.SByte), Collection(Edm.Int16), vectors
//	PackedBits                                   Collection(Edm.Byte), a vector of bits
//	*E                                           as E: every field but the key may be null
//	any number or bool with `json:",string"`     Edm.String
//
// A type= is required for types that may not fit (uint, uint64), types with their own JSON, any, and maps. A []byte
// is written as base64, so it needs type=Edm.String. A type= that contradicts the JSON of the Go type is a problem: a
// float64 does not fit Edm.Int64.
//
// # Errors
//
// All problems are reported at once: the error joins a *FieldError for each, with the type and the path of the field
// in Go names.
func FieldsOf[T any]() ([]SearchField, error) {
	t := encode.Deref(reflect.TypeFor[T]())
	if err := checkStruct(t); err != nil {
		return nil, errors.Join(err)
	}
	r := fieldsReader{root: t}
	fields := r.fieldsOf(t, place{})
	switch {
	case len(r.keys) == 0:
		r.problem("", "no field is the key: tag one with `search:\"key\"`")
	case len(r.keys) > 1:
		r.problem(strings.Join(r.keys, ", "), "a document has exactly one key")
	}
	if len(r.problems) > 0 {
		return nil, errors.Join(r.problems...)
	}
	return fields, nil
}

// checkStruct returns an error if the fields of documents of type t are unknown.
func checkStruct(t reflect.Type) error {
	switch {
	case t.Kind() != reflect.Struct || t == timeType || t == pointType:
		return &FieldError{Type: typeName(t), Problem: "it is not a struct, so it has no fields"}
	case encode.MarshalsJSON(t) || encode.MarshalsText(t):
		return &FieldError{Type: typeName(t), Problem: "it writes its own JSON, perhaps by a method of an embedded type, so its fields are not known"}
	}
	return nil
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	pointType  = reflect.TypeFor[GeographyPoint]()
	numberType = reflect.TypeFor[json.Number]()
	fieldName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)
)

// fieldsReader collects the fields, and the problems, of one document type.
type fieldsReader struct {
	root     reflect.Type
	keys     []string
	problems []error
}

// place is the position of a struct in the document.
type place struct {
	path   string         // in Go names
	inList bool           // a list is above
	above  []reflect.Type // the enclosing structs, to detect a type that contains itself
}

func (r *fieldsReader) problem(path, format string, args ...any) {
	r.problems = append(r.problems, &FieldError{Type: typeName(r.root), Field: path, Problem: fmt.Sprintf(format, args...)})
}

func (r *fieldsReader) fieldsOf(t reflect.Type, at place) []SearchField {
	at.above = append(slices.Clip(at.above), t)
	r.unwritten(t, at.path)
	var fields []SearchField
	for _, f := range encode.FieldsOf(t) {
		path := goPath(at.path, f.GoName)
		tag, problems := parseTag(f.Search)
		for _, p := range problems {
			r.problem(path, "%s", p)
		}
		if tag.skip {
			continue
		}
		if !fieldName.MatchString(f.Name) || strings.HasPrefix(f.Name, "azureSearch") {
			r.problem(path, "%q cannot be the name of a field: up to 128 letters, digits and underscores, the first one alphabetic, not starting with azureSearch", f.Name)
		}
		if field, ok := r.field(f, tag, path, at); ok {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 && len(r.problems) == 0 {
		r.problem(at.path, "%s has no fields that are written in JSON", t)
	}
	return fields
}

// unwritten reports tags on fields that encoding/json ignores.
func (r *fieldsReader) unwritten(t reflect.Type, path string) {
	for i := range t.NumField() {
		sf := t.Field(i)
		if tag := sf.Tag.Get("search"); tag == "" || tag == "-" {
			continue
		}
		switch {
		case sf.Tag.Get("json") == "-":
			r.problem(goPath(path, sf.Name), "it has a search tag but is not written in JSON because of `json:\"-\"`")
		case !sf.IsExported() && !sf.Anonymous:
			r.problem(goPath(path, sf.Name), "it has a search tag but is not written in JSON because it is not exported")
		}
	}
}

// field returns one field. ok is false if its type is invalid, so that there is no field.
func (r *fieldsReader) field(f encode.Field, tag fieldTag, path string, at place) (SearchField, bool) {
	typ, nested, length, err := dataTypeOf(f, tag)
	if err != nil {
		r.problem(path, "%s", err)
		return SearchField{}, false
	}
	field := SearchField{Name: f.Name, Type: typ}
	if nested != nil {
		if len(tag.words)+len(tag.values) > 0 {
			r.problem(path, "a complex field takes no words in its tag; its fields do")
		}
		if slices.Contains(at.above, nested) {
			r.problem(path, "%s contains itself, which an index cannot", nested)
			return SearchField{}, false
		}
		_, isList := typ.Element()
		field.Fields = r.fieldsOf(nested, place{path: path, inList: at.inList || isList, above: at.above})
		return field, true
	}
	for _, p := range describe(&field, tag, length, at) {
		r.problem(path, "%s", p)
	}
	if tag.has("key") {
		r.keys = append(r.keys, path)
		if f.Quoted {
			r.problem(path, `the key cannot have the option ",string" in its json tag`)
		}
	}
	return field, true
}

// dataTypeOf returns the type of a field in the index, the struct of a complex field, and the length of an array.
func dataTypeOf(f encode.Field, tag fieldTag) (typ DataType, nested reflect.Type, length int, err error) {
	t := encode.Deref(f.Type)
	if t.Kind() == reflect.Array && !encode.MarshalsText(t) {
		length = t.Len()
	}
	if given := DataType(tag.values["type"]); given != "" {
		if !given.simple() {
			return "", nil, 0, fmt.Errorf("%q is not a type that type= can give", given)
		}
		return given, nil, length, checkGiven(given, f)
	}
	if f.Quoted && isQuotable(t) {
		return DataTypeString, nil, 0, nil
	}
	if typ, nested, err = scalarTypeOf(t); err == nil || !isList(t) {
		return typ, nested, 0, err
	}
	element := encode.Deref(t.Elem())
	switch kind, vector := element.Kind(), tag.has("dimensions"); {
	case encode.MarshalsText(element) || encode.MarshalsJSON(element):
	case isBytes(t):
		return "", nil, 0, errors.New("a []byte is written as base64: say type=Edm.String, or use PackedBits for a binary vector")
	case kind == reflect.Float32, kind == reflect.Float64 && vector:
		return Collection(DataTypeSingle), nil, length, nil
	case kind == reflect.Int8 && vector:
		return Collection(DataTypeSByte), nil, length, nil
	case kind == reflect.Int16 && vector:
		return Collection(DataTypeInt16), nil, length, nil
	}
	if isList(element) || element == bitsType {
		return "", nil, 0, fmt.Errorf("%s is a list of lists, which an index cannot hold", t)
	}
	typ, nested, err = scalarTypeOf(element)
	return Collection(typ), nested, length, err
}

// isQuotable reports whether encoding/json applies `json:",string"` to a t.
func isQuotable(t reflect.Type) bool {
	return (t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String) && !encode.MarshalsJSON(t) && !encode.MarshalsText(t)
}

// isList reports whether encoding/json encodes t as a list.
func isList(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && !encode.MarshalsJSON(t) && !encode.MarshalsText(t)
}

// scalarTypeOf returns the type in the index of a type that is not a list.
func scalarTypeOf(t reflect.Type) (DataType, reflect.Type, error) {
	switch {
	case t == timeType:
		return DataTypeDateTimeOffset, nil, nil
	case t == pointType:
		return DataTypeGeographyPoint, nil, nil
	case t == bitsType:
		return Collection(DataTypeByte), nil, nil
	case t == numberType:
		return "", nil, errors.New("a json.Number can be any number: say which with type=")
	case encode.MarshalsJSON(t):
		return "", nil, fmt.Errorf("%s writes its own JSON: say what it is with type=", t)
	case encode.MarshalsText(t):
		return DataTypeString, nil, nil
	}
	switch t.Kind() {
	case reflect.String:
		return DataTypeString, nil, nil
	case reflect.Bool:
		return DataTypeBoolean, nil, nil
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16:
		return DataTypeInt32, nil, nil
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return DataTypeInt64, nil, nil
	case reflect.Uint, reflect.Uint64:
		return "", nil, fmt.Errorf("%s has values that no type of the index holds: use a smaller type, or say type=Edm.Int64", t)
	case reflect.Float32, reflect.Float64:
		return DataTypeDouble, nil, nil
	case reflect.Struct:
		return DataTypeComplex, t, nil
	}
	return "", nil, fmt.Errorf("%s has no type in the index: say type=, or use another type", t)
}

// simple reports whether t is a type of simple fields.
func (t DataType) simple() bool {
	scalar := t
	element, list := t.Element()
	if list {
		scalar = element
	}
	switch scalar {
	case DataTypeString, DataTypeBoolean, DataTypeInt32, DataTypeInt64, DataTypeDouble, DataTypeDateTimeOffset, DataTypeGeographyPoint:
		return true
	}
	return t.IsVector()
}

func goPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
