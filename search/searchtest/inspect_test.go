package searchtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
)

func TestRequestsShowWhatArrived(t *testing.T) {
	p := newProbe(t, &Options{KeepBodies: 12})
	p.send("POST", indexPath, batchOf(3), "X-Ms-Client-Request-Id", "mine")
	p.rules(Fault{Cut: CutAfterCommit})
	_, err := p.try(p.request("POST", indexPath, batchOf(2)))
	require.Error(t, err)
	p.SetFaults(nil)
	p.send("GET", "/indexes('types')/docs('1')?API-Key=secret", "", "Authorization", "Bearer secret", "Cookie", "secret", "X-Ms-Query-Source-Authorization", "secret")
	got := p.Requests()
	require.Len(t, got, 3)
	first, second, third := got[0], got[1], got[2]
	assert.EqualValues(t, 1, first.Seq)
	assert.Equal(t, OpIndexDocuments, first.Operation)
	assert.Equal(t, "types", first.Index)
	assert.Equal(t, "POST", first.Method)
	assert.Equal(t, 3, first.Actions)
	assert.EqualValues(t, len(batchOf(3)), first.BodyBytes)
	assert.Equal(t, batchOf(3)[:12], string(first.Body))
	assert.Equal(t, 200, first.Status)
	assert.Equal(t, "mine", first.ClientRequestID)
	assert.Equal(t, "application/json", first.Header.Get("Content-Type"))
	assert.False(t, first.Fault)
	assert.True(t, second.Fault)
	assert.Error(t, second.Err)
	assert.Equal(t, 200, second.Status, "the intended answer")
	assert.Equal(t, "1", third.Key)
	assert.NotContains(t, fmt.Sprint(got), "secret")
	assert.NotContains(t, fmt.Sprint(got), AdminKey)
}

func TestOnlyTheLatestRequestsAreKept(t *testing.T) {
	p := newProbe(t, &Options{KeepRequests: 3})
	for range 5 {
		p.count()
	}
	var seqs []uint64
	for _, r := range p.Requests() {
		seqs = append(seqs, r.Seq)
	}
	assert.Equal(t, []uint64{3, 4, 5}, seqs)
	p = newProbe(t, &Options{KeepRequests: -1})
	p.count()
	assert.Empty(t, p.Requests())
}

func TestDocumentKeysComeInTheOrderOfWriting(t *testing.T) {
	p := newProbe(t, &Options{VisibilityLag: time.Hour})
	p.indexed(`{"id":"b"}`, `{"id":"c"}`, `{"id":"a"}`)
	p.indexed(`{"id":"c"}`)
	assert.Equal(t, []string{"b", "a", "c"}, p.DocumentKeys("types"))
	assert.Nil(t, p.DocumentKeys("none"))
}

// BenchmarkDocumentKeys measures the call that the emulator's page makes at every refresh.
func BenchmarkDocumentKeys(b *testing.B) {
	const documents = 300_000
	srv := NewServer(nil)
	require.NoError(b, srv.CreateIndex(`{"name":"types","fields":[{"name":"id","type":"Edm.String","key":true}]}`))
	ix, _ := srv.kept.LookupIndex("types")
	for i := range documents {
		ix.Restore(&batch.Action{Key: "document-" + strconv.Itoa(i), Type: models.ActionTypeUpload, Data: []byte{0}})
	}
	for b.Loop() {
		require.Len(b, srv.DocumentKeys("types"), documents)
	}
}

func TestEveryChangeOfAnIndexGivesItAnotherVersion(t *testing.T) {
	p := newProbe(t, &Options{VisibilityLag: time.Hour})
	definition, _ := p.IndexDefinition("types")
	var last IndexVersion
	for step, change := range []func(){
		func() {},
		func() { p.indexed(`{"id":"a"}`, `{"id":"b"}`) },
		func() { p.indexed(`{"id":"a"}`) },
		func() { p.indexed(`{"@search.action":"delete","id":"a"}`) },
		func() { p.indexed(`{"id":"c"}`, `{"@search.action":"delete","id":"b"}`) },
		func() { p.indexed(`{"id":"c"}`, `{"@search.action":"delete","id":"c"}`) },
		func() {
			require.Equal(t, http.StatusNoContent, p.send("DELETE", "/indexes('types')", "").status)
			require.NoError(t, p.CreateIndex(string(definition)))
		},
	} {
		change()
		now, ok := p.IndexVersion("types")
		require.True(t, ok)
		assert.NotEqual(t, last, now, "step %d", step)
		again, _ := p.IndexVersion("types")
		assert.Equal(t, now, again, "step %d", step)
		if now.ETag == last.ETag {
			assert.Greater(t, now.Changes, last.Changes, "step %d", step)
		}
		last = now
	}
	p.indexed(`{"@search.action":"delete","id":"never"}`)
	now, _ := p.IndexVersion("types")
	assert.Equal(t, last, now, "there was no document to delete")
	_, ok := p.IndexVersion("none")
	assert.False(t, ok)
}

