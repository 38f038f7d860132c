package encode_test

import (
	"encoding"
	"encoding/json"
	"math"
	"net/netip"
	"strconv"
	"testing"
	"time"
)

func TestMapKeys(t *testing.T) {
	var noKey encoding.TextMarshaler
	checkOddities(t, []oddity{
		{"nil", map[string]int(nil), `null`},
		{"empty", map[string]int{}, `{}`},
		{"sorted by bytes", map[string]int{"b": 1, "a": 2, "B": 3, "": 4, "é": 5, "z": 6, "aa": 7, "\xff": 8, "<": 9}, "{\"\":4,\"<\":9,\"B\":3,\"a\":2,\"aa\":7,\"b\":1,\"z\":6,\"é\":5,\"\\ufffd\":8}"},
		{"sorted before they are escaped", map[string]int{"\n": 1, "\"": 2, "#": 3, "\\": 4, "a": 5}, `{"\n":1,"\"":2,"#":3,"\\":4,"a":5}`},
		{"two keys that are equal when escaped", map[string]int{"\xff": 1, "\xfe": 2, "\ufffd": 3}, "{\"�\":3,\"\\ufffd\":2,\"\\ufffd\":1}"},
		{"numbers are sorted as text", map[int]string{10: "", 9: "", -1: "", 100: "", 0: "", -10: ""}, `{"-1":"","-10":"","0":"","10":"","100":"","9":""}`},
		{"uint64", map[uint64]int{math.MaxUint64: 1, 2: 2}, `{"18446744073709551615":1,"2":2}`},
		{"int8", map[int8]int{-128: 1, 127: 2}, `{"-128":1,"127":2}`},
		{"uintptr", map[uintptr]int{3: 1}, `{"3":1}`},
		{"a named string", map[plainString]int{"b": 1, "a": 2}, `{"a":2,"b":1}`},
		{"a string ignores its MarshalText", map[tvString]int{"b": 1, "a": 2}, `{"a":2,"b":1}`},
		{"even if that would fail", map[tvString]int{failWord: 1}, `{"!fail":1}`},
		{"an int is asked for its text", map[tvInt]int{10: 1, 9: 2}, `{"text:10":1,"text:9":2}`},
		{"MarshalText of an int's pointer is not called", map[tpInt]int{10: 1, 9: 2}, `{"10":1,"9":2}`},
		{"a struct with MarshalText", map[tvStruct]int{{"b"}: 1, {"a"}: 2}, `{"text:a":2,"text:b":1}`},
		{"a struct whose pointer has MarshalText is refused", map[tpStruct]int{{"b"}: 1}, ""},
		{"a pointer with MarshalText", map[*tpStruct]int{{"b"}: 1, {"a"}: 2}, `{"text:a":2,"text:b":1}`},
		{"a nil pointer is an empty name", map[*tpStruct]int{nil: 1, {"a"}: 2}, `{"":1,"text:a":2}`},
		{"MarshalJSON of a key is not asked", map[jvString]int{"a": 1}, `{"a":1}`},
		{"a key with MarshalJSON only is refused", map[jvStruct]int{{"a"}: 1}, ""},
		{"json.Number is text", map[json.Number]int{"1": 1, "": 2, "x": 3}, `{"":2,"1":1,"x":3}`},
		{"a time", map[time.Time]int{time.Unix(0, 0).UTC(): 1}, `{"1970-01-01T00:00:00Z":1}`},
		{"a time that has no text", map[time.Time]int{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC): 1}, ""},
		{"an address", map[netip.Addr]int{netip.MustParseAddr("::1"): 1, {}: 2}, `{"":2,"::1":1}`},
		{"an array with MarshalText", map[tvArray]int{{'a'}: 1}, "{\"text:a\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\":1}"},
		{"an interface with MarshalText", map[encoding.TextMarshaler]int{tvInt(2): 1, tvString("a"): 2, ptr(tpInt(3)): 3}, `{"text:2":1,"text:3":3,"text:a":2}`},
		{"a nil interface panics", map[encoding.TextMarshaler]int{noKey: 1}, ""},
		{"a nil pointer in an interface is asked", map[encoding.TextMarshaler]int{(*nilAnswers)(nil): 1}, `{"true":1}`},
		{"a nil pointer in an interface that panics", map[encoding.TextMarshaler]int{(*tpStruct)(nil): 1}, ""},
		{"any is refused", map[any]int{"a": 1}, ""},
		{"bool is refused, even if the map is nil", map[bool]int(nil), ""},
		{"float64 is refused", map[float64]int{1: 1}, ""},
		{"an array of bytes is refused", map[[2]byte]int{}, ""},
		{"a key that panics", map[tvStruct]int{{panicWord}: 1}, ""},
		{"a key of nothing", map[tvStruct]int{{nilWord}: 1}, `{"":1}`},
		{"text of a key is escaped", map[tvStruct]int{{"<\"\xff\u2028"}: 1}, "{\"text:<\\\"\\ufffd\\u2028\":1}"},
	})
}

