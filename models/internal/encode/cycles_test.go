package encode_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A value that contains itself has no JSON. Append must neither overflow the stack, which cannot be recovered, nor
// take hours.
func TestWhatContainsItselfIsRefused(t *testing.T) {
	pointer := &node{V: 1}
	pointer.Next = pointer

	slice := node{V: 1, Kids: make([]node, 1)}
	slice.Kids[0] = slice

	dict := node{Dict: map[string]node{}}
	dict.Dict["again"] = dict

	var self selfPointer
	self = &self

	list := selfSlice{nil}
	list[0] = list

	object := selfMap{}
	object["a"] = object

	anyList := []any{1, nil}
	anyList[1] = anyList

	anyMap := map[string]any{"x": 1}
	anyMap["y"] = []any{map[string]any{"z": anyMap}}

	var inAny any
	inAny = &inAny

	named := sliceOfAny{nil}
	named[0] = &named

	array := &selfArray{}
	array.Two = [2]*selfArray{array, array}

	long := &node{} // a long cycle
	last := long
	for range 3000 {
		last.Next = &node{V: 1}
		last = last.Next
	}
	last.Next = long

	late := &node{} // a cycle below an acyclic part
	last = late
	for range 3000 {
		last.Next = &node{V: 1}
		last = last.Next
	}
	last.Next = last

	embedded := &struct {
		*node
		Again any
	}{node: &node{}}
	embedded.Again = embedded

	bushy := map[string]any{} // each level has three branches
	bushy["a"], bushy["b"], bushy["c"] = bushy, []any{bushy, bushy}, &bushy

	bushyArray := &selfArray{}
	for range 3 {
		bushyArray = &selfArray{Two: [2]*selfArray{bushyArray, bushyArray}}
	}
	bottom := bushyArray
	for bottom.Two[0] != nil {
		bottom = bottom.Two[0]
	}
	bottom.Two = [2]*selfArray{bushyArray, bushyArray}

	for name, v := range map[string]any{
		"pointer": pointer, "struct value": *pointer, "slice": slice.Kids, "map": dict, "pointer that is itself": self, "slice of itself": list, "map of itself": object,
		"[]any": anyList, "map[string]any": anyMap, "pointer in an any": inAny, "named []any": named, "array": array, "long": long, "late": late,
		"embedded": embedded, "bushy": bushy, "bushy array": bushyArray,
	} {
		t.Run(name, func(t *testing.T) {
			_, ok, panicked, problem := attempt(newDst(0), v)
			require.NoError(t, problem)
			require.Nil(t, panicked)
			require.False(t, ok)
			_, err := reference(v) // encoding/json fails, too, but takes long for the bushy ones
			require.Error(t, err)
		})
	}
}

// The same value twice is not a cycle.
func TestTheSameValueTwiceIsWrittenTwice(t *testing.T) {
	leaf := &node{V: 1}
	shared := []any{1}
	object := map[string]any{"x": shared, "y": shared}
	checkWritten(t, node{Next: leaf, Any: leaf, Kids: []node{*leaf, *leaf}})
	checkWritten(t, []any{shared, shared, object, object, leaf, leaf, &shared, &shared})
	checkWritten(t, []*node{leaf, leaf, {Next: leaf, Any: []*node{leaf, leaf}}})
	empty := []any{}
	checkWritten(t, []any{empty, []any{empty, empty[:0:0]}, struct{}{}, &struct{}{}, []struct{}{{}, {}}})
	part := []any{1, 2, 3}
	checkWritten(t, []any{part, part[:1], part[:2], part[:0]})
}
