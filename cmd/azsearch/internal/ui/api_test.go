package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

type stateReply struct {
	Started  string        `json:"started"`
	Indexes  []indexState  `json:"indexes"`
	Faults   faultsInForce `json:"faults"`
	Requests []requestLine `json:"requests"`
	All      bool          `json:"all"`
}

type documentsReply struct {
	Count     int              `json:"count"`
	Documents []listedDocument `json:"documents"`
}

func TestSessionHasAKeyThatOnlyReads(t *testing.T) {
	for _, c := range []struct {
		opts Options
		key  string
	}{{Options{}, searchtest.QueryKey}, {Options{QueryKey: "reader"}, "reader"}} {
		r := show(t, c.opts).send("GET", "/_ui/session", "")
		assert.Contains(t, r.body, `"queryKey":"`+c.key+`"`)
		assert.Contains(t, r.body, `"apiVersion":"2026-10-01"`)
		assert.NotContains(t, r.body, searchtest.AdminKey)
	}
}

func TestStateFollowsTheIndexes(t *testing.T) {
	s := show(t, Options{})
	first := get[stateReply](s, "/_ui/state")
	require.Len(t, first.Indexes, 1)
	assert.Equal(t, "hotels", first.Indexes[0].Name)
	assert.Zero(t, first.Indexes[0].Documents)
	assert.NotEmpty(t, first.Started)

	s.upload(`{"id":"1"}`, `{"id":"2"}`)
	second := get[stateReply](s, "/_ui/state")
	assert.EqualValues(t, 2, second.Indexes[0].Documents)
	assert.Equal(t, first.Indexes[0].Revision, second.Indexes[0].Revision)
	assert.NotEqual(t, first.Indexes[0].Changes, second.Indexes[0].Changes)
	s.upload(`{"id":"2","name":"other"}`)
	third := get[stateReply](s, "/_ui/state")
	assert.EqualValues(t, 2, third.Indexes[0].Documents)
	assert.NotEqual(t, second.Indexes[0].Changes, third.Indexes[0].Changes, "the changed document existed before")
	assert.Equal(t, first.Started, second.Started)
	assert.NotEqual(t, first.Started, get[stateReply](show(t, Options{}), "/_ui/state").Started)

	definition := get[json.RawMessage](s, "/_ui/definition?index=hotels")
	assert.Contains(t, string(definition), `"retrievable":false`)
	changed := strings.Replace(string(definition), `"fields":[`, `"fields":[{"name":"stars","type":"Edm.Int32"},`, 1)
	r := s.send("PUT", "/indexes('hotels')?api-version=2026-10-01", changed, "Api-Key", searchtest.AdminKey, "Content-Type", "application/json")
	require.Equal(t, http.StatusOK, r.StatusCode, r.body)
	assert.NotEqual(t, first.Indexes[0].Revision, get[stateReply](s, "/_ui/state").Indexes[0].Revision)
	assert.Contains(t, string(get[json.RawMessage](s, "/_ui/definition?index=hotels")), "stars")

	before := get[stateReply](s, "/_ui/state").Indexes[0].Revision
	require.Equal(t, http.StatusNoContent, s.send("DELETE", "/indexes('hotels')?api-version=2026-04-01", "", "Api-Key", searchtest.AdminKey).StatusCode)
	require.NoError(t, s.CreateIndex(changed))
	assert.NotEqual(t, before, get[stateReply](s, "/_ui/state").Indexes[0].Revision, "the revision is that of another index with the same definition")

	empty := searchtest.NewServer(nil)
	empty.Intercept(New(empty, Options{}).Intercept)
	r = shown{t, empty, &http.Client{Transport: empty.Transport()}}.send("GET", "/_ui/state", "")
	assert.Contains(t, r.body, `"indexes":[]`, "a list, for scripts to walk")
	assert.Contains(t, r.body, `"requests":[]`)
}

