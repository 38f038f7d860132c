package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Decode reads a JSON object into x, a pointer to the struct whose UnmarshalJSON
// this is. The former content of x is gone, unless b is null.
func Decode(b []byte, x any) error {
	if at, ok := wire.Check(b); !ok {
		return fmt.Errorf("%w at byte %d", wire.ErrNotJSON, at)
	}
	return decodeObject(bytes.TrimSpace(b), reflect.ValueOf(x).Elem())
}

// Read returns a value of a union, a list of them, or any other type.
func Read[T any](b []byte) (x T, err error) {
	if at, ok := wire.Check(b); !ok {
		return x, fmt.Errorf("%w at byte %d", wire.ErrNotJSON, at)
	}
	return x, decoderOf(reflect.TypeFor[T]())(bytes.TrimSpace(b), reflect.ValueOf(&x).Elem())
}

// decodeObject is Decode for a value that was checked.
func decodeObject(b []byte, v reflect.Value) error {
	if string(b) == "null" {
		return nil
	}
	v.SetZero()
	p := planOf(v.Type())
	var more map[string]json.RawMessage
	var failed error
	err := wire.EachMember(b, func(quoted, value []byte) bool {
		name, ok := wire.Unquote(quoted)
		if !ok {
			failed = wire.ErrNotJSON
			return false
		}
		if i, known := p.index[name]; known {
			if err := p.fields[i].decode(value, p.fields[i].Value(v)); err != nil {
				failed = fmt.Errorf("member %q: %w", name, err)
			}
			return failed == nil
		}
		switch {
		case name == p.member && name != "":
			if !wire.Quotes(value, p.value) {
				failed = fmt.Errorf("%s is %s, not %q", name, value, p.value)
			}
		case name == "@odata.context":
		default:
			if more == nil {
				more = map[string]json.RawMessage{}
			}
			more[name] = bytes.Clone(value)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(v.Type().String(), "models."), err)
	}
	if more != nil {
		v.FieldByIndex(p.more).Set(reflect.ValueOf(more))
	}
	return nil
}

// decoder reads a value that was checked into a field.
type decoder func(b []byte, v reflect.Value) error

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decoderOf returns the decoder of a type. What it does not read by itself encoding/json does.
func decoderOf(t reflect.Type) decoder {
	if u, is := unions[t]; is {
		return u.decode
	}
	if own[t] {
		return decodeObject
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return decodeAny
	}
	switch t.Kind() {
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Pointer:
		element := decoderOf(t.Elem())
		return func(b []byte, v reflect.Value) error {
			if string(b) == "null" {
				v.SetZero()
				return nil
			}
			v.Set(reflect.New(t.Elem()))
			return element(b, v.Elem())
		}
	case reflect.Slice:
		return listDecoder(decoderOf(t.Elem()))
	}
	return decodeAny
}

func listDecoder(element decoder) decoder {
	return func(b []byte, v reflect.Value) error {
		if b[0] != '[' || v.Type().Elem().Kind() == reflect.Uint8 {
			return decodeAny(b, v)
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 4))
		for i, n := wire.Space(b, 1), 0; b[i] != ']'; n++ {
			end := wire.ValueEnd(b, i)
			if n == v.Cap() {
				v.Grow(n)
			}
			v.SetLen(n + 1)
			if err := element(b[i:end], v.Index(n)); err != nil {
				return err
			}
			if i = wire.Space(b, end); b[i] == ',' {
				i = wire.Space(b, i+1)
			}
		}
		return nil
	}
}

func decodeString(b []byte, v reflect.Value) error {
	if b[0] != '"' {
		return decodeAny(b, v)
	}
	s, _ := wire.Unquote(b)
	v.SetString(s)
	return nil
}

func decodeBool(b []byte, v reflect.Value) error {
	if b[0] != 't' && b[0] != 'f' {
		return decodeAny(b, v)
	}
	v.SetBool(b[0] == 't')
	return nil
}

// decodeAny leaves a value to encoding/json. What has no type keeps the digits of its numbers.
func decodeAny(b []byte, v reflect.Value) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v.Addr().Interface())
}
