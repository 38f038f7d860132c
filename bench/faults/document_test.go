package faults

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

func TestADocumentNamesItsWriters(t *testing.T) {
	text := newText(100_000, 2000)
	rapid.Check(t, func(t *rapid.T) {
		a := action{
			typ:  models.ActionTypeUpload,
			sets: fields(rapid.IntRange(1, int(allFields)).Draw(t, "sets")),
			size: int32(rapid.IntRange(slotBytes, 2000).Draw(t, "size")),
		}
		rev := rapid.Int64Range(1, 1<<30).Draw(t, "rev")
		d := text.document("d1", a, rev)
		sets, err := text.sets(&d)
		require.NoError(t, err)
		require.Equal(t, a.sets, sets)

		wire, err := json.Marshal(d)
		require.NoError(t, err)
		var back document
		require.NoError(t, json.Unmarshal(wire, &back))
		got, err := text.read(&back)
		require.NoError(t, err)
		want, _ := state{}.after(a, rev, text)
		require.Equal(t, want, got)
	})
}

func TestADamagedDocumentIsNoticed(t *testing.T) {
	text := newText(100_000, 2000)
	whole := text.document("d1", action{sets: allFields, size: 200}, 12345)
	for name, damage := range map[string]func(*document){
		"no number":             func(d *document) { d.Rev = 0 },
		"another's title":       func(d *document) { d.Title = "t12346" },
		"no title of ours":      func(d *document) { d.Title = "hello" },
		"another's rank":        func(d *document) { d.Rank++ },
		"another's body":        func(d *document) { d.Body = text.body(12346, 200) },
		"a byte of it":          func(d *document) { d.Body = d.Body[:150] + "x" + d.Body[151:] },
		"the beginning is lost": func(d *document) { d.Body = d.Body[1:] },
		"a short body":          func(d *document) { d.Body = "x" },
		"beyond the text":       func(d *document) { d.Body = text.all + "1" },
	} {
		t.Run(name, func(t *testing.T) {
			d := whole
			damage(&d)
			_, err := text.sets(&d)
			assert.Error(t, err)
		})
	}
}

// The checker derives from the plan which actions may fail.
func TestAPlanHasNoActionThatMustFail(t *testing.T) {
	for seed := range uint64(20) {
		p := newPlan(shape{documents: 1003, size: 50, hot: 0.1, giants: []int{3000, 4000}, seed: seed})
		require.Len(t, p.actions, 1005)
		owner := map[int32]int{}
		states := map[int32]state{}
		types := map[models.ActionType]int{}
		for producer := range producers {
			for i := p.first[producer]; i < p.first[producer+1]; i++ {
				a := p.actions[i]
				if before, ok := owner[a.key]; ok {
					require.Equal(t, before, producer, "a key belongs to one producer")
				}
				owner[a.key] = producer
				next, possible := states[a.key].after(a, int64(i)+1, p.text)
				require.True(t, possible, "action %d", i+1)
				states[a.key] = next
				types[a.typ]++
			}
		}
		require.Len(t, types, 4)
		require.Equal(t, len(p.actions), p.first[producers])
		hot := 0
		for _, a := range p.actions {
			hot += btoi(a.key == 0)
		}
		require.InDelta(t, 100, hot, 40)
		require.Equal(t, p, newPlan(shape{documents: 1003, size: 50, hot: 0.1, giants: []int{3000, 4000}, seed: seed}))
	}
}

func TestKeysAndTheirNumbers(t *testing.T) {
	p := newPlan(shape{documents: 40, size: 20})
	for n := range int32(p.keys) {
		got, ok := p.keyNumber(p.key(n))
		assert.True(t, ok)
		assert.Equal(t, n, got)
	}
	for _, key := range []string{"", "d", "x1", "d-1", "d01", "d+1", "d1000000", "d1x", strings.Repeat("d", 9)} {
		_, ok := p.keyNumber(key)
		assert.False(t, ok, key)
	}
}
