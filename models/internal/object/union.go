package object

import (
	"encoding/json"
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

// decode reads one value into field. null leaves it nil.
func (u *union) decode(value []byte, field reflect.Value) error {
	if string(value) == "null" {
		return nil
	}
	name := ""
	err := wire.EachMember(value, func(quoted, value []byte) bool {
		if !wire.Quotes(quoted, u.member) {
			return true
		}
		_ = json.Unmarshal(value, &name) // anything but a string is unknown
		return false
	})
	if err != nil {
		return fmt.Errorf("%s: %w", field.Type(), err)
	}
	t, known := u.types[name]
	if !known {
		t = u.unknown
	}
	x := reflect.New(t)
	if err := decoderOf(t)(value, x.Elem()); err != nil {
		return err
	}
	field.Set(x.Elem())
	return nil
}
