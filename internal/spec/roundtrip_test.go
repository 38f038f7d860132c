package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/spec"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
)

// roots are the definitions and replies that a client reads and writes as a whole.
var roots = map[string]func() any{
	"SearchIndex":                       func() any { return new(models.SearchIndex) },
	"SynonymMap":                        func() any { return new(models.SynonymMap) },
	"SearchAlias":                       func() any { return new(models.Alias) },
	"SearchServiceStatistics":           func() any { return new(models.ServiceStatistics) },
	"SearchIndexerDataSourceConnection": func() any { return new(indexers.DataSource) },
	"SearchIndexer":                     func() any { return new(indexers.Indexer) },
	"SearchIndexerStatus":               func() any { return new(indexers.Status) },
	"SearchIndexerSkillset":             func() any { return new(skills.Skillset) },
	"KnowledgeSource":                   func() any { return new(knowledge.Source) },
	"KnowledgeSourceStatus":             func() any { return new(knowledge.SourceStatus) },
	"KnowledgeSourceFile":               func() any { return new(knowledge.SourceFile) },
	"KnowledgeBase":                     func() any { return new(knowledge.Base) },
	"KnowledgeBaseRetrievalRequest":     func() any { return new(knowledge.Request) },
	"KnowledgeBaseRetrievalResponse":    func() any { return new(knowledge.Response) },
}

// maker generates definitions with the members of all versions, and with unknown members.
type maker struct {
	*spec.Spec
	*rand.Rand
	types  map[string][]string // of a union, by its base
	secret string              // of every member that is one, if it is not ""
}

func newMaker(tb testing.TB) maker {
	tb.Helper()
	s, err := spec.Load()
	require.NoError(tb, err)
	m := maker{Spec: s, types: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		if model := s.Models[name]; model.Discriminator != "" {
			for base := model.Base; base != ""; base = s.Models[base].Base {
				m.types[base] = append(m.types[base], name)
			}
		}
	}
	return m
}

func (m maker) object(name string, depth int) map[string]any {
	if types := m.types[name]; types != nil {
		name = types[m.IntN(len(types))]
	}
	object := map[string]any{}
	if strings.Contains(exceptions[name], "a map") { // of strings
		return map[string]any{m.text(): m.text()}
	}
	members := properties(m.Spec, name)
	for _, wire := range slices.Sorted(maps.Keys(members)) {
		p := members[wire]
		if wire == "" || !p.Is("!") && (depth <= 0 || m.IntN(3) == 0) {
			continue
		}
		typ := p.Type()
		if strings.HasPrefix(exceptions[name+"."+wire], "one string") {
			typ = "string"
		}
		switch v := m.value(typ, depth-1); {
		case m.secret != "" && carriesSecret(wire, p) && strings.HasPrefix(typ, "map:"):
			object[wire] = map[string]any{"x.y": m.secret + m.text()}
		case m.secret != "" && carriesSecret(wire, p) && typ == "string":
			object[wire] = m.secret + m.text()
		case v != nil:
			object[wire] = v
		}
	}
	for base := name; base != ""; base = m.Models[base].Base {
		if member, value, found := strings.Cut(m.Models[base].Discriminator, "="); found {
			object[member] = value
			if m.IntN(16) == 0 {
				object[member] = "#Microsoft.Newer." + value
			}
			break
		}
	}
	for range m.IntN(3) {
		object[fmt.Sprintf("newer%d", m.IntN(100))] = m.value("any", depth-1)
	}
	return object
}

