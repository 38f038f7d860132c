// Package nilcheck finds nil pointers inside interfaces, which a comparison with nil does not.
package nilcheck

import "reflect"

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
