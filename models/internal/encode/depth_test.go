package encode_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// deepValues returns finite values with the given depth of nesting.
func deepValues(depth int) map[string]any {
	var list, object, inPointers, inStructs any = 1, true, "x", nil
	var pointer selfPointer
	var slice selfSlice
	var dict selfMap
	var chain *node
	var value node
	for range depth {
		list, object = []any{list}, map[string]any{"a": object}
		pointer, slice, dict = ptr(pointer), selfSlice{slice}, selfMap{"a": dict}
		chain, value = &node{V: 1, Next: chain}, node{Kids: []node{value}}
		inPointers, inStructs = ptr(inPointers), struct{ F any }{inStructs}
	}
	return map[string]any{
		"[]any": list, "map[string]any": object, "pointer": pointer, "slice": slice, "map": dict, "struct pointer": chain, "struct value": value,
		"pointers to any": inPointers, "structs in any": inStructs,
	}
}

// Append must handle any depth at which encoding/json does not yet look for cycles.
func TestNestingOfThisDepthIsWritten(t *testing.T) {
	for _, depth := range []int{10, 100, 300} {
		for name, v := range deepValues(depth) {
			t.Run(fmt.Sprint(name, depth), func(t *testing.T) { checkWritten(t, v) })
		}
	}
}

// Beyond that depth Append may decline.
func TestNestingThatIsDeeperIsWrittenOrLeft(t *testing.T) {
	for _, depth := range []int{998, 999, 1000, 1001, 1002, 5000, 20_000} {
		for name, v := range deepValues(depth) {
			t.Run(fmt.Sprint(name, depth), func(t *testing.T) {
				require.NotEqual(t, refused, check(t, v), "encoding/json can write it")
			})
		}
	}
}

// The depth of one part must not count for its siblings or for the next value.
func TestWidthIsNoDepth(t *testing.T) {
	wide := make([]any, 0, 5000)
	for i := range 5000 {
		wide = append(wide, map[string]any{"a": []any{ptr(i)}, "n": &node{Next: &node{V: i}}})
	}
	for range 3 {
		checkWritten(t, wide)
		check(t, deepValues(2000)["[]any"])
		check(t, []any{failing{}, deepValues(900)["pointer"]})
	}
	checkWritten(t, deepValues(300)["map"])
}

// failing writes a part and then fails.
type failing struct {
	A map[string]any
	B jvString
}

// A failure or panic must leave no state behind.
func TestAFailureIsForgotten(t *testing.T) {
	good := map[string]any{"b": 1, "a": map[string]any{"d": []any{1}, "c": nil}}
	for range 100 {
		for _, bad := range []string{failWord, panicWord, nilWord} {
			require.Equal(t, refused, check(t, []any{good, failing{good, jvString(bad)}, good}))
			require.Equal(t, refused, check(t, map[string]any{"a": good, "b": jvString(bad), "c": good}))
			checkWritten(t, good)
		}
	}
}
