package search_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Definitions need not be valid. A definition equals itself, and DiffIndex is symmetric.
func FuzzDiffIndex(f *testing.F) {
	paths, err := filepath.Glob("searchtest/testdata/requests/definitions/*.json")
	require.NoError(f, err)
	base, err := json.Marshal(diffBase())
	require.NoError(f, err)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(base, b)
	}
	f.Add([]byte(`{"fields":[{"name":"a","type":7},{"name":"a"}]}`), []byte(`{"fields":[{"fields":[{}]}],"vectorSearch":{"profiles":[{"name":""}],"x":[]}}`))
	f.Add([]byte(`{"name":"a","semantic":{},"x":{"y":[{"name":"z","key":"k"}]}}`), []byte(`{"suggesters":[{"name":"s","sourceFields":["a"]}],"similarity":{"k1":1e999}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var before, after models.SearchIndex
		if json.Unmarshal(a, &before) != nil || json.Unmarshal(b, &after) != nil {
			return
		}
		forth, err := search.DiffIndex(before, after)
		require.NoError(t, err)
		back, err := search.DiffIndex(after, before)
		require.NoError(t, err)
		require.Equal(t, len(forth) == 0, len(back) == 0)
		for _, c := range forth {
			require.NotEqual(t, search.ChangeNone, c.Kind)
			require.NotEmpty(t, c.Path)
			require.NotEmpty(t, c.Reason)
			require.False(t, c.Old == nil && c.New == nil, c.Path)
		}
		same, err := search.DiffIndex(before, before)
		require.NoError(t, err)
		require.Empty(t, same)
	})
}
