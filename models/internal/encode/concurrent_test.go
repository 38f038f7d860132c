package encode_test

import (
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// tree is recursive and a new type for each T, so there are always types that have not been encoded yet.
type tree[T any] struct {
	Value T                  `json:"value,omitempty"`
	Left  *tree[T]           `json:"left,omitempty"`
	Kids  []tree[T]          `json:"kids,omitempty"`
	Dict  map[string]tree[T] `json:"dict,omitzero"`
	Other *grove[T]          `json:"other"`
	Any   any
	At    time.Time
}

type grove[T any] struct {
	tree2[T]
	Trees []*tree[T]
}

type tree2[T any] struct{ Grove *grove[T] }

func newTree[T any](v T) any {
	leaf := tree[T]{Value: v}
	return &tree[T]{
		Value: v, Left: &leaf, Kids: []tree[T]{leaf, {Left: &leaf}}, Dict: map[string]tree[T]{"b": leaf, "a": {}},
		Other: &grove[T]{tree2[T]{&grove[T]{Trees: []*tree[T]{&leaf, nil}}}, []*tree[T]{{Kids: []tree[T]{leaf}}}}, Any: []any{leaf, &leaf},
	}
}

// untouched returns values of recursive types.
func untouched() []any {
	return []any{
		newTree(1), newTree("x"), newTree(1.5), newTree(true), newTree([]int{1}), newTree(map[string]int{"a": 1}), newTree([2]int8{1, 2}),
		newTree(ptr(1)), newTree(jvInt(1)), newTree(tvString("a")), newTree(struct{ A any }{1}), newTree([]byte("x")), newTree(time.Unix(0, 0).UTC()),
		newTree(any(1)), newTree(uint16(1)), newTree(plainString("x")), newTree([]tree[int]{{Value: 1}}), newTree(tree[string]{Value: "x"}),
	}
}

var generation atomic.Int64

// newType returns a new struct type that refers to a recursive type, also on repeated runs.
func newType() reflect.Type {
	tag := reflect.StructTag(`json:"f` + strconv.FormatInt(generation.Add(1), 10) + `"`)
	inside := reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[*node](), Tag: tag}})
	return reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: inside, Tag: tag},
		{Name: "B", Type: reflect.SliceOf(inside)},
		{Name: "C", Type: reflect.MapOf(reflect.TypeFor[string](), reflect.PointerTo(inside))},
		{Name: "D", Type: reflect.TypeFor[any]()},
	})
}

// Many goroutines encode a type for the first time; each must get the complete plan.
func TestFirstUseOfATypeConcurrentSafe(t *testing.T) {
	values := untouched()
	for range 100 {
		c := choices{randomBytes(uint64(generation.Load()))}
		g := newGenerator(&c)
		v := reflect.New(newType())
		g.fill(v.Elem(), 5)
		values = append(values, v.Interface())
	}
	type result struct {
		out string
		ok  bool
	}
	const goroutines = 8
	var results [goroutines][]result
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			<-start
			for _, v := range values {
				out, ok := appendRecovered(v)
				results[i] = append(results[i], result{out, ok})
			}
		})
	}
	close(start)
	wg.Wait()
	for i, v := range values {
		want, err := reference(v)
		for _, r := range results {
			if !r[i].ok && (err != nil || mayDecline(reflect.ValueOf(v))) {
				continue
			}
			require.NoError(t, err, "%T", v)
			require.True(t, r[i].ok, "%T", v)
			require.Equal(t, string(want), r[i].out, "%T", v)
		}
	}
}

func appendRecovered(v any) (out string, ok bool) {
	defer func() {
		if recover() != nil {
			out, ok = "", false
		}
	}()
	b, ok := encode.Append(nil, v)
	return string(b), ok
}

// Goroutines encode the same values, some of which fail or panic; their outputs must not mix.
func TestAppendConcurrentSafe(t *testing.T) {
	values := append(untouched(), forDst...)
	values = append(values, forDstFailing...)
	values = append(values, jvString(panicWord), []any{map[string]any{"a": tvString(failWord), "b": 1}})
	want := make([]string, len(values))
	for i, v := range values {
		out, err := reference(v)
		if err == nil {
			want[i] = string(out)
		}
	}
	var wrong atomic.Int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for round := range 50 {
				i := (g*7 + round*13) % len(values)
				for range len(values) {
					if out, ok := appendRecovered(values[i]); out != want[i] || ok != (want[i] != "") {
						wrong.Add(1)
					}
					i = (i + 1) % len(values)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, wrong.Load())
}
