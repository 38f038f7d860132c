package searchtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// A request is parsed with the definition at its arrival. Before it is applied, a PUT may add a field and another
// request may fill it.
func TestAMergeReadBeforeAFieldWasAddedKeepsThatField(t *testing.T) {
	s := NewServer(nil)
	defer s.Close()
	const old = `{"name":"stale","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"a","type":"Edm.String"}`
	require.NoError(t, s.CreateIndex(old+`]}`))
	ix, _ := s.kept.LookupIndex("stale")
	parse := func(body string) *batch.Parser {
		p := batch.NewParser([]byte(body), ix.Definition(), latest, s.opts.limits())
		require.Nil(t, p.Parse())
		return p
	}
	early := parse(`{"value":[{"@search.action":"merge","id":"1","a":"early"}]}`)
	defer early.Release()

	put, err := http.NewRequest(http.MethodPut, s.URL()+"/indexes('stale')?api-version=2026-04-01", strings.NewReader(old+`,{"name":"b","type":"Edm.Int32"}]}`))
	require.NoError(t, err)
	put.Header.Set("api-key", AdminKey)
	put.Header.Set("Content-Type", "application/json")
	reply, err := s.Do(put)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	require.Equal(t, http.StatusOK, reply.StatusCode)

	late := parse(`{"value":[{"@search.action":"upload","id":"1","a":"late","b":7}]}`)
	defer late.Release()
	for _, p := range []*batch.Parser{late, early} {
		results := ix.Apply(new(store.Origin), p.Actions, nil)
		require.False(t, results[0].Failed())
	}
	document, ok := s.Document("stale", "1")
	require.True(t, ok)
	assert.JSONEq(t, `{"id":"1","a":"early","b":7}`, string(document))
}

// manyFields is an index named stale with n number fields, more than a lookup handles without an allocation.
func manyFields(n int) string {
	var b strings.Builder
	b.WriteString(`{"name":"stale","fields":[{"name":"id","type":"Edm.String","key":true}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"name":"f%d","type":"Edm.Int32"}`, i)
	}
	return b.String() + `]}`
}

func TestFieldsThatADefinitionDoesNotKnowAreNotShown(t *testing.T) {
	narrow, serr := schema.Compile([]byte(manyFields(40)), latest)
	require.Nil(t, serr)
	for _, ordinal := range []int{41, 1000} {
		data, body := stored.OpenMember(nil, ordinal)
		data = append(data, 1, 2, 3, 4)
		stored.CloseMember(data, body)
		assert.NotContains(t, string(query.WholeDocument(narrow, data)), "67305985") // 0x04030201
	}
}