func TestIndexDefinitionIsTheOneInForce(t *testing.T) {
	p := newProbe(t, nil)
	got, ok := p.IndexDefinition("types")
	require.True(t, ok)
	shown := p.send("GET", "/indexes('types')", "")
	assert.JSONEq(t, withoutAnnotations(t, shown.body), string(got))
	p.send("PUT", "/indexes('types')", strings.Replace(string(got), `"fields":[`, `"fields":[{"name":"later","type":"Edm.String"},`, 1))
	got, _ = p.IndexDefinition("types")
	assert.Contains(t, string(got), `"later"`)
	_, ok = p.IndexDefinition("none")
	assert.False(t, ok)
}

// withoutAnnotations removes members that begin with @.
func withoutAnnotations(t *testing.T, body string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &members))
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return strings.HasPrefix(name, "@") })
	out, err := json.Marshal(members)
	require.NoError(t, err)
	return string(out)
}

func TestDocumentsShowEverything(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","hidden":"secret"}`, `{"id":"2"}`)
	docs := p.Documents("types")
	require.Len(t, docs, 2)
	assert.Contains(t, string(docs["1"]), `"hidden":"secret"`)
	one, ok := p.Document("types", "1")
	assert.True(t, ok)
	assert.Equal(t, docs["1"], one)
	_, ok = p.Document("types", "3")
	assert.False(t, ok)
	_, ok = p.Document("none", "1")
	assert.False(t, ok)
	assert.Nil(t, p.Documents("none"))
	assert.Zero(t, p.DocumentCount("none"))
	assert.Nil(t, p.History("none", "1"))
	assert.Nil(t, p.Changes("none"))
}

func TestHistoryTellsEveryActionOnAKey(t *testing.T) {
	p := newProbe(t, nil)
	p.send("POST", indexPath, `{"value":[{"id":"1"},{"id":"2"}]}`, "X-Ms-Client-Request-Id", "a")
	p.index(`{"id":"1","@search.action":"delete"}`, `{"id":"1","@search.action":"merge"}`)
	p.rules(Fault{Documents: []DocumentFault{{Status: 409}}})
	p.index(`{"id":"1"}`)
	got := p.History("types", "1")
	require.Len(t, got, 4)
	for i, want := range []Change{
		{Seq: 1, Action: models.ActionTypeUpload, Status: 201, Request: 1},
		{Seq: 3, Action: models.ActionTypeDelete, Status: 200, Request: 2},
		{Seq: 4, Action: models.ActionTypeMerge, Status: 404, Request: 2},
		{Seq: 5, Action: models.ActionTypeUpload, Status: 409, Request: 3},
	} {
		assert.Equal(t, want.Seq, got[i].Seq)
		assert.Equal(t, want.Action, got[i].Action)
		assert.Equal(t, want.Status, got[i].Status)
		assert.Equal(t, want.Request, got[i].Request)
		assert.Equal(t, "1", got[i].Key)
		assert.Equal(t, want.Status < 300, got[i].Applied())
	}
	assert.Equal(t, "a", got[0].ClientRequestID)
	assert.Equal(t, p.Requests()[0].RequestID, got[0].RequestID)
	assert.Empty(t, p.History("types", "3"))
}

// Tests compare the order of requests with the order of the index's decisions: which of two actions was applied,
// when, and with what content.
func TestChangesTellWhatWasSentAndWhenItWasDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{KeepContents: true})
		began := time.Now()
		p.rules(Fault{Delay: Duration(3 * time.Second), Documents: []DocumentFault{{Keys: []string{"3"}, Status: 409}}})
		p.index(`{"l":9007199254740993,"id":"1","s":"a","d":1,"c":{"y":1,"n":{}},"ss":[],"v":[1,2,3],"hidden":"h"}`,
			`{"id":"1","@search.action":"merge","s":null,"c":{"x":null},"cs":[{"y":2},{},{"x":"b","in":[{"z":"c"}]}],"ss":null}`,
			`{"id":"2","@search.action":"merge","b":true}`,
			`{"id":"3","t":"2026-01-02T03:04:05.678+01:00"}`,
			`{"id":"1","@search.action":"delete","s":"never mind"}`)
		p.SetFaults(nil)
		time.Sleep(time.Second)
		p.index(`{"id":"1"}`, `{"id":"1","@search.action":"merge","s":"`+strings.Repeat("x", 500)+`"}`)
		type noted struct {
			action   models.ActionType
			status   int
			document string
			decided  time.Duration
		}
		var got []noted
		for _, c := range p.Changes("types") {
			got = append(got, noted{c.Action, c.Status, string(c.Document), c.Decided.Sub(began)})
			if c.Request == 1 {
				assert.Equal(t, began, c.Time, "the arrival")
			}
		}
		assert.Equal(t, []noted{
			{models.ActionTypeUpload, 201, `{"l":9007199254740993,"id":"1","s":"a","d":1.0,"c":{"y":1,"n":{}},"ss":[],"v":[1.0,2.0,3.0],"hidden":"h"}`, 3 * time.Second},
			{models.ActionTypeMerge, 200, `{"id":"1","s":null,"c":{"x":null},"cs":[{"y":2},{},{"x":"b","in":[{"z":"c"}]}],"ss":[]}`, 3 * time.Second},
			{models.ActionTypeMerge, 404, `{"id":"2","b":true}`, 3 * time.Second},
			{models.ActionTypeUpload, 409, `{"id":"3","t":"2026-01-02T02:04:05.678Z"}`, 3 * time.Second},
			{models.ActionTypeDelete, 200, ``, 3 * time.Second},
			{models.ActionTypeUpload, 201, `{"id":"1"}`, 4 * time.Second},
			{models.ActionTypeMerge, 200, `{"id":"1","s":"` + strings.Repeat("x", 500) + `"}`, 4 * time.Second},
		}, got)
		history := p.History("types", "1")
		require.Len(t, history, 5)
		assert.Equal(t, `{"id":"1"}`, string(history[3].Document))
	})
}

