package encode_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

func TestWhoseMethodIsCalled(t *testing.T) {
	type jp struct{ F jpInt }
	type tp struct{ F tpInt }
	checkOddities(t, []oddity{
		{"MarshalJSON of a value", jvInt(1), `{"<json&>":"1"}`},
		{"MarshalJSON of a value behind a pointer", ptr(jvInt(1)), `{"<json&>":"1"}`},
		{"a nil pointer to it is null and not asked", (*jvInt)(nil), `null`},
		{"MarshalJSON of a pointer is not seen by a value", jpInt(1), `1`},
		{"a field of a value has no pointer method", jp{1}, `{"F":1}`},
		{"a field that can be addressed sees it", &jp{1}, `{"F":{"<json&>":"1"}}`},
		{"an element of a slice has the pointer method", []jpInt{1}, `[{"<json&>":"1"}]`},
		{"an element of an array has no pointer method", [1]jpInt{1}, `[1]`},
		{"an element of an array behind a pointer has the pointer method", &[1]jpInt{1}, `[{"<json&>":"1"}]`},
		{"a value in a map has no pointer method", map[string]jpInt{"a": 1}, `{"a":1}`},
		{"a value in a map behind a pointer has no pointer method", &map[string]jpInt{"a": 1}, `{"a":1}`},
		{"a value in an interface has no pointer method", &[]any{jpInt(1)}[0], `1`},
		{"a pointer in an interface sees it", []any{ptr(jpInt(1))}, `[{"<json&>":"1"}]`},
		{"a pointer to a pointer sees it", ptr(ptr(jpInt(1))), `{"<json&>":"1"}`},
		{"a nil pointer of a pointer receiver is null", []*jpInt{nil}, `[null]`},
		{"a slice in a struct value", struct{ S []jp }{[]jp{{1}}}, `{"S":[{"F":{"<json&>":"1"}}]}`},
		{"MarshalText of a value", tvInt(1), `"text:1"`},
		{"MarshalText of a pointer and a value", tpInt(1), `1`},
		{"MarshalText of a pointer and a field", &tp{1}, `{"F":"text:1"}`},
		{"MarshalText of a nil pointer", []*tpInt{nil}, `[null]`},
		{"JSON goes before text", jvtvStruct{"x"}, `{"<json&>":"x"}`},
		{"JSON of the value, text of the pointer: addressed", &struct{ F jvtpStruct }{}, `{"F":{"<json&>":""}}`},
		{"JSON of the pointer, text of the value: addressed", &struct{ F jptvStruct }{}, `{"F":{"<json&>":""}}`},
		{"JSON of the pointer, text of the value: not addressed", struct{ F jptvStruct }{}, `{"F":"text:"}`},
		{"both of the pointer: not addressed", struct{ F jptpStruct }{}, `{"F":{"S":""}}`},
		{"both of the pointer: addressed", &struct{ F jptpStruct }{}, `{"F":{"<json&>":""}}`},
		{"a nil slice with a method is asked", jvSlice(nil), `{"<json&>":"0"}`},
		{"a nil map with a method is asked", jvMap(nil), `{"<json&>":"0"}`},
		{"a nil function with a method is asked", jvFunc(nil), `{"<json&>":"true"}`},
		{"a nil channel with a method is asked", tvChan(nil), `"text:true"`},
		{"text of a nil byte slice is asked", tvBytes(nil), `"text:"`},
		{"MarshalJSON of a pointer to a byte slice, not addressed", jpBytes("ab"), `"YWI="`},
		{"a map with a pointer receiver, addressed", &struct{ M tpMap }{}, `{"M":"text:0"}`},
		{"a map with a pointer receiver, not addressed", struct{ M tpMap }{}, `{"M":null}`},
		{"a type made of another has none of its methods", plainTime{}, `{}`},
		{"an array of bytes that writes itself as text", tvArray{'u', 'u', 'i', 'd', 4: '<', 5: 0xff}, "\"text:uuid<\\ufffd\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\""},
	})
}

