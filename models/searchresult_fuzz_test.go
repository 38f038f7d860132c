package models_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// The reader of replies agrees with encoding/json, and a reply that was written and read again is unchanged.
func FuzzSearchDocumentsResult(f *testing.F) {
	f.Add(fullPage)
	f.Add(`{"value":[{"a":1,"@search.score":2.5,"b":"\"@search.score\":3","\u0040search.x":1}]}`)
	f.Add(`{"@search.facets":{"a":[{"count":1,"from":"2000-01-01T00:00:00.000+0000"}]},"value":[{},{}]}`)
	f.Add(`{"value":[{"@search.score":1,"n":1e999,"a":[{"@search.score":1}]} , {"@search.score":-0}]}`)
	f.Add(`{"value":[],"value":[{"@search.score":1}]}`)
	f.Fuzz(func(t *testing.T, reply string) {
		var page models.SearchDocumentsResult[models.Document]
		direct := (&models.SearchDocumentsResult[models.Document]{}).UnmarshalJSON([]byte(reply)) // it must not panic
		if err := json.Unmarshal([]byte(reply), &page); err != nil {
			return
		}
		require.NoError(t, direct)
		if strings.TrimSpace(reply) == "null" {
			return
		}
		var plain struct {
			Value []map[string]json.RawMessage `json:"value"`
		}
		require.NoError(t, json.Unmarshal([]byte(onlyValue(t, reply)), &plain))
		require.Len(t, page.Results, len(plain.Value))
		for i, members := range plain.Value {
			for name, value := range members {
				if strings.HasPrefix(name, "@search.") || strings.HasPrefix(name, "@odata.") {
					continue
				}
				held, ok := page.Results[i].Document[name]
				require.True(t, ok, name)
				want := models.Document{}
				require.NoError(t, json.Unmarshal([]byte(`{"v":`+string(value)+`}`), &want))
				require.Equal(t, want["v"], held)
				delete(members, name)
			}
			for name := range page.Results[i].Document {
				require.False(t, strings.HasPrefix(name, "@search.") || strings.HasPrefix(name, "@odata."), name)
			}
		}
		written, err := json.Marshal(page)
		require.NoError(t, err)
		var again models.SearchDocumentsResult[models.Document]
		require.NoError(t, json.Unmarshal(written, &again))
		rewritten, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
	})
}

// onlyValue removes all lists of results but the last. encoding/json ignores case, so similar names are renamed.
func onlyValue(t *testing.T, reply string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(reply), &members))
	return `{"value":` + string(members["value"]) + `}`
}

func FuzzFacetValue(f *testing.F) {
	for _, seed := range []string{`"x"`, `1`, `1.50`, `true`, `null`, `"2000-01-01T00:00:00.000+0000"`, `{}`, `-0`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v models.FacetValue
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		written, err := json.Marshal(v)
		require.NoError(t, err)
		var want, got models.Document
		require.NoError(t, json.Unmarshal([]byte(`{"v":`+text+`}`), &want))
		require.NoError(t, json.Unmarshal([]byte(`{"v":`+string(written)+`}`), &got))
		require.Equal(t, want, got)
		_, _ = v.Int64()
		_, _ = v.Float64()
		_, _ = v.Time()
	})
}
