package search_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

func TestOnlyAReplyInTheFormOfTheServiceIsItsOwn(t *testing.T) {
	for body, foreign := range map[string]bool{
		`{"error":{"code":"","message":"The request is invalid."}}`:                false,
		`{"error":{"code":"OperationNotAllowed","message":"No.","details":[]}}`:    false,
		`{"error":{"code":null,"message":"No."}}`:                                  false,
		`{"odata.error":{"code":"","message":{"lang":"en","value":"No."}}}`:        false,
		"\ufeff" + `{"error":{"message":"The version indicated does not exist."}}`: false,
		``:                                   true,
		`<html>No</html>`:                    true,
		`No.`:                                true,
		`{}`:                                 true,
		`[]`:                                 true,
		`{"message":"No."}`:                  true,
		`{"statusCode":400,"message":"No."}`: true,
		`{"Message":"No."}`:                  true,
		`{"error":"invalid_request"}`:        true,
		`{"error":{"code":400,"message":"No.","status":"X"}}`:           true,
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"No."}}`:     true,
		`{"timestamp":1,"status":400,"error":"Bad Request","path":"/"}`: true,
	} {
		assert.Equal(t, foreign, isForeign(t, http.StatusBadRequest, body), body)
	}
	assert.False(t, isForeign(t, http.StatusNotFound, ""), "the service answers so itself")
	assert.False(t, isForeign(t, http.StatusForbidden, ""))
	assert.True(t, isForeign(t, http.StatusForbidden, "<html>"))
	assert.True(t, isForeign(t, http.StatusRequestEntityTooLarge, ""), "the reply has its own explanation")
}

func isForeign(t *testing.T, status int, body string) bool {
	t.Helper()
	_, err := newClient(t, reply(status, body)).IndexDocumentsRaw(t.Context(), newBody("x"))
	var e *search.Error
	require.ErrorAs(t, err, &e)
	return e.Foreign()
}
