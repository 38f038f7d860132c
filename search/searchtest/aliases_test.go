package searchtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	current = `{"name":"current","indexes":["small"]}`
	hotelsA = `{"value":[{"id":"1","title":"Ritz"}]}`
)

// newAliased returns a service with the indexes small and other and the alias current of small.
func newAliased(t *testing.T) caller {
	c := newCaller(t)
	c.call("POST", "/indexes", small).want(t, 201, "")
	c.call("POST", "/indexes", strings.ReplaceAll(small, `"small"`, `"other"`)).want(t, 201, "")
	c.call("POST", "/aliases", current).want(t, 201, "")
	return c
}

func TestAliasesAreAnsweredAndListed(t *testing.T) {
	c := newAliased(t)
	a := c.call("GET", "/aliases('current')", "").want(t, 200, `/$metadata#aliases/$entity","@odata.etag":"\"0x`)
	require.True(t, strings.HasSuffix(a.body, `","name":"current","indexes":["small"]}`), a.body)
	c.call("GET", "/aliases/current", "").want(t, 200, a.body)
	c.call("GET", "/aliases", "").want(t, 200, `"name":"current","indexes":["small"]}]}`)
	c.call("GET", "/aliases?$select=name", "").want(t, 200, `#aliases(name)","value":[{"name":"current"}]}`)
	c.call("GET", "/servicestats", "").want(t, 200, `"aliasesCount":{"usage":1,`)
	assert.NotContains(t, c.call("GET", "/servicestats?api-version=2025-09-01", "").body, "aliasesCount")
	c.call("POST", "/aliases", current).want(t, 409, "Cannot create alias 'current' because it already exists.")
	c.call("DELETE", "/aliases('current')", "", "If-Match: \"0x1\"").want(t, 412, "")
	c.call("DELETE", "/aliases('current')", "", "If-Match: "+a.etag(t)).want(t, 204, "")
	c.call("DELETE", "/aliases('current')", "").want(t, 404, "No alias with the name 'current' was found in a service named 'searchtest'.")
	c.call("GET", "/aliases('current')", "").want(t, 404, `{"error":{"code":"OperationNotAllowed","message":"The index alias needs to be a valid alias. Alias \u2013 'current' cannot be found within the search service \u2013 'searchtest'.`).
		want(t, 404, `"details":[{"code":"IndexAliasNotFoundInService","message":"The index alias needs`)
}

func TestAnAliasStandsForItsIndexInRequestsOnDocuments(t *testing.T) {
	c := newAliased(t)
	c.call("POST", "/indexes('current')/docs/search.index", hotelsA).want(t, 200, `/indexes('current')/$metadata#`)
	require.EqualValues(t, 1, c.srv.DocumentCount("small"))
	c.call("GET", "/indexes('current')/docs('1')", "").want(t, 200, `"title":"Ritz"`)
	c.call("GET", "/indexes('current')/docs/$count", "").want(t, 200, "1")

	c.call("PUT", "/aliases('current')", `{"name":"current","indexes":["other"]}`).want(t, 200, `["other"]`)
	c.call("GET", "/indexes('current')/docs/$count", "").want(t, 200, "0")
	c.call("GET", "/indexes('small')/docs/$count", "").want(t, 200, "1")
}

func TestAnAliasReadsAndUpdatesTheDefinitionOfItsIndex(t *testing.T) {
	c := newAliased(t)
	a := c.call("GET", "/indexes('current')", "").want(t, 200, `"name":"small"`)
	b := c.call("PUT", "/indexes('current')", smaller(`"corsOptions":{"allowedOrigins":["*"]}`), "If-Match: "+a.etag(t)).want(t, 200, `"name":"small"`)
	c.call("GET", "/indexes('small')", "").want(t, 200, b.body)
	c.call("PUT", "/indexes('current')", strings.ReplaceAll(small, `"small"`, `"current"`)).want(t, 400, "does not match")
}

