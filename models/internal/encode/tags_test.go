package encode_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"testing"
	"time"
)

// structWith returns a struct with a field for each tag and the values 1, 2 and so on.
func structWith(tags ...string) any {
	fields := make([]reflect.StructField, len(tags))
	for i, tag := range tags {
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i+1), Type: reflect.TypeFor[int](), Tag: reflect.StructTag(tag)}
	}
	v := reflect.New(reflect.StructOf(fields)).Elem()
	for i := range tags {
		v.Field(i).SetInt(int64(i + 1))
	}
	return v.Interface()
}

func TestNamesInTags(t *testing.T) {
	checkOddities(t, []oddity{
		{"no tag", structWith(``), `{"F1":1}`},
		{"a dash leaves the field out", structWith(`json:"-"`), `{}`},
		{"a dash and a comma is a name", structWith(`json:"-,"`), `{"-":1}`},
		{"a dash and an option is a name", structWith(`json:"-,omitempty"`), `{"-":1}`},
		{"an empty name", structWith(`json:",omitempty"`), `{"F1":1}`},
		{"punctuation is a name", structWith(`json:"!#$%&()*+-./:;<=>?@[]^_{|}~ "`), `{"!#$%&()*+-./:;<=>?@[]^_{|}~ ":1}`},
		{"HTML in a name is not escaped", structWith(`json:"<&>"`), `{"<&>":1}`},
		{"letters and digits of all scripts", structWith(`json:"é名٣"`), `{"é名٣":1}`},
		{"a space", structWith(`json:" "`), `{" ":1}`},
		{"a quote is not a name", structWith(`json:"a\"b"`), `{"F1":1}`},
		{"a backslash is not a name", structWith(`json:"a\\b"`), `{"F1":1}`},
		{"an apostrophe is not a name", structWith(`json:"a'b"`), `{"F1":1}`},
		{"a pictograph is not a name", structWith(`json:"🙂"`), `{"F1":1}`},
		{"an accent alone is not a name", structWith("json:\"e\u0301\""), `{"F1":1}`},
		{"a control character is not a name", structWith(`json:"a\tb"`), `{"F1":1}`},
		{"invalid UTF-8 is not a name", structWith(`json:"\xff"`), `{"F1":1}`},
		{"a bad name keeps its options", structWith(`json:"a'b,string"`), `{"F1":"1"}`},
		{"a tag without quotes", structWith(`json:name`), `{"F1":1}`},
		{"a tag after another", structWith(`xml:"x" json:"y"`), `{"y":1}`},
		{"two tags: the first counts", structWith(`json:"x" json:"y"`), `{"x":1}`},
		{"a name twice: both are left out", structWith(`json:"x"`, `json:"x"`, ``), `{"F3":3}`},
		{"a tag beats a name", structWith(``, `json:"F1"`), `{"F1":2}`},
		{"a name three times", structWith(`json:"x"`, `json:"x"`, `json:"x"`), `{}`},
		{"names differ in case", structWith(`json:"x"`, `json:"X"`), `{"x":1,"X":2}`},
		{"options that do not exist", structWith(`json:"x,omitEmpty,inline, string,,-"`), `{"x":1}`},
		{"no fields", struct{}{}, `{}`},
		{"no fields that are seen", unseen{a: 1, b: "x"}, `{"C":0}`},
		{"all fields left out", &struct {
			A int     `json:",omitempty"`
			B *string `json:",omitempty"`
		}{}, `{}`},
	})
}

