package models

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// errNotUTF8 means that a text cannot be encoded in JSON. encoding/json would replace the invalid bytes with U+FFFD,
// so the index would have another text than the program.
var errNotUTF8 = errors.New(`the text is not valid UTF-8; strings.ToValidUTF8(text, "\ufffd") replaces what is wrong`)

// byteOrderMark is the start of files of some editors. It is not valid JSON.
var byteOrderMark = []byte("\ufeff")

var errByteOrderMark = errors.New(`it begins with a byte order mark; remove it with bytes.TrimPrefix(doc, []byte("\ufeff"))`)

// notUTF8 returns the path of the first text in v that is not UTF-8. v is at path and is known to be encodable.
func notUTF8(v reflect.Value, path string) (at string, found bool) {
	v = insidePatch(v)
	if !v.IsValid() {
		return "", false
	}
	if asJSON := encode.MarshalsJSON(v.Type()); asJSON || encode.MarshalsText(v.Type()) {
		if !v.CanInterface() {
			return "", false
		}
		out, err := appendValue(nil, v.Interface())
		return path, err == nil && (!utf8.Valid(out) || !asJSON && bytes.Contains(bytes.ReplaceAll(out, []byte(`\\`), nil), []byte(`\ufffd`)))
	}
	switch v.Kind() {
	case reflect.String:
		return path, !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return notUTF8(v.Elem(), path)
	case reflect.Struct:
		for _, f := range encode.FieldsOf(v.Type()) {
			if fv := f.Value(v); fv.IsValid() && !f.LeftOut(fv) {
				if at, found = notUTF8(fv, join(path, f.Name)); found {
					return at, true
				}
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			inside := join(path, fmt.Sprint(k))
			if k.Kind() == reflect.String && !utf8.ValidString(k.String()) {
				return inside, true
			}
			if at, found = notUTF8(v.MapIndex(k), inside); found {
				return at, true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if at, found = notUTF8(v.Index(i), path+"["+strconv.Itoa(i)+"]"); found {
				return at, true
			}
		}
	}
	return "", false
}
