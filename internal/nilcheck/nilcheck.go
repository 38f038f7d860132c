// Package nilcheck finds nil pointers in interfaces, which a comparison with nil does not detect.
package nilcheck

import (
	"errors"
	"fmt"
	"reflect"
)

// IsNil reports whether v is nil, or an interface with a nil pointer, function, map, slice or channel.
func IsNil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan:
		return value.IsNil()
	}
	return false
}

// Option is an option of an interface type that a user may leave out.
type Option struct {
	Name  string
	Value any
}

// Refuse returns an error that names each option with a nil pointer, function, map, slice or channel. Such a value
// usually comes from a constructor whose error was ignored. A nil interface means that the option was left out.
func Refuse(options ...Option) error {
	var errs []error
	for _, o := range options {
		if o.Value != nil && IsNil(o.Value) {
			errs = append(errs, fmt.Errorf("%s is a nil %T: check the error of its constructor, or leave it out", o.Name, o.Value))
		}
	}
	return errors.Join(errs...)
}