func TestDefinitionsOfEveryKindAreListedWithoutTheirSecrets(t *testing.T) {
	s := show(t, Options{})
	assert.Contains(t, s.send("GET", "/_ui/state", "").body, `"others":[]`)
	for path, definition := range map[string]string{
		"datasources": `{"name":"blobs","type":"azureblob","credentials":{"connectionString":"AccountKey=secret"},"container":{"name":"c"}}`,
		"synonymmaps": `{"name":"words","format":"solr","synonyms":"a => b"}`,
	} {
		r := s.send("POST", "/"+path+"?api-version=2026-04-01", definition, "Api-Key", searchtest.AdminKey, "Content-Type", "application/json")
		require.Equal(t, http.StatusCreated, r.StatusCode, r.body)
	}
	assert.Contains(t, s.send("GET", "/_ui/state", "").body, `"others":[{"kind":"dataSources","names":["blobs"]},{"kind":"synonymMaps","names":["words"]}]`)
	source := s.send("GET", "/_ui/definition?kind=dataSources&name=blobs", "").body
	assert.Contains(t, source, `"azureblob"`)
	assert.NotContains(t, source, "secret")
	assert.Contains(t, s.send("GET", "/_ui/definition?kind=synonymMaps&name=words", "").body, "a =\\u003e b")
	for _, query := range []string{"kind=dataSources&name=none", "kind=none&name=blobs", "kind=dataSources"} {
		assert.Equal(t, http.StatusNotFound, s.send("GET", "/_ui/definition?"+query, "").StatusCode, query)
	}
}

func TestDocumentsAreGivenPageByPageWithWhatQueriesHide(t *testing.T) {
	s := show(t, Options{})
	for i := range 5 {
		s.upload(fmt.Sprintf(`{"id":"%d","notes":"secret %d"}`, 9-i, i))
	}
	page := get[documentsReply](s, "/_ui/documents?index=hotels&skip=1&top=2")
	assert.Equal(t, 5, page.Count)
	require.Len(t, page.Documents, 2)
	assert.Equal(t, "8", page.Documents[0].Key, "documents are in the order of writing")
	assert.JSONEq(t, `{"id":"8","name":null,"notes":"secret 1"}`, string(page.Documents[0].Document))
	assert.Len(t, get[documentsReply](s, "/_ui/documents?index=hotels&skip=4&top=100").Documents, 1)
	assert.Len(t, get[documentsReply](s, "/_ui/documents?index=hotels").Documents, 1)
	assert.Empty(t, get[documentsReply](s, "/_ui/documents?index=hotels&skip=1000").Documents)
	assert.Contains(t, s.send("GET", "/_ui/documents?index=hotels&skip=1000", "").body, `"documents":[]`)

	for _, wrong := range []string{"skip=-1", "skip=x", "top=0", "top=101", "top=1e1", "skip=99999999999999999999"} {
		r := s.send("GET", "/_ui/documents?index=hotels&"+wrong, "")
		assert.Equal(t, http.StatusBadRequest, r.StatusCode, wrong)
		assert.Contains(t, r.body, "is not a number", wrong)
	}
	for _, path := range []string{"/_ui/documents?index=none", "/_ui/documents", "/_ui/definition?index=none", "/_ui/definition"} {
		assert.Equal(t, http.StatusNotFound, s.send("GET", path, "").StatusCode, path)
	}
}

func TestOfLargeDocumentsAListHasTheBeginningOnly(t *testing.T) {
	s := show(t, Options{})
	named := func(key string, size int) string {
		const rest = len(`{"id":"1","name":"","notes":null}`)
		return `{"id":"` + key + `","name":"` + strings.Repeat("x", size-rest) + `"}`
	}
	s.upload(named("1", mostWhole), named("2", mostWhole+1))
	const third = mostRead - mostWhole - (mostWhole + 1) // just enough for these three
	s.upload(named("3", third))
	s.upload(named("4", mostWhole), named("5", 10*mostWhole))

	r := s.send("GET", "/_ui/documents?index=hotels&top=100", "")
	var page documentsReply
	require.NoError(t, json.Unmarshal([]byte(r.body), &page))
	require.Len(t, page.Documents, 5)
	assert.Less(t, len(r.body), 2*mostWhole)
	for i, want := range []struct{ document, beginning int }{{mostWhole, 0}, {0, beginningBytes}, {0, beginningBytes}, {0, 0}, {0, 0}} {
		got := page.Documents[i]
		assert.Equal(t, want.document, len(got.Document), got.Key)
		assert.Equal(t, want.beginning, len(got.Beginning), got.Key)
	}
	assert.True(t, strings.HasPrefix(page.Documents[1].Beginning, `{"id":"2","name":"xx`))
	assert.Equal(t, third, len(get[json.RawMessage](s, "/_ui/document?index=hotels&key=3")))
	for _, path := range []string{"/_ui/document", "/_ui/document?index=hotels", "/_ui/document?index=hotels&key=6", "/_ui/document?index=none&key=1"} {
		assert.Equal(t, http.StatusNotFound, s.send("GET", path, "").StatusCode, path)
	}
}