func TestAnAliasIsNoIndexElsewhere(t *testing.T) {
	c := newAliased(t)
	c.call("DELETE", "/indexes('current')", "").want(t, 404, "No index with the name 'current'")
	c.call("GET", "/indexes('current')/search.stats", "").want(t, 404, "")
	c.call("POST", "/indexes('current')/search.analyze", `{"text":"a","analyzer":"simple"}`).want(t, 404, "")
	c.call("GET", "/indexes?$select=name", "").want(t, 200, `[{"name":"other"},{"name":"small"}]`)
}

// Users saw this when their SDK went from a preview to a stable version.
func TestVersionsWithoutAliasesDoNotSeeThem(t *testing.T) {
	c := newAliased(t)
	for version, knows := range map[string]bool{
		"2026-04-01": true, "2025-11-01-preview": true, "2021-04-30-Preview": true, "2023-07-01-preview": true,
		"2025-09-01": false, "2024-07-01": false, "2020-06-30": false, "2020-06-30-Preview": false, "2019-05-06": false,
	} {
		status := map[bool]int{true: 200, false: 404}[knows]
		c.call("GET", "/aliases?api-version="+version, "").want(t, status, "")
		c.call("GET", "/indexes('current')/docs/$count?api-version="+version, "").want(t, status, "")
		c.call("GET", "/indexes('current')?api-version="+version, "").want(t, status, "")
	}
}

func TestAnIndexWithAnAliasIsNotDeleted(t *testing.T) {
	c := newAliased(t)
	const refusal = "The index 'small' in service 'searchtest' cannot be deleted because the following alias(es) map to it: 'current', 'former'." +
		" Please update the alias(es) to map to a different index or delete them before trying again."
	c.call("POST", "/aliases", `{"name":"former","indexes":["small"]}`).want(t, 201, "")
	c.call("DELETE", "/indexes('small')?api-version=2024-07-01", "").
		want(t, 400, `{"error":{"code":"OperationNotAllowed","message":"`+refusal+`","details":[{"code":"CannotDeleteIndex","message":"`+refusal+`"}]}}`)
	c.call("DELETE", "/aliases('former')", "").want(t, 204, "")
	c.call("GET", "/indexes('small')", "").want(t, 200, "")
	c.call("PUT", "/aliases('current')", `{"name":"current","indexes":["other"]}`).want(t, 200, "")
	c.call("DELETE", "/indexes('small')", "").want(t, 204, "")
}

func TestAliasesThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"no name":     {`{"indexes":["small"]}`, 400, "'name'"},
		"no index":    {`{"name":"x","indexes":[]}`, 400, "An index alias must be mapped to an index. Alias - 'x' is mapped to none within the search service - 'searchtest'."},
		"two indexes": {`{"name":"x","indexes":["small","other"]}`, 400, "Alias - 'x' is being mapped to more than one index within the search service - 'searchtest'. Learn more"},
		"an index of nothing": {
			`{"name":"x","indexes":["none"]}`, 400, `"message":"Index alias was not valid for creation.","details":[{"code":"InvalidIndexAliasMapping","message":"An index alias can be created on an existing index. Index \u2013 'none' was not found`,
		},
		"another alias": {`{"name":"x","indexes":["current"]}`, 400, "'current' was not found within the search service"},
		"the name of an index": {
			`{"name":"other","indexes":["small"]}`, 409, "Cannot create alias 'other' because an index has that name.",
		},
		"an invalid name":   {`{"name":"-x","indexes":["small"]}`, 400, `"InvalidName","message":"The request is invalid. Details: alias : Index alias name must only contain`},
		"an unknown member": {`{"name":"x","indexes":["small"],"index":"small"}`, 400, "'index' does not exist"},
		"a plain index":     {`{"name":"x","indexes":"small"}`, 400, "'StartArray' node was expected"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newAliased(t)
			c.call("POST", "/aliases", test.body).want(t, test.status, test.says)
			c.call("GET", "/aliases?$select=name", "").want(t, 200, `[{"name":"current"}]`)
		})
	}
	c := newAliased(t)
	c.call("POST", "/indexes", strings.ReplaceAll(small, `"small"`, `"current"`)).want(t, 409, "Cannot create index 'current' because an alias has that name.")
}
