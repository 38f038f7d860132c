package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// Every object of an index definition keeps the members it does not know, so
// that reading a definition and writing it back drops nothing that a newer
// service put there. encodeObject and decodeObject do this for all of them:
//
//   - a field with the tag option omitzero is left out when it is its zero value,
//     so nil and absent are the same; without the option it is always written;
//   - a member that no field stands for lands in AdditionalProperties, and
//     what is in AdditionalProperties is written after the fields, in the order
//     of the names. A field that is written wins over a member of its name, so
//     AdditionalProperties can also force an explicit null;
//   - names are compared exactly, unlike encoding/json does;
//   - the type of a component, "@odata.type", comes first and from its Go type.
//
// null and absent mean the same to the service in a definition, and a null of a
// known member is not written back.
const additionalProperties = "AdditionalProperties"

const odataType = "@odata.type"

// encodeObject returns the JSON of x, a struct whose MarshalJSON this is.
func encodeObject(x any) ([]byte, error) {
	v := reflect.ValueOf(x)
	out := []byte{'{'}
	written := map[string]bool{}
	if typ := componentTypes[v.Type()]; typ != "" {
		written[odataType] = true
		out = appendString(append(out, `"@odata.type":`...), typ)
	}
	for _, f := range encode.FieldsOf(v.Type()) {
		fv := f.Value(v)
		if f.OmitZero && fv.IsZero() {
			continue
		}
		var err error
		if out, err = appendMember(out, f.Name, fv.Interface()); err != nil {
			return nil, err
		}
		written[f.Name] = true
	}
	more, _ := v.FieldByName(additionalProperties).Interface().(map[string]json.RawMessage)
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if written[name] {
			continue
		}
		var err error
		if out, err = appendMember(out, name, more[name]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendMember(dst []byte, name string, value any) ([]byte, error) {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(appendString(dst, name), ':')
	out, err := appendValue(dst, value)
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", name, err)
	}
	return out, nil
}

// decodeObject reads a JSON object into x, a pointer to the struct whose
// UnmarshalJSON this is. What x held is gone, unless b is null.
func decodeObject(b []byte, x any) error {
	v := reflect.ValueOf(x).Elem()
	if string(bytes.TrimSpace(b)) == "null" {
		return nil
	}
	v.SetZero()
	fields := encode.FieldsOf(v.Type())
	own := componentTypes[v.Type()]
	more := map[string]json.RawMessage{}
	var failed error
	err := wire.EachMember(b, func(quoted, value []byte) bool {
		name, ok := wire.Unquote(quoted)
		if !ok {
			failed = wire.ErrNotJSON
			return false
		}
		if name == odataType && own != "" {
			if !wire.Quotes(value, own) {
				failed = fmt.Errorf("%s is %s, not %q", odataType, value, own)
			}
			return failed == nil
		}
		i := slices.IndexFunc(fields, func(f encode.Field) bool { return f.Name == name })
		if i < 0 {
			more[name] = bytes.Clone(value)
			return true
		}
		if err := decodeMember(value, fields[i].Value(v)); err != nil {
			failed = fmt.Errorf("member %q: %w", name, err)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(v.Type().String(), "models."), err)
	}
	if len(more) > 0 {
		v.FieldByName(additionalProperties).Set(reflect.ValueOf(more))
	}
	return nil
}

// decodeMember reads value into a field. A list of an interface type holds
// components, each of which says what it is.
func decodeMember(value []byte, field reflect.Value) error {
	if field.Kind() != reflect.Slice || field.Type().Elem().Kind() != reflect.Interface {
		return json.Unmarshal(value, field.Addr().Interface())
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(value, &raw); err != nil || raw == nil {
		return err
	}
	list := reflect.MakeSlice(field.Type(), len(raw), len(raw))
	for i, r := range raw {
		var named struct {
			Type string `json:"@odata.type"`
		}
		if err := json.Unmarshal(r, &named); err != nil {
			return err
		}
		t, known := components[named.Type]
		if !known || !t.Implements(field.Type().Elem()) {
			t = reflect.TypeFor[UnknownComponent]()
		}
		c := reflect.New(t)
		if err := json.Unmarshal(r, c.Interface()); err != nil {
			return err
		}
		list.Index(i).Set(c.Elem())
	}
	field.Set(list)
	return nil
}

// components are the component types by the name that the service gives them,
// componentTypes the same the other way round.
var (
	components = func() map[string]reflect.Type {
		byName := map[string]reflect.Type{}
		for _, t := range slices.Concat(analyzerTypes, tokenizerTypes, tokenFilterTypes, charFilterTypes, normalizerTypes) {
			byName[t.name] = t.typ
		}
		return byName
	}()
	componentTypes = func() map[reflect.Type]string {
		byType := map[reflect.Type]string{}
		for name, t := range components {
			byType[t] = name
		}
		return byType
	}()
)

// componentType ties the service's name of a component type to ours.
type componentType struct {
	name string
	typ  reflect.Type
}

func component[T any](name string) componentType {
	return componentType{"#Microsoft.Azure.Search." + name, reflect.TypeFor[T]()}
}
