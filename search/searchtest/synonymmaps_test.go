package searchtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const names = `{"name":"names","format":"solr","synonyms":"ritz, palace"}`

func TestSynonymMapsAreAnsweredInTheFormOfTheirVersion(t *testing.T) {
	c := newCaller(t)
	a := c.call("POST", "/synonymmaps", names).want(t, 201, "")
	require.Equal(t, c.srv.URL()+"/synonymmaps('names')?api-version="+latest.String(), a.header.Get("Location"))
	require.Equal(t, a.etag(t), a.header.Get("ETag"))
	require.JSONEq(t, fmt.Sprintf(`{"@odata.context":"https://searchtest.search.windows.net/$metadata#synonymmaps/$entity","@odata.etag":%q,
		"name":"names","format":"solr","synonyms":"ritz, palace","encryptionKey":null}`, a.etag(t)), a.body)
	for _, path := range []string{"/synonymmaps('names')", "/synonymmaps/names"} {
		got := c.call("GET", path, "").want(t, 200, a.body)
		require.Equal(t, a.etag(t), got.header.Get("ETag"))
	}
	require.NotContains(t, c.call("GET", "/synonymmaps/names?api-version=2019-05-06", "").body, "encryptionKey")
	c.call("GET", "/synonymmaps/names", "", "Accept: application/json;odata.metadata=none").want(t, 200, `{"@odata.etag":"`)
}

func TestSynonymMapsAreListedByName(t *testing.T) {
	c := newCaller(t)
	for _, name := range []string{"c", "a", "b"} {
		c.call("POST", "/synonymmaps", strings.ReplaceAll(names, "names", name)).want(t, 201, "")
	}
	c.call("GET", "/synonymmaps?$select=name", "").want(t, 200, `/$metadata#synonymmaps(name)","value":[{"name":"a"},{"name":"b"},{"name":"c"}]}`)
	c.call("GET", "/synonymmaps?$select=fields", "").want(t, 400, "Could not find a property named 'fields' on type 'Microsoft.Azure.Search.V2026_10_01.SynonymMap'")
	c.call("GET", "/servicestats", "").want(t, 200, `"synonymMaps":{"usage":3,`)
	c.call("DELETE", "/synonymmaps('b')", "").want(t, 204, "")
	c.call("GET", "/servicestats", "").want(t, 200, `"synonymMaps":{"usage":2,`)
}

func TestSynonymMapsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ body, says string }{
		"no name":                   {`{"format":"solr","synonyms":""}`, "The property 'name' of type 'Microsoft.Azure.Search.V2026_10_01.SynonymMap' is required"},
		"no format":                 {`{"name":"x","synonyms":""}`, "'format'"},
		"no rules":                  {`{"name":"x","format":"solr","synonyms":null}`, "'synonyms'"},
		"another format":            {`{"name":"x","format":"wordnet","synonyms":""}`, "Supported values are: solr."},
		"an unknown member":         {`{"name":"x","format":"solr","synonyms":"","rules":"a"}`, "The property 'rules' does not exist on type"},
		"rules in an array":         {`{"name":"x","format":"solr","synonyms":["a,b"]}`, "'StartArray' node"},
		"a name with a capital":     {`{"name":"X","format":"solr","synonyms":""}`, "Synonym map name must only contain lowercase letters"},
		"a name that is too long":   {`{"name":"` + strings.Repeat("x", 129) + `","format":"solr","synonyms":""}`, "between 1 and 128 characters"},
		"two arrows":                {`{"name":"x","format":"solr","synonyms":"a,b\nc => d => e"}`, "Syntax error in line 2: 'c => d => e'. Only one explicit mapping (=>) can be specified in a synonym rule."},
		"an arrow to nothing":       {`{"name":"x","format":"solr","synonyms":"a =>"}`, "Syntax error in line 1"},
		"rules without end":         {`{"name":"x","format":"solr","synonyms":"` + strings.Repeat(`a,b\n`, 20_000+1) + `"}`, "At most 20000 are allowed"},
		"no JSON":                   {`{"name":`, "Invalid JSON"},
		"a list of maps":            {`[` + names + `]`, "A 'StartObject' node was expected"},
		"an encryption key of text": {`{"name":"x","format":"solr","synonyms":"","encryptionKey":"k"}`, "'StartObject' node was expected"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t)
			c.call("POST", "/synonymmaps", test.body).want(t, 400, test.says)
			c.call("GET", "/synonymmaps", "").want(t, 200, `"value":[]`)
		})
	}
}

func TestRulesThatMayBeThere(t *testing.T) {
	for name, rules := range map[string]string{
		"none": "", "comments": `# a\n\n a, b`, "only commas": `a, b\n,\n ,, `, "a word alone": "a", "Windows' line ends": `a, b\r\nc => d\r\n`,
		"as many as there may be": strings.Repeat(`a,b\n`, 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t)
			c.call("POST", "/synonymmaps", `{"name":"x","format":"solr","synonyms":"`+rules+`"}`).want(t, 201, "")
		})
	}
}

