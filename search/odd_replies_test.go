package search_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestA404IsAboutTheIndexThoughItIsCalledDocuments(t *testing.T) {
	for message, want := range map[string]error{
		"The index 'documents' for service 'svc' was not found.":                        search.ErrIndexNotFound,
		"No index with the name 'documents' was found in the service 'document-store'.": search.ErrIndexNotFound,
		"Document not found.":                          search.ErrDocumentNotFound,
		"Document 'index' was not found in index 'x'.": search.ErrDocumentNotFound,
	} {
		client := newClient(t, reply(http.StatusNotFound, `{"error":{"code":"","message":"`+message+`"}}`))
		_, err := search.GetDocument[hotel](t.Context(), client, "1", nil)
		require.ErrorIs(t, err, want, message)
	}
}

func TestListingEndsWhenItsPagesGoRoundInACircle(t *testing.T) {
	client := newIndexClient(t, reply(http.StatusOK, `{"value":[{"name":"a"}],"@odata.nextLink":"`+testEndpoint+`/indexes?api-version=2026-10-01&page=2"}`))
	seen := 0
	var last error
	for _, err := range client.ListIndexes(t.Context(), nil) {
		if seen++; seen > 10 {
			break
		}
		last = err
	}
	assert.True(t, errors.Is(last, models.ErrMalformedReply), "%v after %d", last, seen)
}

// TestRepliesThatAreNotWhatWasAskedForAreMalformed: a zero value would be written back, or counted.
func TestRepliesThatAreNotWhatWasAskedForAreMalformed(t *testing.T) {
	definition := models.SearchIndex{Name: "hotels"}
	calls := map[string]func(*search.IndexClient) error{
		"GetIndex":    func(c *search.IndexClient) error { return second(c.GetIndex(t.Context(), "hotels", nil)) },
		"CreateIndex": func(c *search.IndexClient) error { return second(c.CreateIndex(t.Context(), definition, nil)) },
		"CreateOrUpdateIndex": func(c *search.IndexClient) error {
			return second(c.CreateOrUpdateIndex(t.Context(), definition, nil))
		},
		"GetSynonymMap":        func(c *search.IndexClient) error { return second(c.GetSynonymMap(t.Context(), "names", nil)) },
		"GetAlias":             func(c *search.IndexClient) error { return second(c.GetAlias(t.Context(), "now", nil)) },
		"GetIndexStatistics":   func(c *search.IndexClient) error { return second(c.GetIndexStatistics(t.Context(), "hotels", nil)) },
		"GetServiceStatistics": func(c *search.IndexClient) error { return second(c.GetServiceStatistics(t.Context(), nil)) },
		"ListIndexes": func(c *search.IndexClient) error {
			for _, err := range c.ListIndexes(t.Context(), nil) {
				return err
			}
			return nil
		},
		"ListIndexNames": func(c *search.IndexClient) error {
			for _, err := range c.ListIndexNames(t.Context(), nil) {
				return err
			}
			return nil
		},
	}
	for body, says := range map[string]string{
		"":                              "it is empty",
		"null":                          "it is null",
		"{}":                            "",
		"[]":                            "it is JSON, but not an object",
		`{"name":"other","value":[{}]}`: "",
		"<html>log in</html>":           "it is a page of HTML",
		`{"name":"hotels"`:              "it is not JSON, or breaks off",
	} {
		for name, call := range calls {
			status := http.StatusOK
			if name == "CreateIndex" {
				status = http.StatusCreated
			}
			err := call(newIndexClient(t, reply(status, body)))
			require.ErrorIs(t, err, models.ErrMalformedReply, "%s: %s", name, body)
			assert.ErrorContains(t, err, says, name)
		}
		if body[:min(1, len(body))] != "{" {
			client := newClient(t, reply(http.StatusOK, body))
			for _, err := range []error{
				second(search.GetDocument[hotel](t.Context(), client, "1", nil)),
				second(search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)),
				second(search.NewSearchPager[hotel](client, "", nil).NextPage(t.Context())),
			} {
				require.ErrorIs(t, err, models.ErrMalformedReply, body)
				assert.ErrorContains(t, err, says)
			}
		}
	}
	err := calls["GetIndex"](newIndexClient(t, reply(http.StatusOK, `{"name":"other"}`)))
	require.ErrorContains(t, err, `got the index "other", want "hotels"`)
	err = calls["GetIndexStatistics"](newIndexClient(t, reply(http.StatusOK, `{"storageSize":1}`)))
	require.ErrorContains(t, err, `it has no member "documentCount"`)
}

func second[T any](_ T, err error) error { return err }

func TestErrorsCountAndPrintNoMoreThanWasSent(t *testing.T) {
	long := strings.Repeat("word ", 40_000)
	client := newClient(t, reply(http.StatusMultiStatus, `{"value":[{"key":"x","status":false,"errorMessage":"a","statusCode":400},{"key":"y","status":false,"errorMessage":"b","statusCode":400}]}`))
	_, err := search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}, {ID: "2"}}, nil)
	require.ErrorContains(t, err, `2 of 2 documents were not indexed, and the reply has results of documents that were not sent: key "x"`)
	client = newClient(t, reply(http.StatusMultiStatus, `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":200},{"key":"1","status":false,"errorMessage":"`+long+`","statusCode":400}]}`))
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)
	require.ErrorContains(t, err, "1 of 1 documents were not indexed")
	assert.Less(t, len(err.Error()), 3000)
	client = newClient(t, reply(http.StatusBadRequest, `{"error":{"code":"","message":"`+long+`","details":[{"message":"other `+long+`"}]}}`))
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1"}}, nil)
	require.ErrorContains(t, err, "… (199999 bytes in all)")
	assert.Less(t, len(err.Error()), 5000)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.Message, len(long)-1, "Message has all of it")
}
