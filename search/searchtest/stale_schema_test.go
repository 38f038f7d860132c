package searchtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A request is read by the definition of the moment it arrived. Before it is
// applied a PUT may add a field, and another request fill it.
func TestAMergeReadBeforeAFieldWasAddedKeepsThatField(t *testing.T) {
	s := NewServer(nil)
	defer s.Close()
	const old = `{"name":"stale","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"a","type":"Edm.String"}`
	require.NoError(t, s.CreateIndex(old+`]}`))
	ix, _ := s.lookupIndex("stale")
	parse := func(body string) *batchParser {
		p := newBatchParser([]byte(body), ix.schema.Load(), "2026-04-01", &s.opts)
		require.Nil(t, p.parse())
		return p
	}
	early := parse(`{"value":[{"@search.action":"merge","id":"1","a":"early"}]}`)
	defer early.release()

	put, err := http.NewRequest(http.MethodPut, s.URL()+"/indexes('stale')?api-version=2026-04-01", strings.NewReader(old+`,{"name":"b","type":"Edm.Int32"}]}`))
	require.NoError(t, err)
	put.Header.Set("api-key", AdminKey)
	put.Header.Set("Content-Type", "application/json")
	reply, err := s.Do(put)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	require.Equal(t, http.StatusOK, reply.StatusCode)

	late := parse(`{"value":[{"@search.action":"upload","id":"1","a":"late","b":7}]}`)
	defer late.release()
	for _, p := range []*batchParser{late, early} {
		results := s.applyBatch(ix, &exchange{}, p.actions, nil, nil)
		require.False(t, results[0].failed())
	}
	document, ok := s.Document("stale", "1")
	require.True(t, ok)
	assert.JSONEq(t, `{"id":"1","a":"early","b":7}`, string(document))
}
