package models_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

type city string

func (c city) MarshalText() ([]byte, error) { return []byte(c), nil }

type written struct {
	Name   string             `json:"name"`
	Tags   []string           `json:"tags,omitempty"`
	City   city               `json:"city,omitzero"`
	Counts map[string]int     `json:"counts,omitempty"`
	Raw    json.RawMessage    `json:"raw,omitempty"`
	Inner  *written           `json:"inner,omitempty"`
	Any    any                `json:"any,omitempty"`
	Quoted string             `json:"quoted,omitempty,string"`
	Places map[string]written `json:"places,omitempty"`
}

const bad = "caf\xe9"

// encoding/json replaces it by U+FFFD without an error.
func TestTextThatIsNotUTF8IsRefusedByItsField(t *testing.T) {
	for field, doc := range map[string]any{
		"name":                 written{Name: bad},
		"tags[1]":              &written{Tags: []string{"a", bad}},
		"city":                 written{City: bad},
		"counts[\"caf\\xe9\"]": written{Counts: map[string]int{bad: 1}},
		"raw":                  written{Raw: json.RawMessage(`"` + bad + `"`)},
		"inner.any.x[0]":       written{Inner: &written{Any: map[string]any{"x": []any{bad}}}},
		"quoted":               written{Quoted: bad},
		"places.a.name":        map[string]any{"places": map[string]written{"a": {Name: bad}}},
		"a":                    models.NewPatch("id", "1").Set("a", bad),
		"[\"caf\\xe9\"]":       models.Document{bad: 1},
	} {
		got, err := models.AppendAction([]byte("before"), models.ActionTypeUpload, doc)
		var e *models.EncodeError
		require.ErrorAs(t, err, &e, field)
		assert.Equal(t, field, e.Field)
		assert.ErrorContains(t, err, "is not valid UTF-8; strings.ToValidUTF8")
		assert.Equal(t, "before", string(got))
	}
}

// The character is accepted literally and escaped.
func TestReplacementCharactersAreText(t *testing.T) {
	for want, doc := range map[string]any{
		`"name":"` + "\ufffd" + `"`:            written{Name: "\ufffd"},
		`"name":"","raw":"\ufffd"`:             written{Raw: json.RawMessage(`"\ufffd"`)},
		`"name":"","city":"C:\\ufffd"`:         written{City: `C:\ufffd`},
		`"name":"a","any":{"b":"` + "é" + `"}`: written{Name: "a", Any: map[string]string{"b": "é"}},
	} {
		got, err := models.AppendAction(nil, models.ActionTypeMerge, doc)
		require.NoError(t, err)
		assert.Equal(t, `{"@search.action":"merge",`+want+`}`, string(got))
	}
}

func TestByteOrderMarkIsNamed(t *testing.T) {
	_, err := models.AppendAction(nil, models.ActionTypeUpload, json.RawMessage("\ufeff{}"))
	require.ErrorContains(t, err, "it begins with a byte order mark")
}
