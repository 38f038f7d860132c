package searchtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const secured = `{"name":"secured","permissionFilterOption":"enabled","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"title","type":"Edm.String","filterable":true,"facetable":true},
	{"name":"users","type":"Collection(Edm.String)","permissionFilter":"userIds"},
	{"name":"groups","type":"Collection(Edm.String)","permissionFilter":"groupIds"},
	{"name":"scope","type":"Edm.String","permissionFilter":"rbacScope","filterable":true}],
	"suggesters":[{"name":"s","searchMode":"analyzingInfixMatching","sourceFields":["title"]}]}`

const securedDocuments = `{"value":[
	{"id":"open","title":"plan open","users":["all"]},
	{"id":"alice","title":"plan alice","users":["alice","it's"]},
	{"id":"team","title":"plan team","users":["none"],"groups":["g1","g2"]},
	{"id":"scope","title":"plan scope","scope":"/c/1"},
	{"id":"nobody","title":"plan nobody"}]}`

// jwt returns a token with claims.
func jwt(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
}

// newSecured is a service with an index of permission filters that also accepts bearer tokens.
func newSecured(t *testing.T, resolve func(string) (string, []string, []string, error)) probe {
	p := newProbe(t, &Options{Reader: resolve, Token: func(string) bool { return true }})
	require.Equal(t, http.StatusCreated, p.send(http.MethodPost, "/indexes?api-version=2026-10-01", secured).status)
	require.Equal(t, http.StatusOK, p.send(http.MethodPost, "/indexes/secured/docs/index", securedDocuments).status)
	return p
}

// as sends a request with headers, and with the admin key unless the headers authorize it.
func (p probe) as(headers map[string]string, method, path, body string) answered {
	p.Helper()
	if !strings.Contains(path, "api-version=") {
		path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "api-version=2026-10-01"
	}
	r, err := http.NewRequest(method, p.URL()+path, strings.NewReader(body))
	require.NoError(p, err)
	r.Header.Set("Content-Type", "application/json")
	if headers["Authorization"] == "" {
		r.Header.Set("api-key", AdminKey)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	resp, err := p.Transport().RoundTrip(r)
	require.NoError(p, err)
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	require.NoError(p, err)
	return answered{resp.StatusCode, resp.Header, string(reply)}
}

// keysOf returns the keys in a reply in alphabetical order.
func keysOf(t *testing.T, a answered) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	var reply struct{ Value []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(a.body), &reply))
	keys := map[string]bool{}
	for _, d := range reply.Value {
		keys[d.ID] = true
	}
	return slices.Sorted(maps.Keys(keys))
}

func token(claims string) map[string]string {
	return map[string]string{"x-ms-query-source-authorization": jwt(claims)}
}

