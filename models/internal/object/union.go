package object

import (
	"fmt"
	"reflect"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// unions and discriminators are written by Register, in the initialization of
// the packages of models, and only read afterwards.
var (
	unions         = map[reflect.Type]*union{}
	discriminators = map[reflect.Type]discriminator{}
)

// union is an interface whose types a member of their JSON distinguishes.
type union struct {
	member  string
	types   map[string]reflect.Type
	unknown reflect.Type
}

// discriminator is the member that names a type of a union.
type discriminator struct{ member, value string }

// Type ties a value of a discriminator to a type.
type Type struct {
	Value string
	Go    reflect.Type
}

// Of returns the type that value stands for.
func Of[T any](value string) Type { return Type{value, reflect.TypeFor[T]()} }

// Register makes I a union whose types member distinguishes. A value that types
// do not list is read into Unknown.
func Register[I, Unknown any](member string, types ...Type) {
	u := &union{member: member, types: map[string]reflect.Type{}, unknown: reflect.TypeFor[Unknown]()}
	for _, t := range types {
		u.types[t.Value] = t.Go
		discriminators[t.Go] = discriminator{member, t.Value}
	}
	unions[reflect.TypeFor[I]()] = u
}

// decode reads the value that begins at i into field. null leaves it nil.
func (u *union) decode(b []byte, i int, field reflect.Value) (end int, err error) {
	if b[i] == 'n' {
		return i + len("null"), nil
	}
	t, known := u.unknown, false
	err = wire.EachMember(b[i:], func(quoted, value []byte) bool {
		if !wire.Quotes(quoted, u.member) {
			return true
		}
		if value[0] == '"' { // anything but a string is unknown
			name, _ := wire.Unquote(value)
			t, known = u.types[name]
		}
		if !known {
			t = u.unknown
		}
		return false
	})
	if err != nil {
		return i, fmt.Errorf("%s: %w", field.Type(), err)
	}
	x := reflect.New(t)
	if end, err = decoderOf(t)(b, i, x.Elem()); err != nil {
		return end, err
	}
	field.Set(x.Elem())
	return end, nil
}