func TestOptionString(t *testing.T) {
	type quoted[T any] struct {
		F T `json:",string"` //nolint:staticcheck // also for types without an effect
	}
	checkOddities(t, []oddity{
		{"int", quoted[int]{-1}, `{"F":"-1"}`},
		{"bool", quoted[bool]{true}, `{"F":"true"}`},
		{"float64", quoted[float64]{1e-7}, `{"F":"1e-7"}`},
		{"float32", quoted[float32]{0.1}, `{"F":"0.1"}`},
		{"uintptr", quoted[uintptr]{7}, `{"F":"7"}`},
		{"a string is quoted twice", quoted[string]{"<\"\n\u2028\xff>"}, "{\"F\":\"\\\"<\\\\\\\"\\\\n\\\\u2028\\\\ufffd>\\\"\"}"},
		{"an empty string", quoted[string]{}, `{"F":"\"\""}`},
		{"a named string", quoted[plainString]{"x"}, `{"F":"\"x\""}`},
		{"a pointer", quoted[*int]{ptr(1)}, `{"F":"1"}`},
		{"a pointer to a string", quoted[*string]{ptr("x")}, `{"F":"\"x\""}`},
		{"a nil pointer is null without quotes", quoted[*int]{}, `{"F":null}`},
		{"a pointer to a pointer is not quoted", quoted[**int]{ptr(ptr(1))}, `{"F":1}`},
		{"a pointer with a name is not quoted", quoted[stringPtr]{ptr("x")}, `{"F":"x"}`},
		{"an any is not quoted", quoted[any]{1}, `{"F":1}`},
		{"a slice is not quoted", quoted[[]int]{[]int{1}}, `{"F":[1]}`},
		{"the option string does not apply to bytes", quoted[[]byte]{[]byte("x")}, `{"F":"eA=="}`},
		{"the option string does not apply to fields of a struct", quoted[struct{ A int }]{}, `{"F":{"A":0}}`},
		{"the option string does not apply to values of a map", quoted[map[string]int]{map[string]int{"a": 1}}, `{"F":{"a":1}}`},
		{"json.Number", quoted[json.Number]{"1.5"}, `{"F":"1.5"}`},
		{"an empty json.Number", quoted[json.Number]{}, `{"F":"0"}`},
		{"a bad json.Number", quoted[json.Number]{"x"}, ""},
		{"a pointer to a json.Number", quoted[*json.Number]{ptr(json.Number("1"))}, `{"F":"1"}`},
		{"a type made of json.Number is a string", quoted[plainNumber]{"1.5"}, `{"F":"\"1.5\""}`},
		{"time.Duration", quoted[time.Duration]{time.Second}, `{"F":"1000000000"}`},
		{"time.Time", quoted[time.Time]{}, `{"F":"0001-01-01T00:00:00Z"}`},
		{"MarshalJSON of a value is not quoted", quoted[jvInt]{1}, `{"F":{"<json&>":"1"}}`},
		{"MarshalText of a value is not quoted twice", quoted[tvString]{"x"}, `{"F":"text:x"}`},
		{"MarshalJSON of a pointer, addressed", &quoted[jpInt]{1}, `{"F":{"<json&>":"1"}}`},
		{"MarshalJSON of a pointer, not addressed: quoted", quoted[jpInt]{1}, `{"F":"1"}`},
		{"MarshalJSON of a pointer to a string, not addressed: quoted", quoted[jpString]{"x"}, `{"F":"\"x\""}`},
		{"MarshalText of a pointer to a float, not addressed: quoted", quoted[tpFloat]{1.5}, `{"F":"1.5"}`},
		{"MarshalText of a pointer, addressed", &quoted[tpString]{"x"}, `{"F":"text:x"}`},
		{"a pointer to a type with MarshalText of its pointer", quoted[*tpInt]{ptr(tpInt(1))}, `{"F":"text:1"}`},
		{"NaN", quoted[float64]{math.NaN()}, ""},
		{"the option string does not apply to inner types", quoted[[]quoted[int]]{[]quoted[int]{{1}}}, `{"F":[{"F":"1"}]}`},
	})
}

