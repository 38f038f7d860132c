package encode_test

import (
	"encoding/json"
	"errors"
	"strconv"
)

// Names of types with methods that encoding/json calls: j is MarshalJSON, t is MarshalText, z is IsZero; v is a value
// receiver, p a pointer receiver. So jpInt is an int with MarshalJSON on *jpInt.

// These strings make a method misbehave.
const (
	failWord  = "!fail"
	panicWord = "!panic"
	nilWord   = "!nil"
)

var errFail = errors.New("this method fails")

// asJSON is the result of the MarshalJSON methods. It has spaces, which encoding/json removes, and HTML characters,
// which it keeps.
func asJSON(s string) ([]byte, error) {
	switch s {
	case failWord:
		return []byte(`{}`), errFail
	case panicWord:
		panic("this method panics")
	case nilWord:
		return nil, nil
	}
	quoted, err := json.Marshal(s)
	return append(append([]byte(" {\t\"<json&>\" : \r\n"), quoted...), " }\n"...), err
}

// asText is the result of the MarshalText methods.
func asText(s string) ([]byte, error) {
	switch s {
	case failWord:
		return []byte(`text`), errFail
	case panicWord:
		panic(errFail)
	case nilWord:
		return nil, nil
	}
	return []byte("text:" + s), nil
}

func number[T ~int | ~uint8](i T) string { return strconv.Itoa(int(i)) }

type (
	jvStruct struct{ S string }
	jvTwin   struct{ S string }
	jpStruct struct{ S string }
	tvStruct struct{ S string }
	tpStruct struct{ S string }

	jvtvStruct struct{ S string }
	jvtpStruct struct{ S string }
	jptvStruct struct{ S string }
	jptpStruct struct{ S string }

	jvString string
	jpString string
	tvString string
	tpString string

	jvInt int
	jpInt int
	tvInt int
	tpInt int

	jvByte uint8
	jpByte uint8
	tvByte uint8
	tpByte uint8

	jvBytes []byte
	jpBytes []byte
	tvBytes []byte
	tpBytes []byte

	jvSlice []int
	jpSlice []int
	tvSlice []string
	jvMap   map[string]int
	jpMap   map[string]int
	tpMap   map[string]int
	jvArray [2]int
	jpArray [2]int
	tvArray [16]byte // like a UUID
	jpBool  bool
	tpFloat float64
	jvFunc  func() string
	tvChan  chan int
)

func (x jvStruct) MarshalJSON() ([]byte, error)  { return asJSON(x.S) }
func (x jvTwin) MarshalJSON() ([]byte, error)    { return asJSON(x.S) }
func (x *jpStruct) MarshalJSON() ([]byte, error) { return asJSON(x.S) }
func (x tvStruct) MarshalText() ([]byte, error)  { return asText(x.S) }
func (x *tpStruct) MarshalText() ([]byte, error) { return asText(x.S) }

func (x jvtvStruct) MarshalJSON() ([]byte, error)  { return asJSON(x.S) }
func (x jvtvStruct) MarshalText() ([]byte, error)  { return asText(x.S) }
func (x jvtpStruct) MarshalJSON() ([]byte, error)  { return asJSON(x.S) }
func (x *jvtpStruct) MarshalText() ([]byte, error) { return asText(x.S) }
func (x *jptvStruct) MarshalJSON() ([]byte, error) { return asJSON(x.S) }
func (x jptvStruct) MarshalText() ([]byte, error)  { return asText(x.S) }
func (x *jptpStruct) MarshalJSON() ([]byte, error) { return asJSON(x.S) }
func (x *jptpStruct) MarshalText() ([]byte, error) { return asText(x.S) }

func (x jvString) MarshalJSON() ([]byte, error)  { return asJSON(string(x)) }
func (x *jpString) MarshalJSON() ([]byte, error) { return asJSON(string(*x)) }
func (x tvString) MarshalText() ([]byte, error)  { return asText(string(x)) }
func (x *tpString) MarshalText() ([]byte, error) { return asText(string(*x)) }

func (x jvInt) MarshalJSON() ([]byte, error)  { return asJSON(number(x)) }
func (x *jpInt) MarshalJSON() ([]byte, error) { return asJSON(number(*x)) }
func (x tvInt) MarshalText() ([]byte, error)  { return asText(number(x)) }
func (x *tpInt) MarshalText() ([]byte, error) { return asText(number(*x)) }