func TestContentsAreKeptOnlyIfAskedFor(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","s":"a"}`)
	assert.Nil(t, p.Changes("types")[0].Document)
	p = newProbe(t, &Options{KeepContents: true, KeepChanges: 2, DiscardDocuments: true})
	p.indexed(`{"id":"1","s":"a"}`, `{"id":"2","s":"a"}`, `{"id":"3","s":"a"}`)
	got := p.Changes("types")
	require.Len(t, got, 2)
	assert.Equal(t, `{"id":"2"}`, string(got[0].Document))
	assert.Equal(t, `{"id":"3"}`, string(got[1].Document))
}

// The definition may have new fields.
func TestContentsAreReadByTheDefinitionOfToday(t *testing.T) {
	p := newProbe(t, &Options{KeepContents: true})
	p.indexed(`{"id":"1","s":"a"}`)
	grown := strings.Replace(everyType, `{"name":"s",`, `{"name":"new","type":"Edm.String"},{"name":"s",`, 1)
	require.Equal(t, 200, p.send("PUT", "/indexes('types')", grown).status)
	p.indexed(`{"new":"b","id":"1"}`)
	got := p.History("types", "1")
	assert.Equal(t, `{"id":"1","s":"a"}`, string(got[0].Document))
	assert.Equal(t, `{"new":"b","id":"1"}`, string(got[1].Document))
}

func TestChangesCanBeTurnedOff(t *testing.T) {
	p := newProbe(t, &Options{KeepChanges: -1})
	p.indexed(`{"id":"1"}`)
	assert.Empty(t, p.History("types", "1"))
	assert.Empty(t, p.Changes("types"))
}

func TestLogNamesNoKeysOfAnyKind(t *testing.T) {
	var out bytes.Buffer
	p := newProbe(t, &Options{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	p.index(`{"id":"private","s":"content"}`)
	assert.Contains(t, out.String(), "operation=indexDocuments")
	for _, secret := range []string{AdminKey, "private", "content"} {
		assert.NotContains(t, out.String(), secret)
	}
}

// With -race: all operations run concurrently on two indexes, one of which changes.
func TestServerConcurrentSafe(t *testing.T) {
	p := newProbe(t, &Options{KeepChanges: 100, KeepRequests: 10})
	require.NoError(t, p.CreateIndex(strings.Replace(everyType, `"types"`, `"other"`, 1)))
	p.SetFaults(&Faults{Rules: []Fault{{Every: 5, Documents: []DocumentFault{{Ratio: 0.5, Times: 3}}}}, Capacity: &Capacity{DocumentsPerSecond: 1e6}})
	grown := func(name string, n int) string {
		return strings.Replace(strings.Replace(everyType, `"types"`, `"`+name+`"`, 1), `{"name":"s",`, fmt.Sprintf(`{"name":"new%d","type":"Edm.String"},{"name":"s",`, n), 1)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			index := []string{"types", "other"}[worker%2]
			for i := range 50 {
				p.send("POST", "/indexes('"+index+"')/docs/search.index", fmt.Sprintf(`{"value":[{"id":"%d","s":"a","c":{"x":"b"}},{"@search.action":"merge","id":"%d","c":{"y":1}}]}`, i%7, i%5))
				p.send("GET", "/indexes('"+index+"')/docs('1')", "")
				p.send("GET", "/indexes('"+index+"')/docs/$count", "")
			}
		})
	}
	wg.Go(func() {
		a := p.send("PUT", "/indexes('types')", grown("types", 1))
		assert.Equal(t, http.StatusOK, a.status, a.body)
		for range 20 {
			p.Documents("types")
			p.History("types", "1")
			p.Changes("other")
			p.Requests()
			p.URL()
		}
	})
	wg.Wait()
	assert.EqualValues(t, 7, p.DocumentCount("types"))
	assert.EqualValues(t, 7, p.DocumentCount("other"))
}
