package encode_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestEmbeddedStructs(t *testing.T) {
	in, hidden, n, now := &Inner{1, "b"}, &inner{1, "c", new(int)}, Number(7), time.Unix(0, 0).UTC()
	checkOddities(t, []oddity{
		{"a value", embedsValue{*in}, `{"A":1,"b":"b"}`},
		{"a pointer", embedsPointer{in}, `{"A":1,"b":"b"}`},
		{"a nil pointer has no fields", embedsPointer{}, `{}`},
		{"an unexported value", embedsHidden{*hidden}, `{"A":1,"c":"c","D":0}`},
		{"an unexported pointer", embedsHiddenPtr{1, hidden, 2}, `{"X":1,"A":1,"c":"c","D":0,"Y":2}`},
		{"an unexported nil pointer", &embedsHiddenPtr{1, nil, 2}, `{"X":1,"Y":2}`},
		{"a name makes it a field", embedsTagged{*in}, `{"in":{"A":1,"b":"b"}}`},
		{"a name and a nil pointer", embedsTaggedPtr{}, `{}`},
		{"a name and an unexported value", embedsHiddenTagged{*hidden}, `{"in":{"A":1,"c":"c","D":0}}`},
		{"a name and an unexported pointer", embedsHiddenTaggedPtr{hidden}, `{"in":{"A":1,"c":"c","D":0}}`},
		{"a name and an unexported nil pointer", embedsHiddenTaggedPtr{}, `{"in":null}`},
		{"a name and an unexported zero", embedsHiddenZero{}, `{}`},
		{"options without a name do nothing", embedsOptionsOnly{}, `{"A":0}`},
		{"a dash", embedsDash{*in, 1}, `{"K":1}`},
		{"no struct: a field, if it is exported", embedsNumber{7, "x"}, `{"Number":7}`},
		{"a pointer to no struct", embedsNumberPtr{&n, nil}, `{"Number":"7"}`},
		{"a nil pointer to no struct", embedsNumberPtr{nil, nil}, `{"Number":null}`},
		{"no struct and unexported, with a name", embedsLabelTagged{"x"}, `{}`},
		{"an interface is a field", embedsAny{vString("x")}, `{"Stringer":"x"}`},
		{"an unexported interface is left out", embedsHiddenIfc{vString("x")}, `{}`},
		{"a time makes the struct a time", embedsTime{now}, `"1970-01-01T00:00:00Z"`},
		{"a pointer to a time, too", &embedsTimePtr{&now}, `"1970-01-01T00:00:00Z"`},
		{"and panics if it is nil", embedsTimePtr{}, ""},
		{"two with MarshalJSON: neither counts", embedsTwoMarshal{}, `{}`},
		{"MarshalJSON through an unexported name panics", embedsMarshalTagged{}, ""},
		{"likewise behind a pointer", &embedsMarshalTagged{}, ""},
		{"MarshalText through an unexported name panics", embedsTextTagged{}, ""},
		{"IsZero through an unexported name panics", embedsZeroTagged{}, ""},
		{"IsZero of a pointer through an unexported name panics", embedsZeroPtrTagged{}, ""},
		{"likewise behind a pointer to the struct", &embedsZeroPtrTagged{}, ""},
		{"an alias is the type it stands for", embedsAliases{*in, aliasStruct{1, 2}}, `{"A":1,"b":"b","P":1,"Q":2}`},
		{"MarshalJSON through an alias with an unexported name panics", embedsAliasTagged{}, ""},
		{"a json.Marshaler makes the struct one", struct{ json.Marshaler }{jvInt(1)}, `{"<json&>":"1"}`},
		{"and panics if it is nil", struct{ json.Marshaler }{}, ""},
		{"a struct with a second MarshalJSON does not panic", struct {
			json.Marshaler
			jvStruct
		}{Marshaler: jvInt(1)}, `{"Marshaler":{"<json&>":"1"},"S":""}`},
		{"an error is a field", struct{ error }{errFail}, `{}`},
		{"IsZero of an embedded type", struct {
			F embedsTime `json:",omitzero"`
		}{}, `{}`},
		{"itself", embedsSelf{&embedsSelf{nil, 2}, 1}, `{"V":1}`},
		{"each other", EmbedsPing{&EmbedsPong{nil, 2}, 1}, `{"W":2,"V":1}`},
	})
}

func TestEmbeddedNamesThatMeet(t *testing.T) {
	one, other := &OneWay{Middle{Bottom{1}, 2}}, &OtherWay{Middle{Bottom{3}, 4}}
	checkOddities(t, []oddity{
		{"twice at one depth: left out", sameDepth{LeftX{1, 2}, RightX{3, 4}}, `{"L":2,"R":4}`},
		{"the one with a tag wins", sameDepthTag{LeftX{1, 2}, RightX{3, 4}, TaggedX{5}}, `{"L":2,"R":4,"X":5}`},
		{"two with a tag: left out", reflect.New(sameDepthTwo).Interface(), `{"L":0}`},
		{"the deeper one loses", deeperLoses{DeepX{LeftX{1, 2}}, RightX{3, 4}}, `{"L":2,"X":3,"R":4}`},
		{"two that cancel out still hide the deeper one", hiddenByTwo{LeftX{1, 2}, RightX{3, 4}, DeepX{}}, `{"L":2,"R":4}`},
		{"the own field wins", ownWins{LeftX{1, 2}, "own"}, `{"L":2,"X":"own"}`},
		{"the own field by the name of its tag", ownHides{LeftX{1, 2}, "own"}, `{"X":1,"L":"own"}`},
		{"a type twice cancels its fields out, not those it embeds", diamond{*one, *other}, `{"W":1}`},
		{"likewise by pointers", diamondPtr{one, other}, `{"W":1}`},
		{"a diamond whose first pointer is nil", diamondPtr{nil, other}, `{}`},
		{"a diamond whose second pointer is nil", diamondPtr{one, nil}, `{"W":1}`},
		{"a type at two depths", diamondFlat{OnceAbove{Bottom{1}}, Bottom{2}}, `{"W":2}`},
		{"a type at two depths, twice at the lower one", mirror{*one, *other, OnceAbove{Bottom{5}}}, `{"W":5}`},
	})
}