func (x jvByte) MarshalJSON() ([]byte, error)  { return asJSON(number(x)) }
func (x *jpByte) MarshalJSON() ([]byte, error) { return asJSON(number(*x)) }
func (x tvByte) MarshalText() ([]byte, error)  { return asText(number(x)) }
func (x *tpByte) MarshalText() ([]byte, error) { return asText(number(*x)) }

func (x jvBytes) MarshalJSON() ([]byte, error)  { return asJSON(string(x)) }
func (x *jpBytes) MarshalJSON() ([]byte, error) { return asJSON(string(*x)) }
func (x tvBytes) MarshalText() ([]byte, error)  { return asText(string(x)) }
func (x *tpBytes) MarshalText() ([]byte, error) { return asText(string(*x)) }

func (x jvSlice) MarshalJSON() ([]byte, error)  { return asJSON(number(len(x))) }
func (x *jpSlice) MarshalJSON() ([]byte, error) { return asJSON(number(len(*x))) }
func (x tvSlice) MarshalText() ([]byte, error)  { return asText(number(len(x))) }
func (x jvMap) MarshalJSON() ([]byte, error)    { return asJSON(number(len(x))) }
func (x *jpMap) MarshalJSON() ([]byte, error)   { return asJSON(number(len(*x))) }
func (x *tpMap) MarshalText() ([]byte, error)   { return asText(number(len(*x))) }
func (x jvArray) MarshalJSON() ([]byte, error)  { return asJSON(number(x[0])) }
func (x *jpArray) MarshalJSON() ([]byte, error) { return asJSON(number(x[0])) }
func (x tvArray) MarshalText() ([]byte, error)  { return asText(string(x[:])) }
func (x *jpBool) MarshalJSON() ([]byte, error)  { return asJSON(strconv.FormatBool(bool(*x))) }
func (x *tpFloat) MarshalText() ([]byte, error) { return asText(number(int(*x))) }
func (x jvFunc) MarshalJSON() ([]byte, error)   { return asJSON(strconv.FormatBool(x == nil)) }
func (x tvChan) MarshalText() ([]byte, error)   { return asText(strconv.FormatBool(x == nil)) }

// givenJSON and givenText return themselves, valid or not.
type (
	givenJSON string
	givenText string
)

func (x givenJSON) MarshalJSON() ([]byte, error) { return []byte(x), nil }
func (x givenText) MarshalText() ([]byte, error) { return []byte(x), nil }

// Types with an unusual zero value, which only IsZero knows.
type (
	zvStruct struct{ A, B int }
	zpStruct struct{ A, B int }
	zvInt    int
	zpInt    int
	zvString string
	zpString string
	zvSlice  []int
	zpSlice  []int
	zpMap    map[string]int
	zvArray  [2]int
	zpFloat  float32
	zvjpInt  int
)

func (x zvStruct) IsZero() bool  { return x.A%2 == 1 }
func (x *zpStruct) IsZero() bool { return x.A%2 == 1 }
func (x zvInt) IsZero() bool     { return x%2 == 1 }
func (x *zpInt) IsZero() bool    { return *x%2 == 1 }
func (x zvString) IsZero() bool  { return len(x) > 8 }
func (x *zpString) IsZero() bool { return len(*x) > 8 }
func (x zvSlice) IsZero() bool   { return len(x) == 1 }
func (x *zpSlice) IsZero() bool  { return len(*x) == 1 }
func (x *zpMap) IsZero() bool    { return len(*x) == 1 }
func (x zvArray) IsZero() bool   { return x[0] != 0 }
func (x *zpFloat) IsZero() bool  { return *x > 0 }
func (x zvjpInt) IsZero() bool   { return x == 1 }

func (x *zvjpInt) MarshalJSON() ([]byte, error) { return asJSON(number(*x)) }

// Methods of interfaces that encoding/json ignores.
type (
	vError  struct{ Code int }
	pError  struct{ Code int }
	vString string
)

func (x vError) Error() string    { return "v" }
func (x *pError) Error() string   { return "p" }
func (x vString) String() string  { return "v" + string(x) }
func (x jvStruct) String() string { return "j" }
func (x *tpInt) String() string   { return "t" }
func (x *zpInt) Error() string    { return "z" }
