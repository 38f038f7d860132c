package encode_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// forDst are values that use every special way of writing: text that is shortened, tried, or copied.
var forDst = []any{
	nil, 1, "x", "", "\x00\xff<\"", 1e-7, float32(1e-9), math.MaxFloat64, true, []byte("bytes"), []int(nil), []int{}, time.Unix(1, 2).UTC(),
	struct{}{}, Inner{1, "x"}, &node{V: 1, Kids: []node{{V: 2}}}, map[string]any{"b": 1e-7, "a": []any{nil, "x"}}, map[int]string{10: "a", 9: "b"},
	givenJSON(" { \"a\" : 1 } "), givenText("<\n>"), quotedFields{"a\"b", 1e-8, 1}, [3]byte{1, 2, 3}, strings.Repeat("é\n", 1000),
}

type quotedFields struct {
	S string  `json:",string"`
	F float64 `json:",string"`
	I int     `json:",string"`
}

var forDstFailing = []any{
	math.NaN(), []any{1, "a long text that has been written before the failure", math.Inf(1)}, func() {}, map[string]any{"a": 1, "b": make(chan int)},
	struct {
		A string
		B jvString
	}{"text", failWord},
	time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), givenJSON(`{"a":1`), givenJSON(""), map[bool]int{}, []complex64{1},
}

func TestDstOfAnySizeIsExtended(t *testing.T) {
	for _, v := range forDst {
		want, err := reference(v)
		require.NoError(t, err)
		for length := range 3 {
			for _, spare := range []int{0, 1, len(want) - 1, len(want), len(want) + 1, len(want) + 10, len(want) + 100} {
				dst := make([]byte, length, length+max(0, spare))
				got, ok, panicked, problem := attempt(dst, v)
				require.NoError(t, problem)
				require.Nil(t, panicked)
				require.True(t, ok, "%T", v)
				require.Equal(t, string(want), string(got), "%T, %d bytes before, room for %d", v, length, spare)
			}
		}
		out, ok := encode.Append(nil, v)
		require.True(t, ok)
		require.Equal(t, string(want), string(out))
	}
}

func TestRoomInDstIsUsed(t *testing.T) {
	for _, v := range forDst {
		dst := make([]byte, 3, 1<<16)
		out, ok := encode.Append(dst, v)
		require.True(t, ok)
		require.Same(t, &dst[0], &out[0], "%T", v)
		require.Equal(t, cap(dst), cap(out), "%T", v)
	}
}

func TestDstIsReturnedAsItWasOnFailure(t *testing.T) {
	for _, v := range forDstFailing {
		for _, dst := range [][]byte{nil, {}, []byte("x"), make([]byte, 0, 1000), newDst(0), newDst(5), newDst(1000)} {
			_, ok, panicked, problem := attempt(dst, v)
			require.NoError(t, problem, "%T", v)
			require.Nil(t, panicked)
			require.False(t, ok, "%T", v)
		}
	}
}

// Earlier results belong to their callers.
func TestLaterCallsLeaveEarlierResultsAlone(t *testing.T) {
	var kept [][]byte
	var want []string
	for range 20 {
		for _, v := range append(forDst, forDstFailing...) {
			out, ok := encode.Append(nil, v)
			if ok {
				kept, want = append(kept, out), append(want, string(out))
			}
		}
	}
	for i := range kept {
		require.Equal(t, want[i], string(kept[i]))
	}
}

// Encoding only reads a document.
func TestTheValueIsNotChanged(t *testing.T) {
	raw := givenBytes(" { \"a\" : [ 1 ] } ")
	keys := map[string]any{"b": raw, "a": "\xff", "c": []string{"z", "a"}}
	v := map[string]any{"raw": raw, "keys": keys, "list": []any{3, 1, 2}}
	before, err := reference(v)
	require.NoError(t, err)
	checkWritten(t, v)
	require.Equal(t, " { \"a\" : [ 1 ] } ", string(raw))
	after, err := reference(v)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

// givenBytes returns its own memory.
type givenBytes []byte

func (b givenBytes) MarshalJSON() ([]byte, error) { return b, nil }
