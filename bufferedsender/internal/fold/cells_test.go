package fold_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/models"
)

func TestEveryPairOfTypesFoldsAsTheTableSays(t *testing.T) {
	a, b := `"name":"a","rooms":1`, `"rooms":2,"stars":3`
	both := `"name":"a","rooms":2,"stars":3`
	tests := []struct {
		name       string
		a, b, want act
	}{
		{"upload, upload", upload(a), upload(b), upload(b)},
		{"upload, mergeOrUpload", upload(a), mergeOrUpload(b), upload(both)},
		{"upload, merge", upload(a), merge(b), upload(both)},
		{"upload, delete", upload(a), remove(), remove()},
		{"mergeOrUpload, upload", mergeOrUpload(a), upload(b), upload(b)},
		{"mergeOrUpload, mergeOrUpload", mergeOrUpload(a), mergeOrUpload(b), mergeOrUpload(both)},
		{"mergeOrUpload, merge", mergeOrUpload(a), merge(b), mergeOrUpload(both)},
		{"mergeOrUpload, delete", mergeOrUpload(a), remove(), remove()},
		{"merge, upload", merge(a), upload(b), upload(b)},
		{"merge, merge", merge(a), merge(b), merge(both)},
		{"merge, delete", merge(a), remove(), remove()},
		{"delete, upload", remove(), upload(b), upload(b)},
		{"delete, mergeOrUpload", remove(), mergeOrUpload(b), upload(b)},
		{"delete, delete", remove(), remove(), remove()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { requireFolded(t, test.a, test.b, test.want) })
	}
}

// On a missing document the merge fails, and the mergeOrUpload creates a document without the merge's fields. One
// merge would not create it, and one mergeOrUpload would add the merge's fields.
func TestAMergeIsNeverFoldedWithAMergeOrUpload(t *testing.T) {
	a, b := merge(`"name":"a"`), mergeOrUpload(`"rooms":2`)
	requireRefused(t, a, b, merge(`"name":"a","rooms":2`))
	requireRefused(t, a, b, mergeOrUpload(`"name":"a","rooms":2`))
	requireRefused(t, a, b, b)
}

// The merge must fail on any document, and the document must be deleted. No single action does both.
func TestADeleteIsNeverFoldedWithAMerge(t *testing.T) {
	a, b := remove(), merge(`"rooms":2`)
	requireRefused(t, a, b, merge(`"rooms":2`))
	requireRefused(t, a, b, upload(`"rooms":2`))
	requireRefused(t, a, b, act{})

	// A single delete would produce the right state but report success for the merge.
	s := newService(t, hotelIndex)
	s.sendAll(upload(""), a)
	assert.Equal(t, http.StatusNotFound, s.send(b))
}

// Folded or not, two merges of a missing document fail.
func TestTwoMergesOfAMissingDocumentFailFoldedToo(t *testing.T) {
	both, ok := folded(t, merge(`"name":"a"`), merge(`"rooms":2`))
	require.True(t, ok)
	s := newService(t, hotelIndex)
	assert.Equal(t, http.StatusNotFound, s.send(both))
	assert.Zero(t, s.DocumentCount("hotels"))
}

func TestWhatReplacesTheFirstActionIsNotCopied(t *testing.T) {
	a := []byte(upload(`"name":"a"`).body)
	for _, b := range []act{upload(`"rooms":2`), remove()} {
		text := []byte(b.body)
		_, body, ok := fold.Actions(models.ActionTypeUpload, a, b.typ, text)
		require.True(t, ok)
		assert.Same(t, &text[0], &body[0])
	}
}

func TestUnknownTypesAndOtherTextAreNotFolded(t *testing.T) {
	good := upload(`"rooms":2`)
	for name, bad := range map[string]act{
		"no type":          {"", good.body},
		"an unknown type":  {"Upload", good.body},
		"another type":     {models.ActionTypeMergeOrUpload, good.body},
		"no text":          {models.ActionTypeUpload, ""},
		"half a header":    {models.ActionTypeUpload, `{"@search.action":"up`},
		"only a header":    {models.ActionTypeUpload, `{"@search.action":"upload"`},
		"action elsewhere": {models.ActionTypeUpload, `{"id":"1","@search.action":"upload"}`},
		"a longer type":    {models.ActionTypeMerge, mergeOrUpload("").body},
	} {
		t.Run(name, func(t *testing.T) {
			requireRefused(t, bad, good, act{})
			requireRefused(t, good, bad, act{})
			requireRefused(t, mergeOrUpload(""), bad, act{})
		})
	}
}