func TestRepliesHoldNoMarkup(t *testing.T) {
	s := show(t, Options{})
	text, err := json.Marshal(hostileText)
	require.NoError(t, err)
	s.upload(`{"id":"1","name":` + string(text) + `}`)
	s.send("GET", "/indexes('"+strings.ReplaceAll(hostileText, " ", "%20")+"')?api-version=2026-04-01", "")
	for _, path := range []string{"/_ui/documents?index=hotels", "/_ui/document?index=hotels&key=1", "/_ui/state", "/_ui/requests/1", "/_ui/requests/2", "/_ui/documents?index=hotels&top=" + "<script>"} {
		r := s.send("GET", path, "")
		assert.NotContains(t, r.body, "<", path)
		assert.Contains(t, r.body, `\u003cscript`, path)
	}
}

func TestRequestsAreGivenOnceInTheOrderOfTheirAnswers(t *testing.T) {
	s := show(t, Options{})
	first := get[stateReply](s, "/_ui/state")
	assert.Empty(t, first.Requests, "reads of the page are not logged")
	assert.True(t, first.All)

	s.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, After: 1, Count: 1, Status: 503}, {Operation: searchtest.OpCountDocuments, Cut: searchtest.CutAfterCommit}}})
	s.upload(`{"id":"1"}`, `{"id":"2"}`)
	r := s.send("POST", "/indexes/hotels/docs/index?api-version=2026-04-01", `{"value":[{"id":"3"}]}`, "Api-Key", searchtest.AdminKey, "Content-Type", "application/json")
	require.Equal(t, 503, r.StatusCode)
	_, err := s.client.Do(request(t, "GET", "/indexes('hotels')/docs/$count", http.NoBody))
	require.Error(t, err)

	got := get[stateReply](s, "/_ui/state?after=0")
	require.Len(t, got.Requests, 3)
	assert.True(t, got.All)
	one, two, three := got.Requests[0], got.Requests[1], got.Requests[2]
	assert.EqualValues(t, 1, one.Seq)
	assert.Equal(t, []any{"POST", "/indexes('hotels')/docs/search.index", "indexDocuments", "hotels", 2, 200, false, ""},
		[]any{one.Method, one.Path, one.Operation, one.Index, one.Actions, one.Status, one.Fault, one.Error})
	assert.Equal(t, []any{503, true, ""}, []any{two.Status, two.Fault, two.Error})
	assert.True(t, three.Fault)
	assert.Contains(t, three.Error, "reset")
	assert.WithinDuration(t, time.Now(), three.Time, time.Minute)

	after := get[stateReply](s, "/_ui/state?after=2")
	assert.False(t, after.All)
	require.Len(t, after.Requests, 1)
	assert.EqualValues(t, 3, after.Requests[0].Seq)
	assert.Empty(t, get[stateReply](s, "/_ui/state?after=3").Requests)
	assert.False(t, get[stateReply](s, "/_ui/state?after=3").All)
	assert.Equal(t, http.StatusBadRequest, s.send("GET", "/_ui/state?after=-1", "").StatusCode)
}

// A arrives and waits, B arrives and is answered, the page reads B, then A is answered. A has a lower number than B
// but must still be shown.
func TestASlowRequestIsNotMissed(t *testing.T) {
	p := New(searchtest.NewServer(nil), Options{})
	release, arrived := make(chan struct{}), make(chan struct{})
	a := request(t, "POST", "/indexes/none/docs/index", &blocked{arrived: arrived, release: release})
	slow := make(chan error)
	go func() {
		_, err := p.srv.Do(a)
		slow <- err
	}()
	<-arrived
	_, err := p.srv.Do(request(t, "GET", "/indexes", http.NoBody))
	require.NoError(t, err)
	lines, all := p.requestsAfter(0)
	require.Len(t, lines, 1)
	assert.True(t, all)
	assert.EqualValues(t, 2, lines[0].Seq)
	close(release)
	require.NoError(t, <-slow)
	lines, all = p.requestsAfter(2)
	require.Len(t, lines, 1)
	assert.False(t, all)
	assert.EqualValues(t, 1, lines[0].Seq)
}

