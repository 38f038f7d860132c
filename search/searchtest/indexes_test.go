package searchtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// caller sends requests with a base address and headers.
type caller struct {
	t   *testing.T
	srv *Server
}

// answer is a reply with its body.
type answer struct {
	status int
	header http.Header
	body   string
}

func newCaller(t *testing.T) caller {
	t.Helper()
	srv := NewServer(nil)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	return caller{t, srv}
}

// call sends a request; headers are "Name: value".
func (c caller) call(method, path, body string, headers ...string) answer {
	c.t.Helper()
	if !strings.Contains(path, "api-version=") {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + "api-version=" + latest.String()
	}
	r, err := http.NewRequest(method, c.srv.URL()+path, strings.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("api-key", AdminKey)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := c.srv.Transport().RoundTrip(r)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return answer{resp.StatusCode, resp.Header, string(reply)}
}

// want fails the test unless the reply has this status and its body contains text.
func (a answer) want(t *testing.T, status int, text string) answer {
	t.Helper()
	require.Equal(t, status, a.status, "%s", a.body)
	require.Contains(t, a.body, text)
	return a
}

// etag is the entity tag in the body, with its quotes.
func (a answer) etag(t *testing.T) string {
	t.Helper()
	var index struct {
		Tag string `json:"@odata.etag"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &index))
	require.NotEmpty(t, index.Tag)
	return index.Tag
}

const small = `{"name":"small","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"title","type":"Edm.String"}]}`

// smaller is small with more members.
func smaller(members string) string { return strings.TrimSuffix(small, "}") + "," + members + "}" }

func TestCreateSaysWhereTheIndexIs(t *testing.T) {
	c := newCaller(t)
	a := c.call("POST", "/indexes", small).want(t, 201, `"name":"small"`)
	require.Equal(t, c.srv.URL()+"/indexes('small')?api-version="+latest.String(), a.header.Get("Location"))
	require.Equal(t, a.etag(t), a.header.Get("ETag"))
	require.Contains(t, a.body, `{"@odata.context":"https://searchtest.search.windows.net/$metadata#indexes/$entity","@odata.etag":"\"0x`)
	c.call("GET", "/indexes/small", "").want(t, 200, a.body)
	c.call("GET", "/indexes('small')", "").want(t, 200, a.body)
}

func TestCreateDoesNotReplace(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/indexes", small).want(t, 201, "")
	before := c.call("GET", "/indexes/small", "")
	a := c.call("POST", "/indexes", small).want(t, 409, `"code":"ResourceNameAlreadyInUse"`)
	require.Contains(t, a.body, "Cannot create index 'small' because it already exists.")
	require.Contains(t, a.body, `"details":[{"code":"CannotCreateExistingIndex"`)
	require.Equal(t, before.body, c.call("GET", "/indexes/small", "").body)
}

func TestPutCreatesThenUpdates(t *testing.T) {
	c := newCaller(t)
	a := c.call("PUT", "/indexes('small')", small).want(t, 201, "")
	require.NotEmpty(t, a.header.Get("Location"))
	b := c.call("PUT", "/indexes('small')", smaller(`"corsOptions":{"allowedOrigins":["*"]}`)).want(t, 200, `"allowedOrigins":["*"]`)
	require.Empty(t, b.header.Get("Location"))
	require.NotEqual(t, a.etag(t), b.etag(t), "every change makes a new tag")
	require.Equal(t, b.etag(t), b.header.Get("ETag"))
	c.call("GET", "/indexes('small')", "").want(t, 200, b.body)
}

func TestPutTakesWhatGetReturned(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/indexes", smaller(`"suggesters":[{"name":"sg","sourceFields":["title"]}],"scoringProfiles":[{"name":"p","text":{"weights":{"title":2}}}]`)).want(t, 201, "")
	got := c.call("GET", "/indexes('small')", "")
	put := c.call("PUT", "/indexes('small')", got.body, "If-Match: "+got.etag(t)).want(t, 200, "")
	require.Equal(t, tagPattern.ReplaceAllString(got.body, ""), tagPattern.ReplaceAllString(put.body, ""))
}

func TestPutOfAnotherNameIsRefused(t *testing.T) {
	c := newCaller(t)
	c.call("PUT", "/indexes('big')", small).want(t, 400, "The index name 'small' in the request payload does not match the name 'big' in the request URL.")
	c.call("GET", "/indexes('big')", "").want(t, 404, "")
	c.call("GET", "/indexes('small')", "").want(t, 404, "")
}

func TestMinimalPreferenceGetsNoBody(t *testing.T) {
	c := newCaller(t)
	for _, first := range []bool{true, false} {
		a := c.call("PUT", "/indexes('small')", small, "Prefer: return=minimal")
		require.Equal(t, 204, a.status)
		require.Empty(t, a.body)
		require.NotEmpty(t, a.header.Get("ETag"))
		require.Equal(t, "return=minimal", a.header.Get("Preference-Applied"))
		require.Equal(t, first, a.header.Get("Location") != "")
	}
	c.call("PUT", "/indexes('small')", small, "Prefer: return=representation").want(t, 200, `"name":"small"`)
}

func TestConditionsDecideAboutPut(t *testing.T) {
	c := newCaller(t)
	const failed = "The precondition given in one of the request headers evaluated to false. No change was made to the resource from this request."
	c.call("PUT", "/indexes('small')", small, "If-Match: *").want(t, 412, failed)
	c.call("PUT", "/indexes('small')", small, `If-Match: "0x1"`).want(t, 412, failed)
	c.call("GET", "/indexes('small')", "").want(t, 404, "")
	first := c.call("PUT", "/indexes('small')", small, "If-None-Match: *").want(t, 201, "").etag(t)
	c.call("PUT", "/indexes('small')", small, "If-None-Match: *").want(t, 412, failed)
	second := c.call("PUT", "/indexes('small')", small, "If-Match: "+first).want(t, 200, "").etag(t)
	c.call("PUT", "/indexes('small')", small, "If-Match: "+first).want(t, 412, failed)
	c.call("PUT", "/indexes('small')", small, "If-None-Match: "+second).want(t, 412, failed)
	third := c.call("PUT", "/indexes('small')", small, "If-Match: W/"+second).want(t, 200, "").etag(t)
	fourth := c.call("PUT", "/indexes('small')", small, `If-Match: "0x1", `+third).want(t, 200, "").etag(t)
	require.Equal(t, fourth, c.call("GET", "/indexes('small')", "").etag(t), "failed requests have changed nothing")
	c.call("PUT", "/indexes('small')", small, "If-Match: *").want(t, 200, "")
}

func TestConditionsDecideAboutDelete(t *testing.T) {
	c := newCaller(t)
	c.call("DELETE", "/indexes('small')", "", "If-Match: *").want(t, 412, "precondition")
	first := c.call("PUT", "/indexes('small')", small).etag(t)
	second := c.call("PUT", "/indexes('small')", small).etag(t)
	c.call("DELETE", "/indexes('small')", "", "If-Match: "+first).want(t, 412, "precondition")
	a := c.call("DELETE", "/indexes('small')", "", "If-Match: "+second)
	require.Equal(t, 204, a.status)
	require.Empty(t, a.body)
	c.call("DELETE", "/indexes('small')", "").want(t, 404, "No index with the name 'small' was found in a service named 'searchtest'.")
	c.call("GET", "/indexes('small')", "").want(t, 404, "No index with the name 'small' was found in the service 'searchtest'.")
}

func TestDeleteTakesTheDocumentsAlong(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/indexes", small)
	c.call("POST", "/indexes('small')/docs/search.index", `{"value":[{"id":"1"}]}`).want(t, 200, "")
	require.Equal(t, 204, c.call("DELETE", "/indexes('small')", "").status)
	c.call("POST", "/indexes", small).want(t, 201, "")
	c.call("GET", "/indexes('small')/docs/$count", "").want(t, 200, "\ufeff0")
}

func TestListIsSortedAndKnowsTheTags(t *testing.T) {
	c := newCaller(t)
	c.call("GET", "/indexes", "").want(t, 200, `$metadata#indexes","value":[]}`)
	for _, name := range []string{"c-1", "a-1", "b-1"} {
		c.call("POST", "/indexes", strings.Replace(small, "small", name, 1)).want(t, 201, "")
	}
	a := c.call("GET", "/indexes", "")
	var list struct {
		Context string `json:"@odata.context"`
		Value   []struct {
			Tag  string `json:"@odata.etag"`
			Name string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &list))
	require.Len(t, list.Value, 3)
	for i, name := range []string{"a-1", "b-1", "c-1"} {
		require.Equal(t, name, list.Value[i].Name)
		require.Equal(t, c.call("GET", "/indexes/"+name, "").etag(t), list.Value[i].Tag)
	}
	require.NotContains(t, a.body[20:], "@odata.context", "only the list itself has one")
}

func TestListShowsWhatIsSelected(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/indexes", small)
	for _, query := range []string{"$select=name", "%24select=name", "$select=%20name%20", "$select=name,name"} {
		a := c.call("GET", "/indexes?"+query, "")
		require.Equal(t, `{"@odata.context":"https://searchtest.search.windows.net/$metadata#indexes(name)","value":[{"name":"small"}]}`, a.body, query)
	}
	c.call("GET", "/indexes?$select=suggesters,name", "").want(t, 200, `#indexes(suggesters,name)","value":[{"name":"small","suggesters":[]}]}`)
	c.call("GET", "/indexes?$select=*", "").want(t, 200, `#indexes","value":[{"@odata.etag":`)
	c.call("GET", "/indexes?$select=nope", "").want(t, 400, `Could not find a property named 'nope' on type 'Microsoft.Azure.Search.V2026_10_01.IndexDefinition'.\r\nParameter name: $select`)
	c.call("GET", "/indexes?$select=description&api-version=2020-06-30", "").want(t, 400, "'description'")
}

func TestMetadataNoneHasNoContext(t *testing.T) {
	c := newCaller(t)
	const none = "Accept: application/json;odata.metadata=none"
	for path, method := range map[string]string{"/indexes": "POST", "/indexes('small')": "GET", "/indexes?x=1": "GET", "/servicestats": "GET", "/indexes('small')/search.stats": "GET"} {
		if method == "GET" {
			c.call("PUT", "/indexes('small')", small)
		}
		body := ""
		if method == "POST" {
			body = strings.Replace(small, "small", "other", 1)
		}
		a := c.call(method, path, body, none)
		require.Less(t, a.status, 300, a.body)
		require.NotContains(t, a.body, "@odata.context", path)
		require.True(t, json.Valid([]byte(a.body)), path)
		require.Equal(t, "application/json; odata.metadata=none; odata.streaming=true; charset=utf-8", a.header.Get("Content-Type"))
	}
	c.call("GET", "/indexes('small')", "", none).want(t, 200, `{"@odata.etag":"\"0x`)
}

func TestStatisticsCountWhatIsThere(t *testing.T) {
	c := newCaller(t)
	const vector = `,{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":3,"vectorSearchProfile":"p"}`
	c.call("POST", "/indexes", `{"name":"index","fields":[{"name":"id","type":"Edm.String","key":true}`+vector+strings.NewReplacer(`"v"`, `"w"`, "Single", "SByte").Replace(vector)+
		strings.NewReplacer(`"v"`, `"x"`, "Single", "Half").Replace(vector)+`],"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a"}]}}`).want(t, 201, "")
	c.call("POST", "/indexes", small)
	c.call("GET", "/indexes('index')/search.stats", "").want(t, 200, `IndexStatistics","documentCount":0,"storageSize":0,"vectorIndexSize":0}`)
	c.call("POST", "/indexes('index')/docs/search.index", `{"value":[{"id":"1","v":[1,2,3],"w":[1,2,3]},{"id":"2","v":[1,2,3]},{"id":"3","x":[1,2,3]}]}`).want(t, 200, "")
	c.call("POST", "/indexes('small')/docs/search.index", `{"value":[{"id":"1"}]}`).want(t, 200, "")
	for _, path := range []string{"/indexes('index')/search.stats", "/indexes/index/stats"} {
		c.call("GET", path, "").want(t, 200, `"documentCount":3,"storageSize":`).want(t, 200, `"vectorIndexSize":33}`)
	}
	require.NotContains(t, c.call("GET", "/indexes('index')/search.stats?api-version=2020-06-30", "").body, "vectorIndexSize")
	c.call("GET", "/indexes('nope')/search.stats", "").want(t, 404, "No index with the name 'nope' was found in the service 'searchtest'.")

	var stats struct {
		Counters map[string]struct{ Usage int64 }
		Limits   map[string]*int64
	}
	require.NoError(t, json.Unmarshal([]byte(c.call("GET", "/servicestats", "").body), &stats))
	require.EqualValues(t, 4, stats.Counters["documentCount"].Usage)
	require.EqualValues(t, 2, stats.Counters["indexesCount"].Usage)
	require.EqualValues(t, 33, stats.Counters["vectorIndexSize"].Usage)
	require.Positive(t, stats.Counters["storageSize"].Usage)
	require.EqualValues(t, 1000, *stats.Limits["maxFieldsPerIndex"])
	require.Contains(t, stats.Counters, "aliasesCount")
	require.NotContains(t, c.call("GET", "/servicestats?api-version=2025-09-01", "").body, "aliasesCount")
}

func TestQueryKeysMayNotSeeDefinitions(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/indexes", small)
	for path, method := range map[string]string{"/indexes": "GET", "/indexes('small')": "GET", "/indexes('small')/search.stats": "GET", "/servicestats": "GET"} {
		require.Equal(t, 403, c.call(method, path, "", "api-key: "+QueryKey).status, path)
	}
	require.Equal(t, 403, c.call("DELETE", "/indexes('small')", "", "api-key: "+QueryKey).status)
	c.call("GET", "/indexes('small')", "").want(t, 200, "")
}

func TestCreateIndexReportsWhatTheServiceSays(t *testing.T) {
	c := newCaller(t)
	require.NoError(t, c.srv.CreateIndex(small))
	require.ErrorContains(t, c.srv.CreateIndex([]byte(small)), "already exists")
	require.ErrorContains(t, c.srv.CreateIndex(map[string]any{"name": "x1", "fields": []any{}}), "Found 0 key fields in index 'x1'")
}
