package object

import (
	"fmt"
	"reflect"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// union is an interface whose concrete types are distinguished by a member of their JSON.
type union struct {
	pkg     *Package
	member  string
	types   map[string]reflect.Type
	unknown reflect.Type
}

// discriminator is the member that identifies a type of a union, and its value.
type discriminator struct{ member, value string }

// Type is a Go type with the value of its discriminator.
type Type struct {
	Value string
	Go    reflect.Type
}

// Of returns the Type of T with the given discriminator value.
func Of[T any](value string) Type { return Type{value, reflect.TypeFor[T]()} }

// Register makes I a union whose types are distinguished by member. A value without a type is decoded into Unknown.
func Register[I, Unknown any](pkg *Package, member string, types ...Type) {
	u := &union{pkg: pkg, member: member, types: map[string]reflect.Type{}, unknown: reflect.TypeFor[Unknown]()}
	for _, t := range types {
		u.types[t.Value] = t.Go
		pkg.discriminators[t.Go] = discriminator{member, t.Value}
	}
	pkg.unions[reflect.TypeFor[I]()] = u
}

// decodeElement is decode for an element of a list, which is not null.
func (u *union) decodeElement(b []byte, i int, element reflect.Value) (end int, err error) {
	if b[i] == 'n' {
		return i, fmt.Errorf("null in a list of %s", element.Type())
	}
	return u.decode(b, i, element)
}

// decode decodes the value that begins at i into field. null leaves it nil.
func (u *union) decode(b []byte, i int, field reflect.Value) (end int, err error) {
	if b[i] == 'n' {
		return i + len("null"), nil
	}
	t, known := u.unknown, false
	err = wire.EachMember(b[i:], func(quoted, value []byte) bool {
		if !wire.Quotes(quoted, u.member) {
			return true
		}
		if value[0] == '"' { // any value but a string is unknown
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
	if end, err = u.pkg.decoderOf(t)(b, i, x.Elem()); err != nil {
		return end, err
	}
	field.Set(x.Elem())
	return end, nil
}