// request returns a client's request with a key.
func request(t *testing.T, method, path string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, host+path+"?api-version=2026-04-01", body)
	require.NoError(t, err)
	req.Header.Set("Api-Key", searchtest.AdminKey)
	req.Header.Set("Content-Type", "application/json")
	return req
}

// blocked is a body that ends when it is released.
type blocked struct {
	arrived, release chan struct{}
	once             bool
}

func (b *blocked) Read([]byte) (int, error) {
	if !b.once {
		b.once = true
		close(b.arrived)
	}
	<-b.release
	return 0, io.EOF
}

func (b *blocked) Close() error { return nil }

func TestARequestIsReportedWithItsHeadersAndTheBeginningOfItsBody(t *testing.T) {
	s := show(t, Options{})
	s.upload(`{"id":"1","name":"` + strings.Repeat("é", KeepBodies) + `"}`)
	s.send("GET", "/indexes('hotels')/docs('1')?api-version=2026-04-01&api-key="+searchtest.QueryKey, "", "X-Ms-Client-Request-Id", "mine")

	got := get[requestDetails](s, "/_ui/requests/1")
	assert.Equal(t, "/indexes('hotels')/docs/search.index", got.Path)
	assert.Contains(t, got.URL, "api-version=2026-04-01")
	assert.NotEmpty(t, got.RequestID)
	assert.Greater(t, got.BodyBytes, int64(KeepBodies))
	assert.True(t, strings.HasPrefix(got.Body, `{"value":[{"id":"1","name":"éé`))
	assert.LessOrEqual(t, len(got.Body), KeepBodies+2, "a character that was cut through is replaced")
	var names []string
	for _, h := range got.Headers {
		names = append(names, h.Name)
		assert.NotContains(t, h.Value, searchtest.AdminKey)
	}
	assert.Equal(t, []string{"Content-Type", "X-Test"}, names)

	got = get[requestDetails](s, "/_ui/requests/2")
	assert.Equal(t, "mine", got.ClientRequestID)
	assert.NotContains(t, got.URL, searchtest.QueryKey)
	for _, seq := range []string{"0", "3", "x", "01", "18446744073709551616"} {
		assert.Equal(t, http.StatusNotFound, s.send("GET", "/_ui/requests/"+seq, "").StatusCode, seq)
	}
}

func TestFaultsArePutInForceAndEnded(t *testing.T) {
	s := show(t, Options{})
	const script = "{\"rules\": [\n  {\"operation\": \"countDocuments\", \"status\": 503, \"retryAfter\": \"7s\"}\n]}"
	count := func() reply {
		return s.send("GET", "/indexes('hotels')/docs/$count?api-version=2026-04-01", "", "Api-Key", searchtest.QueryKey)
	}
	r := s.send("PUT", "/_ui/faults", script)
	require.Equal(t, http.StatusOK, r.StatusCode, r.body)
	var inForce faultsInForce
	require.NoError(t, json.Unmarshal([]byte(r.body), &inForce))
	assert.Equal(t, script, inForce.Script, "the script is unchanged")
	assert.Equal(t, inForce, get[stateReply](s, "/_ui/state").Faults)
	failed := count()
	assert.Equal(t, 503, failed.StatusCode)
	assert.Equal(t, "7", failed.Header.Get("Retry-After"))

	r = s.send("PUT", "/_ui/faults", `{"rules":[{"operation":"fly","status":503},{"statsu":1}]}`)
	assert.Equal(t, http.StatusBadRequest, r.StatusCode)
	var refusal struct{ Errors []string }
	require.NoError(t, json.Unmarshal([]byte(r.body), &refusal))
	require.Len(t, refusal.Errors, 2, "each problem is reported separately")
	assert.Contains(t, refusal.Errors[0]+refusal.Errors[1], `unknown field "statsu"`)
	assert.Contains(t, refusal.Errors[0]+refusal.Errors[1], `"fly" is unknown`)
	for _, wrong := range []string{"", "{", "[]", "{} {}"} {
		assert.Equal(t, http.StatusBadRequest, s.send("PUT", "/_ui/faults", wrong).StatusCode, wrong)
	}
	assert.Equal(t, http.StatusRequestEntityTooLarge, s.send("PUT", "/_ui/faults", strings.Repeat(" ", mostScript+1)).StatusCode)
	assert.Equal(t, 503, count().StatusCode, "the previous rules stay")

	assert.Equal(t, http.StatusOK, s.send("DELETE", "/_ui/faults", "").StatusCode)
	assert.Empty(t, get[stateReply](s, "/_ui/state").Faults.Script)
	assert.Equal(t, http.StatusOK, count().StatusCode)
}

