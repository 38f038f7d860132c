package searchtest

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
)

// A new operation is one file with its handler and its registration.
func TestARegisteredOperationIsRoutedCheckedAndScripted(t *testing.T) {
	const echo Operation = "echo"
	known, answered := operations, handlers
	t.Cleanup(func() { operations, handlers = known, answered })
	operations, handlers = routing.NewTable(), make(map[Operation]handler)
	register(operation{
		name: echo, reads: true, needs: apiversion.Aliases,
		routes: []string{"GET /indexes/{index}/search.echo", "GET /echoes/{name}?loud"},
		serve: func(_ *Server, w http.ResponseWriter, r *http.Request, rt routing.Route, _ *exchange) {
			reply.WriteJSON(w, r, http.StatusOK, []byte(`"`+rt.Index+rt.Name+`"`))
		},
	})
	p := newProbe(t, nil)
	assert.Equal(t, `"types"`, p.send(http.MethodGet, "/indexes('types')/search.echo", "").body)
	assert.Equal(t, `"x"`, p.send(http.MethodGet, "/echoes/x?loud=1&api-version=2026-04-01", "").body)
	assert.Equal(t, http.StatusMethodNotAllowed, p.send(http.MethodGet, "/echoes/x", "").status)
	assert.Equal(t, http.StatusMethodNotAllowed, p.send(http.MethodPost, "/indexes('types')/search.echo", "").status)
	assert.Equal(t, http.StatusNotFound, p.send(http.MethodGet, "/echoes/x?loud=1&api-version=2025-09-01", "").status)
	records := p.Requests()
	assert.Equal(t, echo, records[0].Operation)

	p.SetFaults(&Faults{Rules: []Fault{{Operation: echo, Index: "t*", Status: http.StatusTeapot}}})
	assert.Equal(t, http.StatusTeapot, p.send(http.MethodGet, "/indexes('types')/search.echo", "").status)
	require.ErrorContains(t, (&Faults{Rules: []Fault{{Operation: echo, Method: "POST", Status: 503}}}).Validate(), "no request for echo is a POST")
	assert.False(t, needsAdmin(string(echo)))
	assert.Panics(t, func() { register(operation{name: echo}) })
}

func TestEveryConstantOfAnOperationIsRegistered(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^(?:const |\t)Op[A-Za-z]+ +Operation = "([a-zA-Z]+)"`)
	found := 0
	for _, file := range files(t, "*.go") {
		for _, match := range declared.FindAllStringSubmatch(source(t, file), -1) {
			found++
			assert.NotNil(t, operations.Operation(match[1]), "%s: %s", file, match[0])
		}
	}
	assert.Greater(t, found, 20)
}
