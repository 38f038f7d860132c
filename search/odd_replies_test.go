package search_test

import (
	"errors"
	"net/http"
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
	client := newIndexClient(t, reply(http.StatusOK, `{"value":[{"name":"a"}],"@odata.nextLink":"`+testEndpoint+`/indexes?api-version=2026-04-01&page=2"}`))
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