func TestSynonymMapsAreReplacedAndDeletedUnderConditions(t *testing.T) {
	c := newCaller(t)
	const path, other = "/synonymmaps('names')", `{"name":"names","format":"solr","synonyms":"a, b"}`
	c.call("PUT", path, names, "If-Match: *").want(t, 412, "")
	a := c.call("PUT", path, names, "If-None-Match: *").want(t, 201, "ritz")
	c.call("PUT", path, other, "If-None-Match: *").want(t, 412, "")
	b := c.call("PUT", path, other, "If-Match: "+a.etag(t)).want(t, 200, "a, b")
	require.Empty(t, b.header.Get("Location"))
	c.call("PUT", path, names, "If-Match: "+a.etag(t)).want(t, 412, "The precondition given in one of the request headers evaluated to false.")
	c.call("GET", path, "").want(t, 200, "a, b")
	c.call("POST", "/synonymmaps", names).want(t, 409, `"message":"Cannot create synonym map 'names' because it already exists.","details":[{"code":"CannotCreateExistingSynonymMap"`)
	c.call("PUT", "/synonymmaps('other')", names).want(t, 400, "The synonym map name 'names' in the request payload does not match the name 'other' in the request URL.")
	minimal := c.call("PUT", path, names, "Prefer: return=minimal").want(t, 204, "")
	require.Empty(t, minimal.body)
	require.NotEmpty(t, minimal.header.Get("ETag"))
	c.call("DELETE", path, "", "If-Match: "+b.etag(t)).want(t, 412, "")
	c.call("DELETE", path, "", "If-Match: "+minimal.header.Get("ETag")).want(t, 204, "")
	c.call("DELETE", path, "").want(t, 404, "No synonymMap with the name 'names' was found in a service named 'searchtest'.")
	c.call("DELETE", path, "", "If-Match: *").want(t, 412, "")
	c.call("GET", path, "").want(t, 404, "No synonym map with the name 'names' was found in service 'searchtest'.")
}

func TestFieldsNameSynonymMapsThatExist(t *testing.T) {
	c := newCaller(t)
	const index = `{"name":"small","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"c","type":"Edm.ComplexType","fields":[{"name":"title","type":"Edm.String","synonymMaps":["names"]}]}]}`
	const says = "The synonym map 'names' specified in the field 'c/title' does not exist."
	c.call("POST", "/indexes", index).want(t, 400, says)
	c.call("PUT", "/indexes('small')", index).want(t, 400, says)
	c.call("GET", "/indexes", "").want(t, 200, `"value":[]`)
	c.call("POST", "/synonymmaps", names).want(t, 201, "")
	c.call("POST", "/indexes", index).want(t, 201, "")
	// Documented: a map that fields name can be deleted.
	c.call("DELETE", "/synonymmaps('names')", "").want(t, 204, "")
}

func TestQueriesSeeTheRulesOfTheMoment(t *testing.T) {
	c := newCaller(t)
	_, _, found := c.srv.kept.Synonyms("names")
	require.False(t, found)
	c.call("POST", "/synonymmaps", names).want(t, 201, "")
	before, first, found := c.srv.kept.Synonyms("names")
	require.True(t, found)
	require.Equal(t, 1, before.Len())
	c.call("PUT", "/synonymmaps('names')", `{"name":"names","format":"solr","synonyms":"a,b\nc,d"}`).want(t, 200, "")
	after, second, found := c.srv.kept.Synonyms("names")
	require.True(t, found)
	require.Equal(t, 2, after.Len())
	require.NotEqual(t, first, second)
}

func TestOfManyConditionalChangesOneWinsConcurrentSafe(t *testing.T) {
	c := newCaller(t)
	a := c.call("POST", "/synonymmaps", names).want(t, 201, "")
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 8 {
		wg.Go(func() {
			got := probe{t, c.srv}.send(http.MethodPut, "/synonymmaps('names')", names, "If-Match", a.header.Get("ETag"))
			mu.Lock()
			defer mu.Unlock()
			statuses[got.status]++
		})
	}
	wg.Wait()
	assert.Equal(t, map[int]int{200: 1, 412: 7}, statuses)
}

// Authorization, faults and the request log apply to the new operations as well.
func TestDefinitionsMeetKeysFaultsAndTheLog(t *testing.T) {
	p := newProbe(t, nil)
	for _, path := range []string{"/synonymmaps", "/synonymmaps('x')", "/aliases", "/aliases('x')"} {
		assert.Equal(t, 403, p.send("GET", path, "", "Api-Key", QueryKey).status, path)
		assert.Equal(t, 401, p.send("GET", path, "", "Api-Key", "").status, path)
	}
	assert.Equal(t, 403, p.send("POST", "/indexes('types')/analyze", `{"text":"a","analyzer":"simple"}`, "Api-Key", QueryKey).status)
	p.SetFaults(&Faults{Rules: []Fault{{Operation: OpGetSynonymMap, Status: 503}, {Operation: OpListAliases, Status: 429}}})
	assert.Equal(t, 503, p.send("GET", "/synonymmaps('x')", "").status)
	assert.Equal(t, 429, p.send("GET", "/aliases", "").status)
	assert.Equal(t, 200, p.send("GET", "/synonymmaps", "").status)
	log := p.Requests()
	last := log[len(log)-3]
	assert.Equal(t, OpGetSynonymMap, last.Operation)
	assert.Equal(t, "x", last.Name)
	assert.Empty(t, last.Index)
	assert.True(t, last.Fault)
}