func TestOptionsThatLeaveOut(t *testing.T) {
	type empty[T any] struct {
		F T `json:",omitempty"`
	}
	type zero[T any] struct {
		F T `json:",omitzero"`
	}
	negative := math.Copysign(0, -1)
	checkOddities(t, []oddity{
		{"omitempty and -0", empty[float64]{negative}, `{}`},
		{"omitzero and -0", zero[float64]{negative}, `{}`},
		{"omitzero and -0 as a float32", &zero[float32]{float32(negative)}, `{}`},
		{"omitzero and an array of -0", zero[[2]float64]{[2]float64{0, negative}}, `{}`},
		{"omitzero and a struct of -0", &zero[struct{ F float64 }]{struct{ F float64 }{negative}}, `{}`},
		{"omitempty and a struct", empty[struct{}]{}, `{"F":{}}`},
		{"omitempty and an array", empty[[2]int]{}, `{"F":[0,0]}`},
		{"omitempty and an array of none", empty[[0]int]{}, `{}`},
		{"omitempty and an empty slice", empty[[]int]{[]int{}}, `{}`},
		{"omitzero and an empty slice", zero[[]int]{[]int{}}, `{"F":[]}`},
		{"omitzero and a nil slice", zero[[]int]{}, `{}`},
		{"omitempty and an empty map", empty[map[string]int]{map[string]int{}}, `{}`},
		{"omitzero and an empty map", zero[map[string]int]{map[string]int{}}, `{"F":{}}`},
		{"omitzero and an array", zero[[2]int]{}, `{}`},
		{"omitzero and a struct with an empty slice in it", zero[struct{ S []int }]{struct{ S []int }{[]int{}}}, `{"F":{"S":[]}}`},
		{"omitempty and a pointer to zero", empty[*int]{new(int)}, `{"F":0}`},
		{"omitempty and a nil function is refused", empty[func()]{}, ""},
		{"omitzero and a nil function", zero[func()]{}, `{}`},
		{"omitempty and a nil channel is refused", empty[chan int]{}, ""},
		{"omitzero and a nil channel", zero[chan int]{}, `{}`},
		{"omitzero and complex 0", zero[complex128]{}, `{}`},
		{"omitempty and complex 0 is refused", empty[complex64]{}, ""},
		{"omitempty and a map with keys that are refused", empty[map[bool]int]{map[bool]int{}}, `{}`},
		{"omitempty and an empty text", empty[tvString]{}, `{}`},
		{"omitempty and a time", empty[time.Time]{}, `{"F":"0001-01-01T00:00:00Z"}`},
		{"omitzero and a time", zero[time.Time]{}, `{}`},
		{"omitzero and a zero time elsewhere", zero[time.Time]{time.Time{}.In(zones[4])}, `{}`},
		{"omitzero and a pointer to a zero time", zero[*time.Time]{new(time.Time)}, `{}`},
		{"omitzero and a pointer to a pointer to a zero time", zero[**time.Time]{ptr(new(time.Time))}, `{"F":"0001-01-01T00:00:00Z"}`},
		{"omitempty does not ask IsZero", empty[zvInt]{1}, `{"F":1}`},
		{"IsZero of a value returns true", zero[zvInt]{1}, `{}`},
		{"IsZero of a value returns false for zero", zero[zvInt]{0}, `{"F":0}`},
		{"IsZero of a pointer, not addressed, returns true", zero[zpInt]{1}, `{}`},
		{"IsZero of a pointer, not addressed, returns false", zero[zpInt]{0}, `{"F":0}`},
		{"IsZero of a pointer, addressed", &zero[zpStruct]{zpStruct{1, 2}}, `{}`},
		{"IsZero of a nil pointer is not asked", zero[*zvStruct]{}, `{}`},
		{"IsZero behind a pointer", zero[*zvStruct]{&zvStruct{A: 1}}, `{}`},
		{"IsZero behind two pointers is not asked", zero[**zvStruct]{ptr(&zvStruct{A: 1})}, `{"F":{"A":1,"B":0}}`},
		{"IsZero of a slice", zero[zvSlice]{zvSlice{1}}, `{}`},
		{"IsZero of a nil map returns false", zero[zpMap]{}, `{"F":null}`},
		{"either option is enough", struct {
			F zvInt `json:",omitempty,omitzero"`
			G zvInt `json:",omitempty,omitzero"`
			H zvInt `json:",omitempty,omitzero"`
		}{0, 1, 2}, `{"H":2}`},
		{"the method of a field is not asked if it is left out", struct {
			F jvString  `json:",omitempty"`
			G *jvString `json:",omitzero"`
		}{}, `{}`},
	})
}
