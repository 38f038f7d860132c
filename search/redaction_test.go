package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/search"
)

// TestErrorsDoNotRepeatTheSecretsOfTheRequest: a service or a proxy quotes what it was sent.
func TestErrorsDoNotRepeatTheSecretsOfTheRequest(t *testing.T) {
	const (
		connection = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=YWNjb3VudCtrZXk+LXNlY3JldA==;EndpointSuffix=x"
		accountKey = "YWNjb3VudCtrZXk+LXNlY3JldA=="
		token      = "eyJ1c2VyIjoiYWxpY2UifQ.signature"
	)
	user := search.WithUserToken(t.Context(), "Bearer "+token)
	asText := func(s string) string { return "denied: " + s + "!" }
	inJSON := func(s string) string {
		return `{"error":{"code":"` + s + `","message":"denied: ` + s + `","details":[{"code":"x","target":"` + s + `","message":"` + s + `"}],"inner":{"` + s + `":["` + s + `"]}}}`
	}
	escaped := func(s string) string { return inJSON(strings.NewReplacer("+", `\u002B`, "=", `\u003d`).Replace(s)) }
	for name, test := range map[string]struct {
		secret string
		call   func(w *wire) error
	}{
		"the key": {testKey, func(w *wire) error { return second(newIndexClient(t, w).GetIndex(t.Context(), "hotels", nil)) }},
		"the key of a batch": {testKey, func(w *wire) error {
			return second(search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, nil))
		}},
		"a user's token": {token, func(w *wire) error {
			return second(search.GetDocument[hotel](user, newClient(t, w), "1", nil))
		}},
		"a connection string": {connection, func(w *wire) error {
			return second(indexerFor(t, w).CreateDataSource(t.Context(), source(connection), nil))
		}},
		"a part of it": {accountKey, func(w *wire) error {
			return second(indexerFor(t, w).CreateOrUpdateDataSource(t.Context(), source(connection), nil))
		}},
		"a raw call": {accountKey, func(w *wire) error {
			return second(search.Do(t.Context(), newIndexClient(t, w), http.MethodPut, "/x", json.RawMessage(`{"a":[{"apiKey":"`+accountKey+`"}]}`), nil))
		}},
	} {
		for _, status := range []int{400, 403, 404, 409, 500} {
			for _, body := range []func(string) string{asText, inJSON, escaped} {
				err := test.call(reply(status, body(test.secret)))
				var e *search.Error
				require.ErrorAs(t, err, &e, name)
				var answer *azcore.ResponseError
				require.ErrorAs(t, err, &answer)
				for _, text := range []string{err.Error(), fmt.Sprintf("%+v", e), fmt.Sprintf("%#v", e), e.Message, answer.Error(), e.ServiceMessage(), e.LogReason()} {
					assert.NotContains(t, text, test.secret, "%s: %d", name, status)
				}
				assert.Contains(t, err.Error(), "denied: ***", name)
			}
		}
	}
	result, err := search.UploadDocuments(t.Context(), newClient(t, reply(207, `{"value":[{"key":"1","status":false,"errorMessage":"no: `+testKey+`","statusCode":400}]}`)), []hotel{{ID: "1"}}, nil)
	require.ErrorContains(t, err, "400 no: ***")
	assert.Equal(t, "no: ***", result.Results[0].ErrorMessage)
	base, err := search.NewKnowledgeBaseClientWithKey(testEndpoint, "b", azcore.NewKeyCredential(testKey), options(reply(200, "event: error\ndata: {\"error\":{\"code\":\"\",\"message\":\"no: "+token+"\"}}\n\n", "Content-Type", "text/event-stream")))
	require.NoError(t, err)
	var ended error
	for event, err := range base.RetrieveStream(user, knowledge.Request{}, nil) {
		ended = errors.Join(ended, err)
		assert.NotContains(t, fmt.Sprintf("%+v", event), token)
	}
	require.ErrorContains(t, ended, "no: ***")
}

// TestWordsThatAreNoSecretsStayInErrors.
func TestWordsThatAreNoSecretsStayInErrors(t *testing.T) {
	err := second(indexerFor(t, reply(400, `{"error":{"message":"<unchanged> is not allowed for blobs"}}`)).CreateOrUpdateDataSource(t.Context(), source("<unchanged>"), nil))
	require.ErrorContains(t, err, "<unchanged> is not allowed for blobs")
}

func source(connection string) indexers.DataSource {
	return indexers.DataSource{Name: "blobs", Type: indexers.DataSourceTypeAzureBlob, Container: indexers.Container{Name: "c"}, Credentials: indexers.Credentials{ConnectionString: connection}}
}

func indexerFor(t *testing.T, w *wire) *search.IndexerClient {
	t.Helper()
	client, err := search.NewIndexerClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), options(w))
	require.NoError(t, err)
	return client
}