func TestMapValues(t *testing.T) {
	checkOddities(t, []oddity{
		{"a map of any", map[string]any{"n": nil, "i": 1, "f": 0.1, "s": "<", "l": []any{1, "a", nil}, "m": map[string]any{}, "b": true, "r": json.RawMessage(" 1 ")}, `{"b":true,"f":0.1,"i":1,"l":[1,"a",null],"m":{},"n":null,"r":1,"s":"<"}`},
		{"numbers of all kinds in any", map[string]any{"a": int8(1), "b": uint64(math.MaxUint64), "c": float32(0.1), "d": json.Number("1e5"), "e": 1e21, "f": uintptr(1)}, `{"a":1,"b":18446744073709551615,"c":0.1,"d":1e5,"e":1e+21,"f":1}`},
		{"a map of strings", map[string]string{"a": "<\n", "b": ""}, `{"a":"<\n","b":""}`},
		{"a map of structs", map[string]Inner{"a": {1, ""}, "b": {2, "x"}}, `{"a":{"A":1},"b":{"A":2,"b":"x"}}`},
		{"a map of slices", map[string][]string{"a": nil, "b": {}, "c": {"x"}}, `{"a":null,"b":[],"c":["x"]}`},
		{"a map of pointers", map[string]*int{"a": nil, "b": new(int)}, `{"a":null,"b":0}`},
		{"a map of functions", map[string]func(){"a": nil}, ""},
		{"an empty map of functions", map[string]func(){}, `{}`},
		{"a nil map of channels", map[string]chan int(nil), `null`},
		{"a map of empty structs", map[string]struct{}{"b": {}, "a": {}}, `{"a":{},"b":{}}`},
		{"a map of float32", map[string]float32{"a": 0.1, "b": 1e-7}, `{"a":0.1,"b":1e-7}`},
		{"a map of bytes", map[string][]byte{"a": []byte("a"), "b": nil}, `{"a":"YQ==","b":null}`},
		{"a map of maps by number", map[string]map[int]bool{"a": {1: true, 10: false, 2: true}}, `{"a":{"1":true,"10":false,"2":true}}`},
		{"behind a pointer", &map[string]any{"a": &map[string]any{"b": 1}}, `{"a":{"b":1}}`},
		{"a bad value among good ones", map[string]any{"a": 1, "b": math.NaN(), "c": 3}, ""},
	})
}

// The keys of large maps are sorted as text, at every size at which the sort algorithm may change.
func TestMapsOfManySizes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 8, 9, 11, 12, 13, 20, 33, 50, 100, 1000} {
		texts, ints, anys, nested := map[string]int{}, map[int]string{}, map[string]any{}, map[string]map[tvInt]any{}
		for i := range n {
			key := strconv.Itoa((i*7919 + n) % 10007)
			texts[key], ints[i-n/2], anys["k"+key] = i, key, map[string]any{"x" + key: i, "a" + key: nil}
			nested[key] = map[tvInt]any{tvInt(i): map[int]int{i: i, -i: i}, tvInt(-i - 1): nil}
		}
		for _, v := range []any{texts, ints, anys, nested, []any{texts, anys}, &struct{ A, B any }{anys, ints}} {
			checkWritten(t, v)
		}
	}
}
