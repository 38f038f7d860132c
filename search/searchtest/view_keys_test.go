package searchtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A walk by keys finds what a look at all documents finds, whatever was written and deleted between its pages.
func TestAWalkByKeysFindsWhatALookAtEverythingFinds(t *testing.T) {
	s := NewServer(nil)
	defer s.Close()
	require.NoError(t, s.CreateIndex(`{"name":"walks","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
		{"name":"n","type":"Edm.Int32","filterable":true,"sortable":true}]}`))
	send := func(path, body string) map[string]any {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/indexes('walks')/docs/"+path+"?api-version="+latestVersion, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Api-Key", AdminKey)
		req.Header.Set("Content-Type", "application/json")
		resp, err := s.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var reply map[string]any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&reply))
		require.Less(t, resp.StatusCode, 300, "%v", reply)
		return reply
	}
	ids := func(reply map[string]any) (ids []string) {
		for _, v := range reply["value"].([]any) {
			ids = append(ids, v.(map[string]any)["id"].(string))
		}
		_, more := reply["@search.nextPageParameters"]
		return append(ids, fmt.Sprint(more))
	}
	r := rand.New(rand.NewPCG(1, 2))
	key := func() string { return fmt.Sprintf("k%d", r.IntN(300)) }
	for range 300 {
		var batch []string
		for range r.IntN(8) {
			action := []string{"upload", "upload", "delete"}[r.IntN(3)]
			batch = append(batch, fmt.Sprintf(`{"@search.action":%q,"id":%q,"n":%d}`, action, key(), r.IntN(4)))
		}
		if len(batch) > 0 {
			send("search.index", `{"value":[`+strings.Join(batch, ",")+`]}`)
		}
		filter := fmt.Sprintf([]string{"id gt '%s'", "id ge '%s'", "id ge '%s' and n eq 1", "n lt 2 and (id gt '%s' and id le 'k3')", "id ge '' and id gt '%s'"}[r.IntN(5)], key())
		top := []string{"", fmt.Sprintf(`,"top":%d`, r.IntN(20))}[r.IntN(2)]
		if r.IntN(4) == 0 {
			top += fmt.Sprintf(`,"skip":%d`, r.IntN(20))
		}
		page := fmt.Sprintf(`{"filter":%q,"orderby":"id"%s`, filter, top)
		walk := ids(send("search.post.search", page+`}`))
		// To count all it looks at all.
		require.Equal(t, ids(send("search.post.search", page+`,"count":true}`)), walk, page)
		require.Equal(t, ids(send("search.post.search", fmt.Sprintf(`{"filter":%q,"orderby":"id,n"%s}`, filter, top))), walk, page)
	}
}

func TestMergedKeysAreSortedAndThereOnce(t *testing.T) {
	require.Equal(t, []string{"a", "b", "c", "d"}, mergeKeys([]string{"a", "b", "d"}, []string{"b", "b", "c", "d"}))
	require.Empty(t, mergeKeys(nil, nil))
}
