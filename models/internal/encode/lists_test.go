package encode_test

import (
	"encoding/json"
	"math"
	"math/big"
	"net/netip"
	"testing"
	"time"
)

func TestListsAndBytes(t *testing.T) {
	checkOddities(t, []oddity{
		{"a nil slice", []int(nil), `null`},
		{"an empty slice", []int{}, `[]`},
		{"an empty array", [0]int{}, `[]`},
		{"bytes are base64", []byte{0, 1, 0xff}, `"AAH/"`},
		{"nil bytes", []byte(nil), `null`},
		{"empty bytes", []byte{}, `""`},
		{"base64 is not escaped and has padding", []byte{0xfb, 0xff, 0xfe, 0xfb}, `"+//++w=="`},
		{"an array of bytes is a list of numbers", [4]byte{1, 2, 3, 255}, `[1,2,3,255]`},
		{"an array of bytes behind a pointer", &[4]byte{1}, `[1,0,0,0]`},
		{"a slice of such arrays", [][2]byte{{1, 2}}, `[[1,2]]`},
		{"a named byte slice", plainBytes{1}, `"AQ=="`},
		{"a slice of a named byte", []plainByte{1}, `"AQ=="`},
		{"an array of a named byte", [1]plainByte{1}, `[1]`},
		{"a slice of bytes with MarshalJSON is a list", []jvByte{1}, `[{"<json&>":"1"}]`},
		{"with MarshalJSON of the pointer", []jpByte{1}, `[{"<json&>":"1"}]`},
		{"with MarshalText", []tvByte{1}, `["text:1"]`},
		{"with MarshalText of the pointer", []tpByte{1}, `["text:1"]`},
		{"a nil list of these", []tpByte(nil), `null`},
		{"int8 is not byte", []int8{1}, `[1]`},
		{"a slice of functions that is empty", []func(){}, `[]`},
		{"a slice of functions that is nil", ([]func())(nil), `null`},
		{"an array of no functions", [0]func(){}, `[]`},
		{"a slice of functions", []func(){nil}, ""},
		{"empty structs", []struct{}{{}, {}}, `[{},{}]`},
		{"pointers", []*int{nil, new(int)}, `[null,0]`},
		{"lists of lists", [][]string{nil, {}, {""}}, `[null,[],[""]]`},
		{"an array in an array", [2][2]bool{{true}}, `[[true,false],[false,false]]`},
		{"strings", []string{"", "<", "\xff"}, "[\"\",\"<\",\"\\ufffd\"]"},
		{"a list with MarshalText of an element's pointer, in a value", struct{ L []tpStruct }{[]tpStruct{{"x"}}}, `{"L":["text:x"]}`},
		{"an array of the same, in a value", struct{ L [1]tpStruct }{}, `{"L":[{"S":""}]}`},
		{"a slice whose type contains itself", selfSlice{nil, {}, {nil}}, `[null,[],[null]]`},
		{"a map whose type contains itself", selfMap{"a": nil, "b": {}}, `{"a":null,"b":{}}`},
		{"a pointer whose type is itself", selfPointer(ptr(selfPointer(nil))), `null`},
		{"an array of pointers to its own type", selfArray{[2]*selfArray{nil, {}}}, `{"Two":[null,{"Two":[null,null]}]}`},
	})
}

func TestNumbersAndOtherScalars(t *testing.T) {
	checkOddities(t, []oddity{
		{"int64, smallest", int64(math.MinInt64), `-9223372036854775808`},
		{"uint64, largest", uint64(math.MaxUint64), `18446744073709551615`},
		{"int8", int8(-128), `-128`},
		{"-0", math.Copysign(0, -1), `-0`},
		{"1e21 has an exponent", 1e21, `1e+21`},
		{"1e20 has no exponent", 1e20, `100000000000000000000`},
		{"1e-6 has no exponent", 1e-6, `0.000001`},
		{"1e-7 has an exponent of one digit", 1e-7, `1e-7`},
		{"1e-10 has an exponent of two digits", 1e-10, `1e-10`},
		{"1e-100 has three", 1e-100, `1e-100`},
		{"a float32 has few digits", float32(0.1), `0.1`},
		{"a float32 near 1e21", float32(1e21), `1e+21`},
		{"a float32 near 1e-6", float32(1e-6), `0.000001`},
		{"a json.Number", json.Number("1.50E+05"), `1.50E+05`},
		{"an empty json.Number is 0", json.Number(""), `0`},
		{"a json.Number with a space", json.Number(" 1"), ""},
		{"a json.Number with a space behind", json.Number("1 "), ""},
		{"a json.Number with a plus", json.Number("+1"), ""},
		{"a json.Number with a zero in front", json.Number("01"), ""},
		{"a json.Number without digits", json.Number("-"), ""},
		{"a json.Number that ends in a point", json.Number("1."), ""},
		{"a json.Number that ends in e", json.Number("1e"), ""},
		{"a json.Number that ends in e+", json.Number("1e+"), ""},
		{"a json.Number in hex", json.Number("0x10"), ""},
		{"a json.Number that is JSON but no number", json.Number("true"), ""},
		{"a json.Number that is a string", json.Number(`"1"`), ""},
		{"a json.Number that is a list", json.Number("[1]"), ""},
		{"a json.Number with a comma", json.Number("1,2"), ""},
		{"a json.Number with a newline", json.Number("1\n"), ""},
		{"a huge json.Number", json.Number("-123456789012345678901234567890.5e-999"), `-123456789012345678901234567890.5e-999`},
		{"a json.Number behind a pointer", ptr(json.Number("7")), `7`},
		{"a bad json.Number in a map", map[string]json.Number{"a": "x"}, ""},
		{"a type made of json.Number", plainNumber("1.5"), `"1.5"`},
		{"true", true, `true`},
		{"a named bool", plainBool(true), `true`},
		{"a duration is a number", time.Second, `1000000000`},
		{"a big.Int cannot be addressed in a struct value", struct{ N big.Int }{*big.NewInt(7)}, `{"N":{}}`},
		{"a *big.Int", struct{ N, M *big.Int }{big.NewInt(-7), nil}, `{"N":-7,"M":null}`},
		{"a big.Int that can be addressed", &struct{ N big.Int }{*big.NewInt(7)}, `{"N":7}`},
		{"an address", netip.MustParseAddr("fe80::1%eth<0"), `"fe80::1%eth<0"`},
		{"no address", netip.Addr{}, `""`},
		{"a nil *time.Time", (*time.Time)(nil), `null`},
		{"complex128", 1i, ""},
		{"a channel", make(chan int), ""},
		{"a nil function", (func())(nil), ""},
		{"a pointer to a function", ptr(func() {}), ""},
		{"a nil pointer to a function", (*func())(nil), `null`},
		{"a struct with a function", struct{ F func() }{}, ""},
		{"a struct with a function that is not seen", struct {
			F func() `json:"-"`
		}{}, `{}`},
		{"deep pointers", ptr(ptr(ptr(ptr(1)))), `1`},
		{"deep pointers to nil", ptr(ptr(ptr((*int)(nil)))), `null`},
	})
}
