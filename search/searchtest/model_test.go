package searchtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const modelIndex = `{"name":"types","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"s","type":"Edm.String"},
	{"name":"i","type":"Edm.Int64"},
	{"name":"ss","type":"Collection(Edm.String)"},
	{"name":"c","type":"Edm.ComplexType","fields":[
		{"name":"x","type":"Edm.String"},
		{"name":"n","type":"Edm.ComplexType","fields":[{"name":"z","type":"Edm.Int32"},{"name":"w","type":"Edm.String"}]}]},
	{"name":"cs","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"},{"name":"y","type":"Edm.Int32"}]}]}`

type modelObject = map[string]any

var modelWord = rapid.SampledFrom([]string{"", "a", "ü", "\U0001f600", `"\`, "\x01"})

// drawObject draws some of the members, in the shape of the definition.
func drawObject(t *rapid.T, members map[string]func() any) modelObject {
	out := modelObject{}
	for _, name := range sortedNames(members) {
		switch rapid.IntRange(0, 3).Draw(t, name) {
		case 0:
			out[name] = nil
		case 1, 2:
			out[name] = members[name]()
		}
	}
	return out
}

func sortedNames(members map[string]func() any) []string {
	var names []string
	for _, name := range []string{"s", "i", "ss", "c", "cs", "x", "n", "y", "z", "w"} {
		if _, ok := members[name]; ok {
			names = append(names, name)
		}
	}
	return names
}

func drawDocument(t *rapid.T) modelObject {
	word := func() any { return modelWord.Draw(t, "word") }
	number := func() any { return rapid.Int32().Draw(t, "number") }
	return drawObject(t, map[string]func() any{
		"s": word,
		"i": func() any { return rapid.Int64().Draw(t, "long") },
		"ss": func() any {
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "words") {
				list = append(list, word())
			}
			return list
		},
		"c": func() any {
			return drawObject(t, map[string]func() any{"x": word, "n": func() any { return drawObject(t, map[string]func() any{"z": number, "w": word}) }})
		},
		"cs": func() any {
			list := []any{}
			for range rapid.IntRange(0, 2).Draw(t, "objects") {
				list = append(list, drawObject(t, map[string]func() any{"x": word, "y": number}))
			}
			return list
		},
	})
}

// modelMerge is the rule of merging in its simplest form.
func modelMerge(old, change modelObject) modelObject {
	out := modelObject{}
	for name, v := range old {
		out[name] = v
	}
	for name, v := range change {
		next, isObject := v.(modelObject)
		if !isObject {
			out[name] = v
			continue
		}
		if len(next) == 0 {
			continue
		}
		before, _ := out[name].(modelObject)
		out[name] = modelMerge(before, next)
	}
	return out
}

// modelFill formats a document as a lookup shows it.
func modelFill(doc modelObject) modelObject {
	fill := func(in any, names ...string) any {
		o, ok := in.(modelObject)
		if !ok {
			return nil
		}
		out := modelObject{}
		for _, name := range names {
			out[name] = o[name]
		}
		return out
	}
	out := modelObject{"id": doc["id"], "s": doc["s"], "i": doc["i"], "ss": doc["ss"], "cs": []any{}}
	if out["ss"] == nil {
		out["ss"] = []any{}
	}
	if c, ok := doc["c"].(modelObject); ok {
		out["c"] = modelObject{"x": c["x"], "n": fill(c["n"], "z", "w")}
	} else {
		out["c"] = nil
	}
	if list, ok := doc["cs"].([]any); ok {
		var filled []any
		for _, e := range list {
			filled = append(filled, fill(e, "x", "y"))
		}
		if filled != nil {
			out["cs"] = filled
		}
	}
	return out
}

// After random actions in random batches the emulator's documents and replies equal those of a map of maps.
func TestDocumentsAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := probe{t, NewServer(nil)}
		require.NoError(rt, p.CreateIndex(modelIndex))
		model := map[string]modelObject{}
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			var actions []string
			var want []int
			for range rapid.IntRange(1, 5).Draw(rt, "actions") {
				key := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "key")
				typ := rapid.SampledFrom([]string{"upload", "merge", "mergeOrUpload", "delete"}).Draw(rt, "type")
				doc := drawDocument(rt)
				doc["id"] = key
				text, err := json.Marshal(doc)
				require.NoError(rt, err)
				action := string(text[:len(text)-1]) + `,"@search.action":"` + typ + `"}`
				actions = append(actions, action)
				before, found := model[key]
				switch {
				case typ == "delete":
					delete(model, key)
					want = append(want, 200)
				case typ == "upload" || typ == "mergeOrUpload" && !found:
					model[key] = doc
					want = append(want, map[bool]int{true: 200, false: 201}[found])
				case !found:
					want = append(want, 404)
				default:
					model[key] = modelMerge(before, doc)
					want = append(want, 200)
				}
			}
			a := p.index(actions...)
			require.Equal(rt, want, a.statuses(t), strings.Join(actions, "\n"))
		}
		docs := p.Documents("types")
		require.Len(rt, docs, len(model))
		for key, doc := range model {
			want, err := json.Marshal(modelFill(doc))
			require.NoError(rt, err)
			require.JSONEq(rt, string(want), string(docs[key]))
			require.Equal(rt, string(docs[key]), p.send(http.MethodGet, "/indexes('types')/docs('"+key+"')", "").body)
		}
		require.Equal(rt, fmt.Sprint(len(model)), p.count())
	})
}
