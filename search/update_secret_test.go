package search_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// After a 412 the current definition equals the wanted one except for the secret, which the service hides. So the
// update must be sent again.
func TestSecretThatCannotBeSeenIsWrittenAgain(t *testing.T) {
	const definition = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":2,"vectorSearchProfile":"p"}],
		"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a","vectorizer":"z"}],
		"vectorizers":[{"name":"z","kind":"azureOpenAI","azureOpenAIParameters":{"resourceUri":"https://x.openai.azure.com","deploymentId":"d","apiKey":"OLD","modelName":"text-embedding-3-large"}}]}}`
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	require.NoError(t, srv.CreateIndex(definition))
	client, err := search.NewIndexClientWithKey(srv.URL(), credential, options(srv))
	require.NoError(t, err)
	calls := 0
	_, err = client.UpdateIndex(t.Context(), "hotels", func(index *models.SearchIndex) error {
		if calls++; calls == 1 { // another program writes first, with its own secret
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, srv.URL()+"/indexes('hotels')?api-version=2026-04-01", strings.NewReader(strings.Replace(definition, "OLD", "OTHER", 1)))
			require.NoError(t, err)
			r.Header.Set("Api-Key", searchtest.AdminKey)
			r.Header.Set("Content-Type", "application/json")
			resp, err := srv.Do(r)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, resp.StatusCode)
		}
		index.VectorSearch.Vectorizers[0].AzureOpenAI.APIKey = "NEW"
		return nil
	}, nil)
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
}