func TestWhatAMethodReturns(t *testing.T) {
	checkOddities(t, []oddity{
		{"spaces are taken out, but not those in strings", givenJSON(" {\"a b\" :\t[ 1 ,\r\n2 ] } "), `{"a b":[1,2]}`},
		{"HTML stays as it is", givenJSON(`"<&>"`), `"<&>"`},
		{"U+2028 stays as it is", givenJSON("\"\u2028\u2029\""), "\"\u2028\u2029\""},
		{"invalid UTF-8 is not changed", givenJSON("\"\xff\xe2\x80\""), "\"\xff\xe2\x80\""},
		{"escapes stay as they are", givenJSON(`"\u003c\/\ud800"`), "\"\\u003c\\/\\ud800\""},
		{"numbers stay as they are", givenJSON(`[-0,1.50,1E+02,1e999]`), `[-0,1.50,1E+02,1e999]`},
		{"a name twice stays twice", givenJSON(`{"a":1,"a":2}`), `{"a":1,"a":2}`},
		{"no bytes are not JSON", givenJSON(""), ""},
		{"only spaces are not JSON", givenJSON(" \n"), ""},
		{"half an object", givenJSON(`{"a":1`), ""},
		{"two values", givenJSON(`1 2`), ""},
		{"a comma too many", givenJSON(`[1,]`), ""},
		{"a control character in a string", givenJSON("\"\n\""), ""},
		{"a byte order mark", givenJSON("\ufeff{}"), ""},
		{"a zero at the front", givenJSON("01"), ""},
		{"a bad escape", givenJSON(`"\x"`), ""},
		{"bad JSON far inside a good value", map[string]any{"a": []any{1, struct{ X any }{givenJSON("nul")}}}, ""},
		{"a nil json.RawMessage", json.RawMessage(nil), `null`},
		{"an empty json.RawMessage", json.RawMessage{}, ""},
		{"an empty json.RawMessage that is left out", struct {
			R json.RawMessage `json:",omitempty"`
		}{json.RawMessage{}}, `{}`},
		{"a nil json.RawMessage in a field", &struct{ R, S json.RawMessage }{S: json.RawMessage(` { } `)}, `{"R":null,"S":{}}`},
		{"a pointer to a nil json.RawMessage", ptr(json.RawMessage(nil)), `null`},
		{"a nil pointer to a json.RawMessage", (*json.RawMessage)(nil), `null`},
		{"a json.RawMessage in an interface", []any{json.RawMessage(`[ 1]`)}, `[[1]]`},
		{"a nil json.RawMessage in an interface", []any{json.RawMessage(nil), json.RawMessage(" 1")}, `[null,1]`},
		{"bad JSON in a json.RawMessage in a map", map[string]any{"a": json.RawMessage(`{"b":nope}`)}, ""},
		{"a type made of json.RawMessage is bytes", plainBytes(json.RawMessage(`{}`)), `"e30="`},
		{"text is escaped, HTML is not", givenText("<\"\\\n\u2028\xff>"), "\"<\\\"\\\\\\n\\u2028\\ufffd>\""},
		{"text of nothing is an empty string", tvString(nilWord), `""`},
		{"JSON of nothing is an error", jvString(nilWord), ""},
		{"a method that fails", jvString(failWord), ""},
		{"a method that fails for text", tvString(failWord), ""},
		{"a method that panics", jvString(panicWord), ""},
		{"a method that panics for text", tvString(panicWord), ""},
		{"a key that fails", map[givenKeyFails]int{{}: 1}, ""},
	})
}

type givenKeyFails struct{}

func (givenKeyFails) MarshalText() ([]byte, error) { return []byte("k"), errFail }

// asksAgain encodes within its method, as most MarshalJSON methods do.
type asksAgain struct{ Depth int }

func (a asksAgain) MarshalJSON() ([]byte, error) {
	if a.Depth == 0 {
		return []byte(`{"deep": "<>"}`), nil
	}
	v := map[string]any{"z": 1, "in": &asksAgain{a.Depth - 1}, "list": []asksAgain{{0}, {a.Depth - 1}}}
	if a.Depth%2 == 0 {
		return json.Marshal(v)
	}
	if out, ok := encode.Append([]byte(" "), v); ok {
		return out, nil
	}
	return nil, errFail
}

func TestAMethodMayCallAppend(t *testing.T) {
	checkWritten(t, asksAgain{6})
	checkWritten(t, map[string]asksAgain{"b": {3}, "a": {2}})
	checkWritten(t, &struct {
		A asksAgain
		M map[string]any
		B *asksAgain `json:",omitzero"`
	}{asksAgain{3}, map[string]any{"x": asksAgain{2}, "b": 1}, &asksAgain{1}})
}

// sharesBuffer returns the same memory each time, so Append must copy it before the next call.
type sharesBuffer struct{ buf *bytes.Buffer }

func (s sharesBuffer) MarshalJSON() ([]byte, error) { return s.next(), nil }
func (s sharesBuffer) MarshalText() ([]byte, error) { return s.next(), nil }

func (s sharesBuffer) next() []byte {
	b := s.buf.Bytes()
	b[0] = '1' + (b[0]-'0')%8
	return b
}

func TestAMethodMayReturnTheSameMemoryAgain(t *testing.T) {
	s := sharesBuffer{bytes.NewBufferString("1")}
	got, ok := encode.Append(nil, []sharesBuffer{s, s, s})
	require.True(t, ok)
	require.Equal(t, `[2,3,4]`, string(got))
}

func TestJSONOfAMethodMayBeDeepAndLong(t *testing.T) {
	for _, depth := range []int{100, 999, 1000, 1001, 9_999, 10_000} {
		checkWritten(t, givenJSON(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
	}
	for _, depth := range []int{10_001, 20_000} { // deeper than encoding/json allows
		require.Equal(t, refused, check(t, givenJSON(strings.Repeat("[", depth)+strings.Repeat("]", depth))))
	}
	checkWritten(t, givenJSON(`"`+strings.Repeat("long ", 1<<18)+`"`))
	checkWritten(t, givenJSON(strings.Repeat(" ", 1<<16)+"1"+strings.Repeat("\n", 1<<16)))
}