func TestTheScriptOfTheStartIsShown(t *testing.T) {
	s := show(t, Options{Faults: `{"rules":[{"status":503}]}`})
	assert.Equal(t, `{"rules":[{"status":503}]}`, get[stateReply](s, "/_ui/state").Faults.Script)
}

func TestAScriptHasALabelHoweverItIsSpelled(t *testing.T) {
	for script, label := range map[string]string{
		`{"rules":[{"delay":"1s"}]}`:                          "slow (1 s)",
		`{"Rules":[{"DELAY":"1000ms"}]}`:                      "slow (1 s)",
		`{"Rules":[{"status":503,"count":1},{"status":503}]}`: "a script of 2 rules",
		`{"rules":[{"status":502}]}`:                          "a script of 1 rule",
		`{}`:                                                  "a script of 0 rules",
		`{"rules":[{"status":502}],"capacity":{"documentsPerSecond":1}}`: "a script of 1 rule and a capacity",
	} {
		s := show(t, Options{})
		r := s.send("PUT", "/_ui/faults", script)
		require.Equal(t, http.StatusOK, r.StatusCode, r.body)
		assert.Equal(t, label, get[stateReply](s, "/_ui/state").Faults.Label, script)
		assert.Equal(t, label, get[stateReply](show(t, Options{Faults: script}), "/_ui/state").Faults.Label, script)
		s.send("DELETE", "/_ui/faults", "")
		assert.Empty(t, get[stateReply](s, "/_ui/state").Faults.Label)
	}
}

func TestEveryButtonIsAScript(t *testing.T) {
	require.NotEmpty(t, presets)
	for _, p := range presets {
		_, err := searchtest.ParseFaults(strings.NewReader(string(p.Script)))
		assert.NoError(t, err, p.Label)
	}
	session := get[struct{ Presets []preset }](show(t, Options{}), "/_ui/session")
	assert.Len(t, session.Presets, len(presets))
}

// The test runs the fault of each button and sends the requests that it matches.
func TestButtonsDoWhatTheySay(t *testing.T) {
	small := []string{`{"id":"1"}`, `{"id":"2"}`}
	large := []string{`{"id":"1","name":"` + strings.Repeat("x", 100_000) + `"}`}
	for label, c := range map[string]struct {
		documents []string
		statuses  []int // of four batches; 0 for a closed connection
	}{
		"503 every 3rd batch":                    {small, []int{200, 200, 503, 200}},
		"429 every 2nd request, Retry-After 2 s": {small, []int{200, 429, 200, 429}},
		"207, each document refused once":        {small, []int{207, 200, 200, 200}},
		"cut after commit, every 3rd batch":      {small, []int{200, 200, 0, 200}},
		"413 above 100 KB":                       {large, []int{413, 413, 413, 413}},
		"slow (1 s)":                             {nil, nil}, // the delay of its rule
	} {
		i := indexOfPreset(label)
		require.GreaterOrEqual(t, i, 0, label)
		s := show(t, Options{})
		require.Equal(t, http.StatusOK, s.send("PUT", "/_ui/faults", string(presets[i].Script)).StatusCode, label)
		for n, want := range c.statuses {
			batch := strings.NewReader(`{"value":[` + strings.Join(c.documents, ",") + `]}`)
			resp, err := s.client.Do(request(t, "POST", "/indexes('hotels')/docs/search.index", batch))
			status := 0
			if err == nil {
				status = resp.StatusCode
				require.NoError(t, resp.Body.Close())
			}
			assert.Equal(t, want, status, "%s, batch %d", label, n+1)
		}
	}
	slow, err := searchtest.ParseFaults(strings.NewReader(string(presets[indexOfPreset("slow (1 s)")].Script)))
	require.NoError(t, err)
	assert.EqualValues(t, time.Second, slow.Rules[0].Delay)
}

func indexOfPreset(label string) int {
	for i := range presets {
		if presets[i].Label == label {
			return i
		}
	}
	return -1
}
