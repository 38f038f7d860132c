// Package object is for the packages of models: it writes and reads the objects
// of definitions and replies.
//
// Every object keeps the members it does not know, so that reading a definition
// and writing it back drops nothing that a newer service put there. Encode and
// Decode do this for all of them:
//
//   - a field with the tag option omitzero is left out when it is its zero value,
//     so nil and absent are the same; without the option it is always written,
//     and a nil list as an empty one: the service refuses a null, and says what is
//     missing from an empty list;
//   - a member that no field stands for lands in AdditionalProperties, and
//     what is in AdditionalProperties is written after the fields, in the order
//     of the names. A field that is written wins over a member of its name, so
//     AdditionalProperties can also force an explicit null;
//   - names are compared exactly, unlike encoding/json does;
//   - the discriminator of a type of a union comes first and from its Go type.
//
// null and absent mean the same to the service in a definition, and a null of a
// known member is not written back.
package object

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

const additionalProperties = "AdditionalProperties"

// Encode returns the JSON of x, a struct whose MarshalJSON this is.
func Encode(x any) ([]byte, error) {
	v := reflect.ValueOf(x)
	out := []byte{'{'}
	written := map[string]bool{}
	if own, is := discriminators[v.Type()]; is {
		written[own.member] = true
		var err error
		if out, err = appendMember(out, own.member, own.value); err != nil {
			return nil, err
		}
	}
	for _, f := range encode.FieldsOf(v.Type()) {
		fv := f.Value(v)
		if f.OmitZero && fv.IsZero() {
			continue
		}
		if fv.Kind() == reflect.Slice && fv.IsNil() {
			fv = reflect.MakeSlice(fv.Type(), 0, 0)
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
	dst, err := appendValue(dst, name)
	if err == nil {
		dst, err = appendValue(append(dst, ':'), value)
	}
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", name, err)
	}
	return dst, nil
}

// appendValue writes v without the escapes that encoding/json has for HTML.
func appendValue(dst []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Decode reads a JSON object into x, a pointer to the struct whose UnmarshalJSON
// this is. The former content of x is gone, unless b is null.
func Decode(b []byte, x any) error {
	v := reflect.ValueOf(x).Elem()
	if string(bytes.TrimSpace(b)) == "null" {
		return nil
	}
	v.SetZero()
	fields := encode.FieldsOf(v.Type())
	own, typed := discriminators[v.Type()]
	more := map[string]json.RawMessage{}
	var failed error
	err := wire.EachMember(b, func(quoted, value []byte) bool {
		name, ok := wire.Unquote(quoted)
		if !ok {
			failed = wire.ErrNotJSON
			return false
		}
		if typed && name == own.member {
			if !wire.Quotes(value, own.value) {
				failed = fmt.Errorf("%s is %s, not %q", name, value, own.value)
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

// decodeMember reads value into a field: of a union, of a list of one, or of any
// other type.
func decodeMember(value []byte, field reflect.Value) error {
	if u, is := unions[field.Type()]; is {
		return u.decode(value, field)
	}
	if field.Kind() == reflect.Slice {
		if u, is := unions[field.Type().Elem()]; is {
			var raw []json.RawMessage
			if err := json.Unmarshal(value, &raw); err != nil || raw == nil {
				return err
			}
			list := reflect.MakeSlice(field.Type(), len(raw), len(raw))
			for i, r := range raw {
				if err := u.decode(r, list.Index(i)); err != nil {
					return err
				}
			}
			field.Set(list)
			return nil
		}
	}
	return json.Unmarshal(value, field.Addr().Interface())
}

// WithoutContext drops "@odata.context", which is about the answer that an
// object came in.
func WithoutContext(more map[string]json.RawMessage) map[string]json.RawMessage {
	delete(more, "@odata.context")
	if len(more) == 0 {
		return nil
	}
	return more
}

// With returns a copy of more with a further member.
func With(more map[string]json.RawMessage, name string, value json.RawMessage) map[string]json.RawMessage {
	more = maps.Clone(more)
	if more == nil {
		more = map[string]json.RawMessage{}
	}
	more[name] = value
	return more
}

// NullIfEmpty returns more with a null for a secret that is empty, as it is in what the
// service returns: written back, a null keeps the stored one, and "" would replace it.
func NullIfEmpty(more map[string]json.RawMessage, name, secret string) map[string]json.RawMessage {
	if secret != "" {
		return more
	}
	return With(more, name, json.RawMessage("null"))
}
