// Package nilcheck finds nil pointers inside interfaces, which a comparison with nil does not.
package nilcheck

import (
	"errors"
	"fmt"
	"reflect"
)

// IsNil reports whether v is nil, or a nil pointer, function, map, slice or channel inside an interface.
func IsNil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan:
		return value.IsNil()
	}
	return false
}

// Option is an interface that a user may leave out.
type Option struct {
	Name  string
	Value any
}

// Refuse returns an error that names each option with a nil pointer, function, map, slice or channel inside, as a
// constructor has returned whose error was ignored. A nil interface is an option that was left out.
func Refuse(options ...Option) error {
	var errs []error
	for _, o := range options {
		if o.Value != nil && IsNil(o.Value) {
			errs = append(errs, fmt.Errorf("%s is a nil %T: check the error of its constructor, or leave it out", o.Name, o.Value))
		}
	}
	return errors.Join(errs...)
}
