package fold_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// tb is a *testing.T or a *rapid.T.
type tb interface {
	require.TestingT
	Helper()
}

// act is an encoded action.
type act struct {
	typ  models.ActionType
	body string
}

// action returns an action on the key "1" with more members, as JSON.
func action(typ models.ActionType, members string) act {
	if members != "" {
		members = "," + members
	}
	return act{typ, fmt.Sprintf(`{"@search.action":"%s","id":"1"%s}`, typ, members)}
}

func upload(members string) act        { return action(models.ActionTypeUpload, members) }
func mergeOrUpload(members string) act { return action(models.ActionTypeMergeOrUpload, members) }
func merge(members string) act         { return action(models.ActionTypeMerge, members) }
func remove() act                      { return action(models.ActionTypeDelete, "") }

// folded folds two actions and checks that their memory was not modified.
func folded(t tb, a, b act) (act, bool) {
	t.Helper()
	aText, bText := []byte(a.body), []byte(b.body)
	typ, body, ok := fold.Actions(a.typ, aText, b.typ, bText)
	require.Equal(t, a.body, string(aText), "the text of the first action was modified")
	require.Equal(t, b.body, string(bText), "the text of the second action was modified")
	if !ok {
		require.Empty(t, typ)
		require.Nil(t, body)
	}
	return act{typ, string(body)}, ok
}

// service is the emulator with one index.
type service struct {
	tb
	*searchtest.Server
}

// hotelIndex has a field of every shape.
const hotelIndex = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String"},
	{"name":"rooms","type":"Edm.Int32"},
	{"name":"stars","type":"Edm.Double"},
	{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"location","type":"Edm.GeographyPoint"},
	{"name":"address","type":"Edm.ComplexType","fields":[
		{"name":"street","type":"Edm.String"},
		{"name":"city","type":"Edm.String"},
		{"name":"where","type":"Edm.GeographyPoint"},
		{"name":"country","type":"Edm.ComplexType","fields":[{"name":"code","type":"Edm.String"},{"name":"name","type":"Edm.String"}]}]},
	{"name":"prices","type":"Collection(Edm.ComplexType)","fields":[
		{"name":"amount","type":"Edm.Int32"},
		{"name":"note","type":"Edm.String"},
		{"name":"tax","type":"Edm.ComplexType","fields":[{"name":"rate","type":"Edm.Int32"},{"name":"name","type":"Edm.String"}]}]},
	{"name":"lost","type":"Collection(Edm.Single)","searchable":true,"retrievable":false,"stored":false,"dimensions":2,"vectorSearchProfile":"p"}],
	"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a"}]}}`

func newService(t tb, definition string) service {
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.CreateIndex(definition))
	return service{t, srv}
}

// send sends one action and returns its status, or that of the request if it has none.
func (s service) send(a act) int {
	s.Helper()
	index := s.IndexNames()[0]
	req, err := http.NewRequest(http.MethodPost, s.URL()+"/indexes/"+index+"/docs/search.index?api-version=2024-07-01",
		strings.NewReader(`{"value":[`+a.body+`]}`))
	require.NoError(s, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("api-key", searchtest.AdminKey)
	resp, err := s.Do(req)
	require.NoError(s, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(s, err)
	var reply struct {
		Value []struct {
			StatusCode int `json:"statusCode"`
		} `json:"value"`
	}
	require.NoError(s, json.Unmarshal(body, &reply), "%s", body)
	if len(reply.Value) == 0 {
		return resp.StatusCode
	}
	return reply.Value[0].StatusCode
}

// sendAll sends actions one after the other. Each must be accepted, or be a merge that finds no document.
func (s service) sendAll(actions ...act) {
	s.Helper()
	for _, a := range actions {
		status := s.send(a)
		if status == http.StatusNotFound && a.typ == models.ActionTypeMerge {
			continue
		}
		require.Contains(s, []int{http.StatusOK, http.StatusCreated}, status, a.body)
	}
}

// after returns the document after the actions, "" if there is none. They start with the document of before, or with
// none if before is the zero act.
func (s service) after(before act, actions ...act) string {
	s.Helper()
	s.sendAll(remove())
	if before.typ != "" {
		s.sendAll(before)
	}
	s.sendAll(actions...)
	document, _ := s.Document(s.IndexNames()[0], "1")
	return string(document)
}

// starts are the initial documents of every pair of actions: none, an empty one, and a full one.
var starts = map[string]act{
	"no document":       {},
	"an empty document": upload(""),
	"a full document": upload(`"name":"old","rooms":9,"stars":1.5,"tags":["old"],"location":{"type":"Point","coordinates":[9,9]},
		"address":{"street":"old street","city":"old city","where":{"type":"Point","coordinates":[8,8]},"country":{"code":"OL","name":"Oldland"}},
		"prices":[{"amount":9,"note":"old","tax":{"rate":9,"name":"old"}}]`),
}

// requireSameState checks that both has the effect of a and then b on every start.
func requireSameState(t tb, a, b, both act) {
	t.Helper()
	s := newService(t, hotelIndex)
	for name, before := range starts {
		require.Equal(t, s.after(before, a, b), s.after(before, both), "%s: %s and then %s, folded into %s", name, a.body, b.body, both.body)
	}
}

// requireFolded checks that a and b fold into want and that want is right.
func requireFolded(t tb, a, b, want act) {
	t.Helper()
	got, ok := folded(t, a, b)
	require.True(t, ok, "%s and %s were not folded", a.body, b.body)
	require.Equal(t, want, got)
	requireSameState(t, a, b, got)
}

// requireRefused checks that a and b are not folded. wrong is a plausible fold that must differ on at least one
// start; a zero wrong is not checked.
func requireRefused(t tb, a, b, wrong act) {
	t.Helper()
	_, ok := folded(t, a, b)
	require.False(t, ok, "%s and %s were folded", a.body, b.body)
	if wrong.typ == "" {
		return
	}
	s := newService(t, hotelIndex)
	for _, before := range starts {
		if s.after(before, a, b) != s.after(before, wrong) {
			return
		}
	}
	require.Fail(t, "there was no reason to refuse", "%s and %s could have become %s", a.body, b.body, wrong.body)
}
