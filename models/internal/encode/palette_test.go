package encode_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"time"
)

type (
	plainString string
	plainInt    int16
	plainByte   byte
	plainBytes  []byte
	plainFloat  float32
	plainBool   bool
	plainTime   time.Time
	plainNumber json.Number
	stringPtr   *string
	isZeroer    interface{ IsZero() bool }
	jsonZeroer  interface {
		json.Marshaler
		IsZero() bool
	}
	textStringer interface {
		encoding.TextMarshaler
		fmt.Stringer
	}
)

// kinds are the predeclared and other unnamed types.
var kinds = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool](), reflect.TypeFor[float64](), reflect.TypeFor[float32](), reflect.TypeFor[any](),
	reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[uintptr](),
	reflect.TypeFor[[]byte](), reflect.TypeFor[[]string](), reflect.TypeFor[map[string]any](), reflect.TypeFor[[]any](), reflect.TypeFor[[4]byte](), reflect.TypeFor[struct{}](),
	reflect.TypeFor[[]float32](), reflect.TypeFor[[]float64](), reflect.TypeFor[*string](),
}

// unsupported are types that encoding/json refuses if it has to write a value.
var unsupported = []reflect.Type{
	reflect.TypeFor[func()](), reflect.TypeFor[chan int](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
	reflect.TypeFor[map[bool]int](), reflect.TypeFor[map[float64]string](), reflect.TypeFor[map[any]int](), reflect.TypeFor[map[tpStruct]int](), reflect.TypeFor[map[[1]int]int](),
}

// named are the types of the palette.
var named = []reflect.Type{
	reflect.TypeFor[time.Time](), reflect.TypeFor[json.Number](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[time.Duration](),
	reflect.TypeFor[*time.Time](), reflect.TypeFor[*json.RawMessage](), reflect.TypeFor[*json.Number](),
	reflect.TypeFor[big.Int](), reflect.TypeFor[*big.Int](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[tvArray](),

	reflect.TypeFor[plainString](), reflect.TypeFor[plainInt](), reflect.TypeFor[plainByte](), reflect.TypeFor[plainBytes](), reflect.TypeFor[[]plainByte](),
	reflect.TypeFor[plainFloat](), reflect.TypeFor[plainBool](), reflect.TypeFor[plainTime](), reflect.TypeFor[plainNumber](), reflect.TypeFor[stringPtr](),
	reflect.TypeFor[[3]plainByte](),

	reflect.TypeFor[jvStruct](), reflect.TypeFor[jpStruct](), reflect.TypeFor[tvStruct](), reflect.TypeFor[tpStruct](),
	reflect.TypeFor[jvtvStruct](), reflect.TypeFor[jvtpStruct](), reflect.TypeFor[jptvStruct](), reflect.TypeFor[jptpStruct](),
	reflect.TypeFor[jvString](), reflect.TypeFor[jpString](), reflect.TypeFor[tvString](), reflect.TypeFor[tpString](),
	reflect.TypeFor[jvInt](), reflect.TypeFor[jpInt](), reflect.TypeFor[tvInt](), reflect.TypeFor[tpInt](),
	reflect.TypeFor[[]jvByte](), reflect.TypeFor[[]jpByte](), reflect.TypeFor[[]tvByte](), reflect.TypeFor[[]tpByte](),
	reflect.TypeFor[[2]jvByte](), reflect.TypeFor[[2]jpByte](), reflect.TypeFor[[2]tvByte](), reflect.TypeFor[[2]tpByte](),
	reflect.TypeFor[jvBytes](), reflect.TypeFor[jpBytes](), reflect.TypeFor[tvBytes](), reflect.TypeFor[tpBytes](),
	reflect.TypeFor[jvSlice](), reflect.TypeFor[jpSlice](), reflect.TypeFor[tvSlice](), reflect.TypeFor[jvMap](), reflect.TypeFor[jpMap](), reflect.TypeFor[tpMap](),
	reflect.TypeFor[jvArray](), reflect.TypeFor[jpArray](), reflect.TypeFor[jpBool](), reflect.TypeFor[tpFloat](), reflect.TypeFor[jvFunc](), reflect.TypeFor[tvChan](),
	reflect.TypeFor[givenJSON](), reflect.TypeFor[givenText](),

	reflect.TypeFor[zvStruct](), reflect.TypeFor[zpStruct](), reflect.TypeFor[zvInt](), reflect.TypeFor[zpInt](), reflect.TypeFor[zvString](), reflect.TypeFor[zpString](),
	reflect.TypeFor[zvSlice](), reflect.TypeFor[zpSlice](), reflect.TypeFor[zpMap](), reflect.TypeFor[zvArray](), reflect.TypeFor[zpFloat](), reflect.TypeFor[zvjpInt](),
	reflect.TypeFor[vError](), reflect.TypeFor[pError](), reflect.TypeFor[vString](),

	reflect.TypeFor[embedsValue](), reflect.TypeFor[embedsPointer](), reflect.TypeFor[embedsHidden](), reflect.TypeFor[embedsHiddenPtr](),
	reflect.TypeFor[embedsTagged](), reflect.TypeFor[embedsTaggedPtr](), reflect.TypeFor[embedsHiddenTagged](), reflect.TypeFor[embedsHiddenTaggedPtr](),
	reflect.TypeFor[embedsHiddenZero](), reflect.TypeFor[embedsOptionsOnly](), reflect.TypeFor[embedsDash](),
	reflect.TypeFor[embedsNumber](), reflect.TypeFor[embedsNumberPtr](), reflect.TypeFor[embedsLabelTagged](),
	reflect.TypeFor[embedsAny](), reflect.TypeFor[embedsHiddenIfc](), reflect.TypeFor[embedsTime](), reflect.TypeFor[embedsTimePtr](), reflect.TypeFor[embedsTwoMarshal](),
	reflect.TypeFor[embedsMarshalTagged](), reflect.TypeFor[embedsTextTagged](), reflect.TypeFor[embedsZeroTagged](), reflect.TypeFor[embedsZeroPtrTagged](),

	reflect.TypeFor[embedsAliases](), reflect.TypeFor[embedsAliasTagged](),

	reflect.TypeFor[sameDepth](), reflect.TypeFor[sameDepthTag](), sameDepthTwo, reflect.TypeFor[deeperLoses](),
	reflect.TypeFor[ownWins](), reflect.TypeFor[ownHides](), reflect.TypeFor[hiddenByTwo](),
	reflect.TypeFor[diamond](), reflect.TypeFor[diamondPtr](), reflect.TypeFor[diamondFlat](), reflect.TypeFor[mirror](),

	reflect.TypeFor[node](), reflect.TypeFor[embedsSelf](), reflect.TypeFor[EmbedsPing](), reflect.TypeFor[selfSlice](), reflect.TypeFor[selfMap](),
	reflect.TypeFor[selfPointer](), reflect.TypeFor[selfArray](), reflect.TypeFor[sliceOfAny](), reflect.TypeFor[unseen](),
}

// interfaces are interface types for fields.
var interfaces = []reflect.Type{
	reflect.TypeFor[any](), reflect.TypeFor[error](), reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](),
	reflect.TypeFor[isZeroer](), reflect.TypeFor[jsonZeroer](), reflect.TypeFor[textStringer](),
}

// keys are types of map keys that encoding/json accepts.
var keys = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[plainString](), reflect.TypeFor[int8](), reflect.TypeFor[int64](), reflect.TypeFor[uint8](), reflect.TypeFor[uint64](), reflect.TypeFor[uintptr](),
	reflect.TypeFor[tvString](), reflect.TypeFor[tpString](), reflect.TypeFor[tvInt](), reflect.TypeFor[tpInt](), reflect.TypeFor[tvStruct](), reflect.TypeFor[*tpStruct](), reflect.TypeFor[*tvInt](),
	reflect.TypeFor[jvString](), reflect.TypeFor[json.Number](), reflect.TypeFor[time.Time](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[tvArray](), reflect.TypeFor[encoding.TextMarshaler](),
}

// embeddable are types without methods, because reflect.StructOf refuses to embed others.
var embeddable = []reflect.Type{
	reflect.TypeFor[Inner](), reflect.TypeFor[LeftX](), reflect.TypeFor[RightX](), reflect.TypeFor[TaggedX](), reflect.TypeFor[TaggedY](), reflect.TypeFor[DeepX](), reflect.TypeFor[DeepestX](),
	reflect.TypeFor[Bottom](), reflect.TypeFor[Middle](), reflect.TypeFor[OneWay](), reflect.TypeFor[OtherWay](), reflect.TypeFor[OnceAbove](),
	reflect.TypeFor[sameDepth](), reflect.TypeFor[embedsHidden](), reflect.TypeFor[EmbedsPing](), reflect.TypeFor[Number](), reflect.TypeFor[plainString](),
}
