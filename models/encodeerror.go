package models

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// EncodeError means that a document cannot be encoded for a request, or that its key cannot be read. Nothing was
// sent.
type EncodeError struct {
	// Field is the path of the problem in JSON names: "rooms[2].rate", `prices["EUR"]`. It is empty if the problem is the
	// whole document, or its place is unknown.
	Field string
	// Err is the problem.
	Err error
}

func (e *EncodeError) Error() string {
	if e.Field == "" {
		return "encode document: " + e.Err.Error()
	}
	return "encode document: field " + e.Field + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *EncodeError) Unwrap() error { return e.Err }

func isLetterOrDigit(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// explain finds the field for which encoding v fails with err. It encodes the parts of the document one by one and
// descends into the failing one. That is slow, but only happens for a refused document.
func explain(v any, err error) (e *EncodeError) {
	e = &EncodeError{Err: err}
	defer func() {
		// The document may change concurrently, or its methods may fail differently each time. Then the first error is
		// returned.
		_ = recover()
	}()
	if errors.Is(err, errNotUTF8) { // then v does not contain itself
		e.Field, _ = notUTF8(reflect.ValueOf(v), "")
		e.Err = errNotUTF8
		return e
	}
	e.Field = culprit(reflect.ValueOf(v), "", nil)
	if raw, ok := v.(*json.RawMessage); ok && bytes.HasPrefix(*raw, byteOrderMark) {
		e.Err = fmt.Errorf("%w: %w", wire.ErrNotJSON, errByteOrderMark)
	}
	if unsupported := (*json.UnsupportedValueError)(nil); errors.As(err, &unsupported) && isFloat(unsupported.Value) {
		e.Err = fmt.Errorf("%s cannot be written in JSON: %w", unsupported.Str, err)
	}
	return e
}

func isFloat(v reflect.Value) bool { return v.IsValid() && v.CanFloat() }

// culprit returns the path of the innermost part of v that cannot be encoded. v is at path and is known to fail.
// above holds the pointers, maps and slices that lead to v: one of them again means that the document contains
// itself.
func culprit(v reflect.Value, path string, above []uintptr) string {
	v = insidePatch(v)
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		if v.Kind() == reflect.Pointer {
			if encode.MarshalsJSON(v.Type()) || encode.MarshalsText(v.Type()) || slices.Contains(above, v.Pointer()) {
				return path
			}
			above = append(above, v.Pointer())
		}
		v = insidePatch(v.Elem())
	}
	if !v.IsValid() || encode.MarshalsJSON(v.Type()) || encode.MarshalsText(v.Type()) {
		return path
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range encode.FieldsOf(v.Type()) {
			if fv := f.Value(v); !f.LeftOut(fv) && fails(fv) {
				return culprit(fv, join(path, f.Name), above)
			}
		}
	case reflect.Map:
		if slices.Contains(above, v.Pointer()) {
			return path
		}
		above = append(above, v.Pointer())
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			if mv := v.MapIndex(k); fails(mv) {
				return culprit(mv, join(path, fmt.Sprint(k)), above)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if ev := v.Index(i); fails(ev) {
				return culprit(ev, path+"["+strconv.Itoa(i)+"]", above)
			}
		}
	}
	return path
}

// insidePatch returns the fields of a Patch, whose MarshalJSON would hide them, and any other value unchanged.
func insidePatch(v reflect.Value) reflect.Value {
	if v.IsValid() && v.CanInterface() {
		switch p := v.Interface().(type) {
		case Patch:
			return reflect.ValueOf(p.fields)
		case *Patch:
			if p != nil {
				return reflect.ValueOf(p.fields)
			}
		}
	}
	return v
}

// fails reports whether v itself cannot be encoded.
func fails(v reflect.Value) bool {
	if !v.IsValid() {
		return false
	}
	if v.CanFloat() && !encode.MarshalsJSON(v.Type()) && !encode.MarshalsText(v.Type()) {
		return math.IsNaN(v.Float()) || v.Kind() == reflect.Float32 && math.IsInf(v.Float(), 0)
	}
	if !v.CanInterface() {
		return false
	}
	x := v.Interface()
	if v.CanAddr() {
		x = v.Addr().Interface()
	}
	_, err := appendValue(nil, x)
	return err != nil
}

// join appends a member to a path: after a dot if its name needs no quotes, otherwise in brackets.
func join(path, name string) string {
	plain := name != ""
	for _, c := range name {
		plain = plain && (isLetterOrDigit(c) || c == '_' || c == '-' || c == '@' || c == '$')
	}
	switch {
	case !plain:
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}
