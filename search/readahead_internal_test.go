package search

import (
	"encoding/json"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// A scan keeps no more pages than it may request concurrently.
func TestPagesThatWereUsedAreForgotten(t *testing.T) {
	key, err := models.KeyFieldByName[json.RawMessage]("id")
	require.NoError(t, err)
	s := &scan{key: key, last: "a"}
	for range 3 {
		p := &askedFor{done: make(chan struct{}), page: &scanPage{Results: []models.SearchResult[json.RawMessage]{{Document: json.RawMessage(`{"id":"a"}`)}}}}
		close(p.done)
		s.ahead.pages = append(s.ahead.pages, p)
	}
	used := weak.Make(s.fromAhead(t.Context()))
	runtime.GC()
	assert.Nil(t, used.Value())
	assert.Len(t, s.ahead.pages, 2)
	runtime.KeepAlive(s)
}
