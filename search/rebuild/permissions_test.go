package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// identity is a credential with every role.
type identity struct{}

func (identity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "t", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// Nine of ten restricted documents are missing from the new index, and all public ones are there.
func TestCountsAreOfTheWholeIndex(t *testing.T) {
	srv := searchtest.NewServer(&searchtest.Options{Token: func(string) bool { return true }})
	t.Cleanup(func() { assert.NoError(t, srv.Close()) })
	opts := &search.ClientOptions{}
	opts.Transport = srv
	key, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	role, err := search.NewIndexClient(srv.URL(), identity{}, opts)
	require.NoError(t, err)
	for name, restricted := range map[string]int{oldIndex: 10, newIndex: 1} {
		body := fmt.Appendf(nil, `{"name":%q,"permissionFilterOption":"enabled","fields":[{"name":"id","type":"Edm.String","key":true},
			{"name":"users","type":"Collection(Edm.String)","filterable":true,"permissionFilter":"userIds"}]}`, name)
		_, err = search.Do(t.Context(), key, http.MethodPost, "/indexes", json.RawMessage(body), &search.DoOptions{APIVersion: "2026-10-01"})
		require.NoError(t, err)
		docs := []models.Document{{"id": "open", "users": []string{"all"}}}
		for i := range restricted {
			docs = append(docs, models.Document{"id": fmt.Sprint(i), "users": []string{"alice"}})
		}
		client, err := key.Client(name)
		require.NoError(t, err)
		_, err = search.UploadDocuments(t.Context(), client, docs, nil)
		require.NoError(t, err)
	}
	lacks := func(client *search.IndexClient) (*runner, error) {
		r := newRunner(NewMemory(), client)
		r.opts.Logger, r.record = quiet, Record{Old: oldIndex, New: newIndex}
		return r, r.lacks(t.Context())
	}
	_, err = lacks(key)
	require.ErrorIs(t, err, search.ErrPartialView)
	r, err := lacks(role)
	require.ErrorIs(t, err, ErrTooFew)
	assert.Equal(t, []int64{11, 2}, []int64{r.report.OldDocuments, r.report.NewDocuments})
}
