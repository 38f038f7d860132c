package searchtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Two refusals exist: OData cannot read a body without its required parameters, and the service refuses the rest.
func TestTypedTextNeedsASuggester(t *testing.T) {
	const (
		unknown = "Cannot find fields enabled for suggestions. Please provide a value for 'suggesterName' in the query.\r\nParameter name: suggestions"
		missing = "The request is invalid. Details: One or more parameters of the operation 'OPERATION' are missing from the request payload. The missing parameters are: "
	)
	p := newProbe(t, nil)
	defer p.Close()
	for _, operation := range []string{"suggest", "autocomplete"} {
		missing := strings.Replace(missing, "OPERATION", operation, 1)
		for name, test := range map[string]struct{ method, path, body, message string }{
			"a body without a suggester":         {http.MethodPost, "search.post." + operation, `{"search":"x"}`, missing + "suggesterName."},
			"a body with nothing":                {http.MethodPost, "search.post." + operation, `{}`, missing + "search,suggesterName."},
			"a body with an empty suggester":     {http.MethodPost, "search.post." + operation, `{"search":"x","suggesterName":""}`, unknown},
			"an address without a suggester":     {http.MethodGet, "search." + operation + "?search=x", "", unknown},
			"an address with an empty suggester": {http.MethodGet, "search." + operation + "?search=x&suggesterName=", "", unknown},
		} {
			a := p.send(test.method, "/indexes('types')/docs/"+test.path, test.body)
			assert.Equal(t, http.StatusBadRequest, a.status, "%s: %s", operation, name)
			assert.Equal(t, test.message, a.message(), "%s: %s", operation, name)
		}
	}
}

// The codes are those that users of the service report.
func TestNewerVersionsGiveSomeRefusalsCodes(t *testing.T) {
	p := newProbe(t, nil)
	defer p.Close()
	for body, want := range map[string]string{
		`{"filter":"nope eq 1"}`:            `{"error":{"code":"","message":"Invalid expression: Could not find a property named 'nope' on type 'search.document'.\r\nParameter name: $filter"}}`,
		`{"search":"x","searchFields":"i"}`: `{"error":{"code":"","message":"The field 'i' in the search field list is not searchable.\r\nParameter name: searchFields"}}`,
		`{"nope":1}`:                        `{"error":{"code":"","message":"The request is invalid. Details: The parameter 'nope' in the request payload is not a valid parameter for the operation 'search'."}}`,
		`{"skip":100001}`:                   `{"error":{"code":"InvalidRequestParameter","message":"Value must be between 0 and 100000.\r\nParameter name: $skip"}}`,
		`{"vectorQueries":[{"vector":[1,2,3],"fields":"v"}]}`: `{"error":{"code":"InvalidRequestParameter","message":"The vector query's 'kind' parameter is not set.\r\nParameter name: vector.kind","details":[{"code":"InvalidVectorQuery","message":"The vector query's 'kind' parameter is not set."}]}}`,
	} {
		a := p.query(body)
		assert.Equal(t, http.StatusBadRequest, a.status, body)
		assert.JSONEq(t, want, a.body, body)
	}
	old := p.send(http.MethodPost, "/indexes('types')/docs/search.post.search?api-version=2020-06-30", `{"nope":1,"skip":1}`)
	assert.Equal(t, "The request is invalid. Details: parameters : The parameter 'nope' in the request payload is not a valid parameter for the operation 'search'.\r\n", old.message())
	old = p.send(http.MethodPost, "/indexes('types')/docs/search.post.search?api-version=2020-06-30", `{"skip":100001}`)
	assert.Contains(t, old.body, `{"code":"",`)
}
