package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Decode decodes a JSON object into x, a pointer to the struct. It implements UnmarshalJSON for x. The former content
// of x is discarded, unless b is null.
func (pkg *Package) Decode(b []byte, x any) error {
	pkg.ready()
	return decodeChecked(b, pkg.decodeObject, reflect.ValueOf(x).Elem())
}

// Read decodes a value of a union, a list of them, or any other type.
func Read[T any](pkg *Package, b []byte) (x T, err error) {
	pkg.ready()
	return x, decodeChecked(b, pkg.decoderOf(reflect.TypeFor[T]()), reflect.ValueOf(&x).Elem())
}

func decodeChecked(b []byte, decode decoder, v reflect.Value) error {
	if at, ok := wire.Check(b); !ok {
		return fmt.Errorf("%w at byte %d", wire.ErrNotJSON, at)
	}
	_, err := decode(b, wire.Space(b, 0), v)
	return err
}

// decoder decodes the value that begins at i into a field, and returns the index after it. b is already checked. A
// decoder never searches for the end of a nested object before decoding it, because nested objects would then be read
// once per level.
type decoder func(b []byte, i int, v reflect.Value) (end int, err error)

// leaf is a decoder for a value without nested objects.
type leaf func(value []byte, v reflect.Value) error

func (l leaf) decode(b []byte, i int, v reflect.Value) (int, error) {
	end := wire.ValueEnd(b, i)
	return end, l(b[i:end], v)
}

// decodeObject decodes an object. null changes nothing.
func (pkg *Package) decodeObject(b []byte, i int, v reflect.Value) (end int, err error) {
	if b[i] == 'n' {
		return i + len("null"), nil
	}
	p := pkg.planOf(v.Type())
	if err = wire.ErrNotAnObject; b[i] == '{' {
		v.SetZero()
		end, err = p.decode(b, i, v)
	}
	if err != nil {
		return end, fmt.Errorf("%s: %w", strings.TrimPrefix(v.Type().String(), "models."), err)
	}
	return end, nil
}

// decode decodes the object that begins at i.
func (p *plan) decode(b []byte, i int, v reflect.Value) (end int, err error) {
	var more map[string]json.RawMessage
	for i = wire.Space(b, i+1); b[i] != '}'; {
		nameEnd := wire.ValueEnd(b, i)
		quoted := b[i:nameEnd]
		i = wire.Space(b, wire.Space(b, nameEnd)+1)
		if f := p.field(quoted); f != nil {
			if i, err = f.decode(b, i, f.Value(v)); err != nil {
				return i, fmt.Errorf("member %q: %w", f.Name, err)
			}
		} else {
			value := b[i:wire.ValueEnd(b, i)]
			i += len(value)
			name, ok := wire.Unquote(quoted)
			switch {
			case !ok:
				return i, wire.ErrNotJSON
			case name == p.member && name != "":
				if !wire.Quotes(value, p.value) {
					return i, fmt.Errorf("%s is %s, not %q", name, value, p.value)
				}
			case name == "@odata.context":
			default:
				if more == nil {
					more = map[string]json.RawMessage{}
				}
				more[name] = bytes.Clone(value)
			}
		}
		if i = wire.Space(b, i); b[i] == ',' {
			i = wire.Space(b, i+1)
		}
	}
	if more != nil {
		v.FieldByIndex(p.more).Set(reflect.ValueOf(more))
	}
	return i + 1, nil
}

// field returns the field for a member, or nil.
func (p *plan) field(quoted []byte) *field {
	at, known := p.index[string(quoted[1:len(quoted)-1])]
	if bytes.IndexByte(quoted, '\\') >= 0 {
		name, _ := wire.Unquote(quoted)
		at, known = p.index[name]
	}
	if !known {
		return nil
	}
	return &p.fields[at]
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decoderOf returns the decoder of a type. Types without a decoder here use encoding/json.
func (pkg *Package) decoderOf(t reflect.Type) decoder {
	if u, is := pkg.unions[t]; is {
		return u.decode
	}
	if pkg.own[t] {
		return pkg.decodeObject
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return leaf(decodeAny).decode
	}
	switch t.Kind() {
	case reflect.String:
		return leaf(decodeString).decode
	case reflect.Bool:
		return leaf(decodeBool).decode
	case reflect.Int, reflect.Int64:
		return leaf(decodeInteger).decode
	case reflect.Map:
		if t.Elem().Kind() == reflect.String {
			return leaf(decodePlain).decode
		}
	case reflect.Pointer:
		element := pkg.decoderOf(t.Elem())
		return func(b []byte, i int, v reflect.Value) (int, error) {
			if b[i] == 'n' {
				v.SetZero()
				return i + len("null"), nil
			}
			v.Set(reflect.New(t.Elem()))
			return element(b, i, v.Elem())
		}
	case reflect.Slice:
		if u, is := pkg.unions[t.Elem()]; is {
			return listDecoder(u.decodeElement)
		}
		if t.Elem().Kind() != reflect.Uint8 {
			return listDecoder(pkg.decoderOf(t.Elem()))
		}
	}
	return leaf(decodeAny).decode
}

func listDecoder(element decoder) decoder {
	return func(b []byte, i int, v reflect.Value) (_ int, err error) {
		if b[i] != '[' {
			return leaf(decodeAny).decode(b, i, v)
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 2))
		i = wire.Space(b, i+1)
		for n := 0; b[i] != ']'; n++ {
			if n == v.Cap() {
				v.Grow(n)
			}
			v.SetLen(n + 1)
			if i, err = element(b, i, v.Index(n)); err != nil {
				return i, err
			}
			if i = wire.Space(b, i); b[i] == ',' {
				i = wire.Space(b, i+1)
			}
		}
		return i + 1, nil
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

func decodeInteger(b []byte, v reflect.Value) error {
	n, err := strconv.ParseInt(string(b), 10, v.Type().Bits())
	if err != nil {
		return decodeAny(b, v)
	}
	v.SetInt(n)
	return nil
}

// decodePlain decodes a value without numbers with encoding/json.
func decodePlain(b []byte, v reflect.Value) error { return json.Unmarshal(b, v.Addr().Interface()) }

// decodeAny decodes any value with encoding/json. Numbers in untyped values keep their digits.
func decodeAny(b []byte, v reflect.Value) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v.Addr().Interface())
}
