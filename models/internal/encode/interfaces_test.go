package encode_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"testing"
)

func TestInterfaces(t *testing.T) {
	type anyField struct{ F any }
	type errorField struct{ F error }
	type jsonField struct{ F json.Marshaler }
	type textField struct{ F encoding.TextMarshaler }
	type stringerField struct{ F fmt.Stringer }
	var nothing any
	checkOddities(t, []oddity{
		{"nil", nil, `null`},
		{"a pointer to nil", &nothing, `null`},
		{"a nil any", anyField{}, `{"F":null}`},
		{"a nil error", errorField{}, `{"F":null}`},
		{"a nil json.Marshaler", jsonField{}, `{"F":null}`},
		{"a nil encoding.TextMarshaler", textField{}, `{"F":null}`},
		{"a nil pointer in an any", anyField{(*int)(nil)}, `{"F":null}`},
		{"a nil map in an any", anyField{map[string]int(nil)}, `{"F":null}`},
		{"a nil pointer to a json.Marshaler in an any", anyField{(*jvStruct)(nil)}, `{"F":null}`},
		{"a nil pointer in a json.Marshaler is asked, and panics", jsonField{(*jvStruct)(nil)}, ""},
		{"a nil pointer in a json.Marshaler that can be asked", jsonField{(*nilAnswers)(nil)}, `{"F":true}`},
		{"a nil pointer in an any that could be asked", anyField{(*nilAnswers)(nil)}, `{"F":null}`},
		{"a nil pointer in an encoding.TextMarshaler that can be asked", textField{(*nilAnswers)(nil)}, `{"F":"true"}`},
		{"a nil pointer in an encoding.TextMarshaler is asked, and panics", textField{(*tpStruct)(nil)}, ""},
		{"an encoding.TextMarshaler is asked for text though it has JSON", textField{jvtvStruct{"x"}}, `{"F":"text:x"}`},
		{"MarshalJSON in an any", anyField{jvtvStruct{"x"}}, `{"F":{"<json&>":"x"}}`},
		{"a list of encoding.TextMarshaler", []encoding.TextMarshaler{jvtvStruct{"x"}, nil, ptr(tpInt(1))}, `["text:x",null,"text:1"]`},
		{"an error is not its message", errorField{vError{3}}, `{"F":{"Code":3}}`},
		{"an error that is a pointer", errorField{&pError{3}}, `{"F":{"Code":3}}`},
		{"an error in an any", anyField{fmt.Errorf("x")}, `{"F":{}}`},
		{"a fmt.Stringer is not its string", stringerField{vString("<x>")}, `{"F":"<x>"}`},
		{"a fmt.Stringer with MarshalJSON", stringerField{jvStruct{"x"}}, `{"F":{"<json&>":"x"}}`},
		{"a struct in an interface cannot be addressed", &anyField{struct{ F jpInt }{1}}, `{"F":{"F":1}}`},
		{"an array in an interface cannot be addressed", &anyField{[1]tpInt{1}}, `{"F":[1]}`},
		{"a slice in an interface has elements that can", anyField{[]tpInt{1}}, `{"F":["text:1"]}`},
		{"a channel in an any", anyField{make(chan int)}, ""},
		{"a function in an any", []any{1, func() {}}, ""},
		{"an interface in an interface", anyField{&nothing}, `{"F":null}`},
		{"map of interfaces", map[string]json.Marshaler{"a": nil, "b": jvInt(2), "c": ptr(jpInt(3))}, `{"a":null,"b":{"<json&>":"2"},"c":{"<json&>":"3"}}`},
		{"omitempty and nil", struct {
			F any `json:",omitempty"`
		}{}, `{}`},
		{"omitempty and a nil pointer in it", struct {
			F any `json:",omitempty"`
		}{(*int)(nil)}, `{"F":null}`},
		{"omitzero and a zero in it", struct {
			F any `json:",omitzero"`
		}{0}, `{"F":0}`},
		{"omitzero calls IsZero of an interface", struct {
			F, G isZeroer `json:",omitzero"`
			H    isZeroer `json:",omitzero"`
		}{zvInt(1), zvInt(2), nil}, `{"G":2}`},
		{"omitzero and a nil pointer in an interface with IsZero", struct {
			F isZeroer `json:",omitzero"`
		}{(*zvStruct)(nil)}, `{}`},
		{"omitzero does not call IsZero of the value in an any", struct {
			F any `json:",omitzero"`
		}{zvInt(1)}, `{"F":1}`},
	})
}

// nilAnswers has methods that work for a nil pointer.
type nilAnswers struct{}

func (n *nilAnswers) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprint(n == nil)), nil }
func (n *nilAnswers) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(n == nil)), nil }
