package jsontext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func values(text string) (values []string) {
	for len(text) > 0 {
		n := Values{}.Next([]byte(text), true)
		if v, _ := Trim([]byte(text[:n])); len(v) > 0 {
			values = append(values, string(v))
		}
		text = text[n:]
	}
	return values
}

func TestValuesOfAnArray(t *testing.T) {
	for text, want := range map[string][]string{
		"[]":                                  nil,
		" [ ] \n":                             nil,
		`[{"a":1},{"a":2}]`:                   {`{"a":1}`, `{"a":2}`},
		"[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n": {`{"a": 1}`, `{"a": 2}`},
		`[{"a":"}"},{"b":"\\\""},{"c":[{}]}]`: {`{"a":"}"}`, `{"b":"\\\""}`, `{"c":[{}]}`},
		"{\"a\":\n1}\n{\"b\":2}":              {"{\"a\":\n1}", `{"b":2}`},
		`[{"a":1},nonsense,{"b":2},"x,y",3]`:  {`{"a":1}`, "nonsense", `{"b":2}`, `"x,y"`, "3"},
		`[{"a":1},{"open":`:                   {`{"a":1}`, `{"open":`},
	} {
		assert.Equal(t, want, values(text), text)
	}
}

func TestMoreIsAskedForWhereAValueMayContinue(t *testing.T) {
	for _, text := range []string{"[", `{"a"`, `{"a":"}`, "nonsens"} {
		assert.Zero(t, Values{}.Next([]byte(text), false), text)
	}
	assert.Zero(t, Lines{}.Next([]byte("{}"), false))
	assert.Equal(t, 3, Lines{}.Next([]byte("{}\n{}"), false))
	assert.Equal(t, 2, Lines{}.Next([]byte("{}"), true))
}

// The objects of an array are returned unchanged.
func FuzzValues(f *testing.F) {
	f.Add(`[{"a":1},{"b":[{"c":"]}"}]}]`)
	f.Add(`[{`)
	f.Add(`["\`)
	f.Fuzz(func(t *testing.T, text string) {
		got := values(text)
		var want []json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		for _, w := range want {
			if strings.HasPrefix(string(w), "[") || string(w) == "" {
				return // no documents
			}
		}
		assert.Len(t, got, len(want))
		for i := range got {
			assert.Equal(t, string(want[i]), got[i])
		}
	})
}