func (m maker) value(typ string, depth int) any {
	if element, is := strings.CutPrefix(typ, "[]"); is {
		list := []any{}
		for range m.IntN(3) {
			if v := m.value(element, depth); v != nil {
				list = append(list, v)
			}
		}
		return list
	}
	kind, ref, _ := strings.Cut(typ, ":")
	switch kind {
	case "ref":
		if depth < -3 {
			return nil // a type that requires itself
		}
		return m.object(ref, depth)
	case "enum":
		values := slices.Sorted(maps.Keys(m.Enums[ref]))
		if len(values) == 0 || m.IntN(8) == 0 {
			return "newer"
		}
		return values[m.IntN(len(values))]
	case "map":
		object := map[string]any{}
		for range 1 + m.IntN(2) {
			if v := m.value(ref, depth); v != nil {
				object[m.text()] = v
			}
		}
		return object
	case "bool":
		return m.IntN(2) == 0
	case "int":
		return json.Number(fmt.Sprint(1 + m.Int32N(1<<30)))
	case "float":
		return json.Number(fmt.Sprintf("%d.25", 1+m.IntN(99)))
	case "datetime":
		return fmt.Sprintf("2026-%02d-%02dT08:00:00.%d5Z", 1+m.IntN(12), 1+m.IntN(28), m.IntN(1000))
	case "duration":
		return fmt.Sprintf("PT%dM", 1+m.IntN(90))
	case "string":
		return m.text()
	}
	switch m.IntN(5) {
	case 0:
		return m.text()
	case 1:
		return json.Number("12345678901234567890.5e+7")
	case 2:
		return m.IntN(2) == 0
	case 3:
		return []any{m.text(), map[string]any{}}
	}
	return map[string]any{m.text(): m.text(), "@odata.type": m.text()}
}

// carriesSecret reports whether a member is a credential or may contain one.
func carriesSecret(wire string, p spec.Property) bool {
	return p.Is("S") || slices.Contains([]string{"uri", "entitiesDefinitionUri", "headers", "httpHeaders"}, wire)
}

func (m maker) text() string {
	return []string{"a", "é\u2028", `"\`, "<b>&", "日本", "{\"a\":1}", "\x00\x1f"}[m.IntN(7)] + fmt.Sprint(m.IntN(1000))
}

// FuzzDefinitionsSurvive generates a definition of each root from a seed. Decoding and encoding must not change it,
// down to the last digit, and its printed forms must not contain a secret.
func FuzzDefinitionsSurvive(f *testing.F) {
	for seed := range uint64(testkit.Cases(40, 200, 200)) {
		f.Add(seed)
	}
	m := newMaker(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, name := range slices.Sorted(maps.Keys(roots)) {
			m := m
			m.Rand = rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // repeatable
			want := m.object(name, 4)
			text, err := json.Marshal(want)
			require.NoError(t, err)
			x := roots[name]()
			require.NoError(t, json.Unmarshal(text, x), "seed %d: %s", seed, text)
			written, err := json.Marshal(x)
			require.NoError(t, err, "seed %d", seed)
			require.Empty(t, difference(name, generic(t, text), generic(t, written)), "seed %d: %s", seed, text)
		}
	})
}

// generic decodes JSON for comparison; numbers keep their digits.
func generic(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

// difference returns the first difference between got and want. got may have additional members with empty values,
// which are always written.
func difference(at string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for name, member := range want {
			if d := difference(at+"."+name, member, object[name]); d != "" {
				return d
			}
		}
		for name, member := range object {
			if _, known := want[name]; !known && !nothing(member) {
				return fmt.Sprintf("%s.%s: made up: %v", at, name, member)
			}
		}
		return ""
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			return fmt.Sprintf("%s: %v, want %v", at, got, want)
		}
		for i := range want {
			if d := difference(fmt.Sprintf("%s[%d]", at, i), want[i], list[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if got != want {
		return fmt.Sprintf("%s: %v, want %v", at, got, want)
	}
	return ""
}

func nothing(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if !nothing(member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || v == json.Number("0")
}

// FuzzDefinitions decodes any input as each root: what can be decoded survives encoding and decoding.
func FuzzDefinitions(f *testing.F) {
	m := newMaker(f)
	names := slices.Sorted(maps.Keys(roots))
	for seed := range uint64(3) {
		for i, name := range names {
			m.Rand = rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // repeatable
			text, err := json.Marshal(m.object(name, 3))
			require.NoError(f, err)
			f.Add(byte(i), text)
		}
	}
	f.Add(byte(0), []byte(`{"name":null,"@odata.type":7,"skills":[null,{"@odata.type":null}],"kind":{},"":{}}`))
	f.Fuzz(func(t *testing.T, root byte, text []byte) {
		name := names[int(root)%len(names)]
		x := roots[name]()
		if json.Unmarshal(text, x) != nil {
			return
		}
		once, err := json.Marshal(x)
		require.NoError(t, err)
		y := roots[name]()
		require.NoError(t, json.Unmarshal(once, y), "%s", once)
		twice, err := json.Marshal(y)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		_ = fmt.Sprintf("%v", x)
	})
}
