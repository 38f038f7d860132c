package fold_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/models"
)

var types = []models.ActionType{models.ActionTypeUpload, models.ActionTypeMergeOrUpload, models.ActionTypeMerge, models.ActionTypeDelete}

// checkAgainstReference folds two actions and compares the results. It reports whether they were merged.
func checkAgainstReference(t tb, a, b act) (merged bool) {
	t.Helper()
	got, ok := folded(t, a, b) // also checks that a and b were not modified
	x, y := a.typ, b.typ
	switch {
	case x == models.ActionTypeMerge && y == models.ActionTypeMergeOrUpload, x == models.ActionTypeDelete && y == models.ActionTypeMerge:
		require.False(t, ok)
	case y == models.ActionTypeUpload, y == models.ActionTypeDelete:
		if ok {
			require.Equal(t, b, got)
		}
	case x == models.ActionTypeDelete:
		if ok {
			require.Equal(t, models.ActionTypeUpload, got.typ)
			before, beforeOK := refAction(y, []byte(b.body))
			now, nowOK := refAction(got.typ, []byte(got.body))
			require.Equal(t, beforeOK, nowOK)
			require.Equal(t, before, now)
		}
	default:
		want, wantOK := refFold(x, []byte(a.body), y, []byte(b.body))
		require.Equal(t, wantOK, ok)
		if ok {
			require.Equal(t, x, got.typ)
			doc, docOK := refAction(x, []byte(got.body))
			require.True(t, docOK, "not an action: %s", got.body)
			require.Equal(t, want, doc)
			return true
		}
	}
	return false
}

// No text causes a panic, and results and refusals equal those of the reference on encoding/json.
func FuzzActions(f *testing.F) {
	members := []string{
		``, `,"id":"1"`, `,"id":"1","name":null,"rooms":1.50,"tags":["a",{"b":[]}]`,
		`,"address":{"city":"a","country":{"code":null},"where":{"type":"Point","coordinates":[1,2]}}`,
		`,"address":{"\u0063ity":"b","country":{}},"n\u0061me":"\ud800"`,
		`,"address":null,"x@y":1,"a":1,"a":2`, `,"address":{}`, `,"address":[{}]`, `,"a":{"b":{"c":{}}}`, `,"a": 1`, `,"a":01`, `,"a":"` + "\xff\"",
	}
	for i := range types {
		for j := range types {
			for k := range members {
				f.Add(byte(i), byte(j), true, members[k]+"}", members[(k*5+1)%len(members)]+"}")
			}
		}
		f.Add(byte(i), byte(i), false, `{"@search.action":"`+string(types[i])+`","a":1}`, `{"a":1}`)
	}
	f.Fuzz(func(t *testing.T, i, j byte, headed bool, a, b string) {
		x, y := types[i%4], types[j%4]
		if headed {
			a, b = `{"@search.action":"`+string(x)+`"`+a, `{"@search.action":"`+string(y)+`"`+b
		}
		checkAgainstReference(t, act{x, a}, act{y, b})
	})
}

// Two texts of the fuzzer seldom have members in common; these texts do.
func TestFoldingAgreesWithTheReference(t *testing.T) {
	var tried, merges atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) act {
			typ := rapid.SampledFrom(types).Draw(rt, label)
			text := drawAnything(rt, 0)
			return act{typ, `{"@search.action":"` + string(typ) + `"` + text[1:]}
		}
		for range 10 {
			tried.Add(1)
			if merged := checkAgainstReference(rt, draw("first"), draw("second")); merged {
				merges.Add(1)
			}
		}
	})
	require.Greater(t, merges.Load(), tried.Load()/50, "too few pairs were merged to prove much")
}

// drawAnything draws members and the closing brace of an object. Few distinct names make collisions likely, and
// values have no type. A wide object has a different name in each position, so few occur twice.
func drawAnything(t *rapid.T, depth int) string {
	n, wide := rapid.IntRange(0, 3).Draw(t, "members"), rapid.IntRange(0, 9).Draw(t, "wide") == 0
	if wide {
		n *= 10
	}
	out := "{"
	for i := range n {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", `\u0061`, `\u0062`, "ü", `\u00fc`}).Draw(t, "name")
		if rapid.IntRange(0, 50).Draw(t, "annotation") == 0 {
			name += "@"
		}
		if wide {
			name += string(rune('A' + i))
		}
		value := rapid.SampledFrom([]string{"null", "1", `"x"`, "[]", "[1,{}]", "{}", "", "", ""}).Draw(t, "value")
		if value == "" && depth < 4 {
			value = drawAnything(t, depth+1)
		} else if value == "" {
			value = "2"
		}
		if i > 0 || depth == 0 { // a header precedes it
			out += ","
		}
		out += `"` + name + `":` + value
	}
	return out + "}"
}

// The publishers of all senders call Actions concurrently.
func TestActionsConcurrentSafe(t *testing.T) {
	a, b := benchAction(t, models.ActionTypeMergeOrUpload, 3, 0, 4), []byte(merge(`"address":{"zip":"1"}`).body)
	_, want, ok := fold.Actions(models.ActionTypeMergeOrUpload, a, models.ActionTypeMerge, b)
	require.True(t, ok)
	done := make(chan []byte)
	for range 8 {
		go func() {
			var got []byte
			for range 200 {
				_, got, _ = fold.Actions(models.ActionTypeMergeOrUpload, a, models.ActionTypeMerge, b)
			}
			done <- got
		}()
	}
	for range 8 {
		require.Equal(t, string(want), string(<-done))
	}
}