func TestResultsAreTrimmedByThePermissionsOfTheirReader(t *testing.T) {
	p := newSecured(t, nil)
	scopes := newSecured(t, func(token string) (string, []string, []string, error) { return "", nil, []string{token}, nil })
	for name, test := range map[string]struct {
		p       probe
		headers map[string]string
		want    []string
	}{
		"no token, with an admin key":      {p, nil, []string{"open"}},
		"a user":                           {p, token(`{"oid":"alice"}`), []string{"alice", "open"}},
		"a user with a quote":              {p, token(`{"oid":"it's"}`), []string{"alice", "open"}},
		"a user in a group":                {p, token(`{"oid":"bob","groups":["g0","g2"]}`), []string{"open", "team"}},
		"a user and a group":               {p, token(`{"oid":"alice","groups":["g1"]}`), []string{"alice", "open", "team"}},
		"none is not a user":               {p, token(`{"oid":"bob"}`), []string{"open"}},
		"with the word Bearer before it":   {p, map[string]string{"x-ms-query-source-authorization": "Bearer " + jwt(`{"oid":"alice"}`)}, []string{"alice", "open"}},
		"a scope":                          {scopes, map[string]string{"x-ms-query-source-authorization": "/c/1"}, []string{"open", "scope"}},
		"an elevated read":                 {p, map[string]string{"x-ms-enable-elevated-read": "true", "Authorization": "Bearer t"}, []string{"alice", "nobody", "open", "scope", "team"}},
		"an elevated read that is not one": {p, map[string]string{"x-ms-enable-elevated-read": "false"}, []string{"open"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := probe{t, test.p.Server}
			assert.Equal(t, test.want, keysOf(t, p.as(test.headers, "POST", "/indexes/secured/docs/search", `{"search":"*"}`)), "all")
			assert.Equal(t, test.want, keysOf(t, p.as(test.headers, "POST", "/indexes/secured/docs/search", `{"search":"plan"}`)), "text")
			assert.Equal(t, test.want, keysOf(t, p.as(test.headers, "GET", "/indexes/secured/docs?search=*", "")), "GET")
			assert.Equal(t, test.want, keysOf(t, p.as(test.headers, "POST", "/indexes/secured/docs/suggest", `{"search":"pla","suggesterName":"s"}`)), "suggestions")
			completed := p.as(test.headers, "POST", "/indexes/secured/docs/autocomplete", `{"search":"pla","suggesterName":"s","autocompleteMode":"twoTerms"}`).body
			facets := p.as(test.headers, "POST", "/indexes/secured/docs/search", `{"facets":["title"],"top":0,"count":true}`).body
			assert.Equal(t, len(test.want), strings.Count(facets, `"value":"plan `), facets)
			for _, key := range []string{"open", "alice", "team", "scope", "nobody"} {
				seen := slices.Contains(test.want, key)
				assert.Equal(t, seen, strings.Contains(completed, `"plan `+key+`"`), "%s in %s", key, completed)
				assert.Equal(t, map[bool]int{true: 200, false: 404}[seen], p.as(test.headers, "GET", "/indexes/secured/docs/"+key, "").status, key)
			}
			// The client's own filter can only narrow the result.
			assert.Equal(t, []string{"open"}, keysOf(t, p.as(test.headers, "POST", "/indexes/secured/docs/search", `{"filter":"id eq 'open' or id eq 'nothing'"}`)))
			assert.Equal(t, test.want, keysOf(t, p.as(test.headers, "POST", "/indexes/secured/docs/search", `{"filter":"true or id eq 'alice'"}`)))
			// Counts and statistics cover all documents.
			assert.Contains(t, p.as(test.headers, "GET", "/indexes/secured/docs/$count", "").body, "5")
		})
	}
}

func TestElevatedReadsAreNotForKeys(t *testing.T) {
	p := newSecured(t, nil)
	headers := map[string]string{"x-ms-enable-elevated-read": "true"}
	p.as(headers, "POST", "/indexes/secured/docs/search", `{}`).refuses(t, http.StatusForbidden, "elevatedOperations/read")
	p.as(headers, "GET", "/indexes/secured/docs/open", "").refuses(t, http.StatusForbidden, "elevatedOperations/read")
}

func TestPermissionsThatCannotBeEvaluatedShowNothing(t *testing.T) {
	p := newSecured(t, func(string) (string, []string, []string, error) {
		return "", nil, nil, errors.New("the directory is away")
	})
	p.as(map[string]string{"x-ms-query-source-authorization": "x"}, "POST", "/indexes/secured/docs/search", `{}`).refuses(t, http.StatusServiceUnavailable, "the directory is away")
	for _, bad := range []string{"x", "a.b.c", jwt(`{}`), jwt(`[`)} {
		newSecured(t, nil).as(map[string]string{"x-ms-query-source-authorization": bad}, "POST", "/indexes/secured/docs/search", `{}`).refuses(t, http.StatusServiceUnavailable, "could not be evaluated")
	}
}

func TestOnlyEnabledPermissionFiltersTrim(t *testing.T) {
	p := newSecured(t, nil)
	require.Equal(t, http.StatusOK, p.send(http.MethodPut, "/indexes/secured?api-version=2026-10-01", strings.Replace(secured, `"enabled"`, `"disabled"`, 1)).status)
	assert.Len(t, keysOf(t, p.as(nil, "POST", "/indexes/secured/docs/search", `{}`)), 5)
	require.Equal(t, http.StatusOK, p.send(http.MethodPut, "/indexes/secured?api-version=2026-10-01", secured).status)
	// A version without permission filters ignores the token and still removes restricted documents.
	for _, path := range []string{"/indexes/secured/docs/search?api-version=2026-04-01", "/indexes/secured/docs/search?api-version=2024-07-01"} {
		assert.Equal(t, []string{"open"}, keysOf(t, p.as(token(`{"oid":"alice"}`), "POST", path, `{}`)))
	}
}
