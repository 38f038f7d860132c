package encode_test

import (
	"fmt"
	"reflect"
	"time"
)

// These types embed others. reflect.StructOf cannot generate the ones with unexported names.

type (
	Inner struct {
		A int
		B string `json:"b,omitempty"`
	}
	inner struct {
		A int
		C string `json:"c"`
		D *int   `json:",omitempty"`
	}
	Number int
	label  string

	embedsValue     struct{ Inner }
	embedsPointer   struct{ *Inner }
	embedsHidden    struct{ inner }
	embedsHiddenPtr struct {
		X int
		*inner
		Y int
	}
	embedsTagged struct {
		Inner `json:"in"`
	}
	embedsTaggedPtr struct {
		*Inner `json:"in,omitempty"`
	}
	embedsHiddenTagged struct {
		inner `json:"in"`
	}
	embedsHiddenTaggedPtr struct {
		*inner `json:"in"`
	}
	embedsHiddenZero struct {
		inner `json:"in,omitzero"`
	}
	embedsOptionsOnly struct {
		Inner `json:",omitempty,omitzero,string"` //nolint:staticcheck // on purpose: the options have no effect
	}
	embedsDash struct {
		Inner `json:"-"`
		K     int
	}
	embedsNumber struct {
		Number
		label // ignored: neither exported nor a struct
	}
	embedsNumberPtr struct {
		*Number `json:",string"`
		*label  // ignored
	}
	embedsLabelTagged struct { // ignored in spite of the tag
		label `json:"l"`
	}

	stringer         interface{ String() string }
	embedsAny        struct{ fmt.Stringer } // a field named Stringer
	embedsHiddenIfc  struct{ stringer }     // ignored
	embedsTime       struct{ time.Time }    // is a json.Marshaler
	embedsTimePtr    struct{ *time.Time }   // panics if it is nil
	embedsTwoMarshal struct {               // the two methods cancel out, so it is a plain struct
		jvStruct
		jvTwin
	}
	embedsMarshalTagged struct { // the two cancel out; each is a field below an unexported name
		jvStruct `json:"a"`
		jvTwin   `json:"b"`
	}
	embedsTextTagged struct {
		tvStruct   `json:"a"`
		jptvStruct `json:"b"`
	}
	embedsZeroTagged struct { // IsZero must be called through an unexported name
		zvStruct `json:"a,omitzero"`
		zvInt    //nolint:unused // hides IsZero of the outer struct
	}
	embedsZeroPtrTagged struct {
		zpStruct `json:"a,omitzero"`
		zpInt
	}
)

// An alias embeds a type under its own name.
type (
	aliasTime     = time.Time
	AliasInner    = Inner
	aliasStruct   = struct{ P, Q int }
	embedsAliases struct {
		AliasInner
		aliasStruct
	}
	embedsAliasTagged struct { // MarshalJSON must be called through an unexported name
		aliasTime  `json:"t"`
		jvtvStruct `json:"o"`
	}
)

// sameDepthTwo has two tags with one name, so it has no X. As a declaration go vet would report it.
var sameDepthTwo = reflect.StructOf([]reflect.StructField{
	{Name: "LeftX", Type: reflect.TypeFor[LeftX](), Anonymous: true},
	{Name: "TaggedX", Type: reflect.TypeFor[TaggedX](), Anonymous: true},
	{Name: "TaggedY", Type: reflect.TypeFor[TaggedY](), Anonymous: true},
})

// Conflicting names.
type (
	LeftX   struct{ X, L int }
	RightX  struct{ X, R int }
	TaggedX struct {
		Z int `json:"X"`
	}
	TaggedY struct {
		Q int `json:"X"`
	}
	DeepX struct{ LeftX }

	sameDepth struct { // no X
		LeftX
		RightX
	}
	sameDepthTag struct { // the tagged X
		LeftX
		RightX
		TaggedX
	}
	deeperLoses struct { // the X of RightX
		DeepX
		RightX
	}
	ownWins struct {
		LeftX
		X string
	}
	ownHides struct { // the own X has another name
		LeftX
		X string `json:"L"`
	}
	hiddenByTwo struct { // two at depth 1 hide the one at depth 2, and cancel out
		LeftX
		RightX
		DeepX
	}
	DeepestX struct{ DeepX }
)

// Fields of a type that is embedded twice at one depth cancel out, but not the fields of the types that it embeds:
// encoding/json counts only one depth.
type (
	Bottom struct{ W int }
	Middle struct {
		Bottom
		V int
	}
	OneWay   struct{ Middle }
	OtherWay struct{ Middle }
	diamond  struct { // W, no V
		OneWay
		OtherWay
	}
	diamondPtr struct { // likewise
		*OneWay
		*OtherWay
	}
	OnceAbove   struct{ Bottom }
	diamondFlat struct { // Bottom at two depths: W of the upper one
		OnceAbove
		Bottom
	}
	mirror struct {
		OneWay
		OtherWay
		OnceAbove
	}
)

// Recursive types.
type (
	node struct {
		V    int             `json:"v,omitempty"`
		Next *node           `json:"next,omitempty"`
		Kids []node          `json:"kids,omitempty"`
		Dict map[string]node `json:"dict,omitzero"`
		Any  any             `json:"any,omitempty"`
	}
	embedsSelf struct {
		*embedsSelf
		V int
	}
	EmbedsPing struct {
		*EmbedsPong
		V int
	}
	EmbedsPong struct {
		*EmbedsPing
		W int
	}
	selfSlice   []selfSlice
	selfMap     map[string]selfMap
	selfPointer *selfPointer
	selfArray   struct{ Two [2]*selfArray }
	sliceOfAny  []any
)

// Fields that encoding/json ignores.
type unseen struct {
	a int
	b string
	_ int
	C int
}
