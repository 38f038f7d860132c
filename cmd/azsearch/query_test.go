package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const roomFields = `{"name":"rooms","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
	{"name":"name","type":"Edm.String","searchable":true},{"name":"stars","type":"Edm.Int64","filterable":true,"sortable":true,"facetable":true},
	{"name":"tags","type":"Collection(Edm.String)","filterable":true,"facetable":true},
	{"name":"place","type":"Collection(Edm.Single)","searchable":true,"retrievable":true,"dimensions":2,"vectorSearchProfile":"p"}],
	"vectorSearch":{"algorithms":[{"name":"a","kind":"exhaustiveKnn"}],"profiles":[{"name":"p","algorithm":"a"}]}}`

// withRooms returns a session with an index of rooms.
func withRooms(t *testing.T, fields string, files map[string]string) (*emulator, *session) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, fields)
	status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/indexes('rooms')/docs/search.index", searchtest.AdminKey, `{"value":[
		{"id":"1","name":"Quiet & wide","stars":9007199254740993,"tags":["pool","wifi"],"place":[1,0]},
		{"id":"2","name":"Loud","stars":2,"tags":["wifi"],"place":[0,1]},
		{"id":"3","name":"Quiet","stars":2,"tags":[],"place":[0.5,0.5]}]}`)
	require.Equal(t, http.StatusOK, status, body)
	return e, newSession(t, e.url, files)
}

func TestGetSession(t *testing.T) {
	_, s := withRooms(t, roomFields, nil)
	got := s.run("get", "-select", "id,name,stars", "rooms", "1")
	assert.Equal(t, ended{0, "{\n  \"id\": \"1\",\n  \"name\": \"Quiet & wide\",\n  \"stars\": 9007199254740993\n}\n", ""}, got)
	got = s.run("get", "rooms", "2", "none", "1", "-o", "jsonl", "-select", "name")
	assert.Equal(t, ended{1, "{\"name\":\"Loud\"}\n{\"name\":\"Quiet & wide\"}\n", "azsearch: 1 of 3 keys not found in index \"rooms\": none\n"}, got)
	got = s.run("get", "rooms", "3", "-o", "table", "-select", "id,tags,place")
	assert.Equal(t, ended{0, "id  tags  place\n3   []    [0.5,0.5]\n", ""}, got)
}

func TestSearchSession(t *testing.T) {
	_, s := withRooms(t, roomFields, map[string]string{"v.json": "[0, 1]"})
	got := s.run("search", "rooms", "-order", "stars desc", "-order", "id", "-select", "id,name,stars", "-facet", "tags", "-facet", "stars,values:5")
	assert.Equal(t, ended{0, `id  name          stars
1   Quiet & wide  9007199254740993
2   Loud          2
3   Quiet         2
stars  to 5  2
       5 to  1
tags   wifi  2
       pool  1
3 of 3 documents
`, ""}, got)
	got = s.run("search", "rooms", "quiet", "-filter", "stars eq 2", "-top", "1", "-o", "jsonl", "-select", "id")
	assert.Equal(t, ended{0, "{\"id\":\"3\"}\n", ""}, got)
	got = s.run("search", "rooms", "-vector", "v.json", "-top", "2", "-select", "id")
	assert.Zero(t, got.code, got.stderr)
	assert.Regexp(t, `^id\n2\n3\n\d of \d documents, scores \S+ to \S+\n$`, got.stdout)
	got = s.run("search", "rooms", "-top", "0", "-facet", "tags", "-o", "json")
	assert.Zero(t, got.code, got.stderr)
	var reply models.SearchDocumentsResult[json.RawMessage]
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &reply))
	assert.Empty(t, reply.Results)
	assert.Len(t, reply.Facets["tags"], 2)
	assert.EqualValues(t, 3, *reply.Count)
}

func TestStatsSession(t *testing.T) {
	_, s := withRooms(t, roomFields, nil)
	got := s.run("stats")
	assert.Zero(t, got.code, got.stderr)
	assert.Regexp(t, `(?m)^documents +3\b`, got.stdout)
	assert.Regexp(t, `(?m)^indexes +1$`, got.stdout)
	assert.Regexp(t, `(?m)^rooms +3 `, got.stdout)
	got = s.run("stats", "rooms", "-json")
	assert.Zero(t, got.code, got.stderr)
	var stats serviceStats
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &stats))
	assert.Nil(t, stats.Service)
	require.Len(t, stats.Indexes, 1)
	assert.EqualValues(t, 3, stats.Indexes[0].DocumentCount)
	assert.Equal(t, 3, s.run("stats", "none").code)
}

func TestCountersSayTheirShareOfTheQuota(t *testing.T) {
	var out strings.Builder
	c := &serviceCall{stdout: terminal.Of(&out)}
	require.NoError(t, c.counters(&models.ServiceCounters{
		Documents: &models.ResourceCounter{Usage: 1234}, StorageSize: &models.ResourceCounter{Usage: 1 << 30, Quota: new(int64(4 << 30))}, Aliases: &models.ResourceCounter{Quota: new(int64(0))},
	}))
	assert.Equal(t, "documents  1,234\nstorage    1.0 GiB of 4.0 GiB (25 %)\naliases    0 of 0\n\n", out.String())
}

func TestDeleteSession(t *testing.T) {
	testkit.Long(t)
	for name, fields := range map[string]string{"any key": roomFields, "a key that cannot be scanned": strings.Replace(roomFields, `"filterable":true,"sortable":true`, `"sortable":false`, 1)} {
		t.Run(name, func(t *testing.T) {
			_, s := withRooms(t, fields, nil)
			got := s.run("delete", "rooms", "-filter", "stars eq 2")
			assert.Zero(t, got.code, got.stderr)
			assert.Regexp(t, `^would delete 2 documents of 3: (2, 3|3, 2)\nnothing was deleted; add -yes to delete them, -expect 2 to delete exactly as many\n$`, got.stdout)
			got = s.run("delete", "rooms", "-filter", "stars eq 2", "-yes", "-expect", "3")
			assert.Equal(t, 1, got.code)
			assert.Equal(t, "azsearch: -expect is 3, and the filter matches 2 documents: nothing was deleted; check the filter\n", got.stderr)
			got = s.run("delete", "rooms", "-filter", "stars eq 2", "-yes")
			assert.Zero(t, got.code, got.stderr)
			assert.Regexp(t, `^deleted 2 documents of 2 that matched: (2, 3|3, 2)\na query at \S+ found no match left\n`, got.stdout)
			got = s.run("delete", "rooms", "-filter", "stars eq 2", "-yes", "-json")
			assert.Zero(t, got.code, got.stderr)
			var receipt map[string]any
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &receipt))
			assert.Equal(t, float64(0), receipt["matched"])
			assert.Equal(t, ended{0, "{\"id\":\"1\"}\n", ""}, s.run("search", "rooms", "-o", "jsonl", "-select", "id"))
		})
	}
}

func TestDeleteOfAKeyThatCannotBeScannedHasNoLimit(t *testing.T) {
	testkit.Long(t)
	_, s := withRooms(t, strings.Replace(roomFields, `"filterable":true,"sortable":true`, `"sortable":false`, 1), nil)
	var many strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&many, "{\"id\":\"many-%d\",\"stars\":7}\n", i)
	}
	s.write("many.jsonl", many.String())
	require.Zero(t, s.run("load", "-index", "rooms", "-quiet", "many.jsonl").code)
	got := s.run("delete", "rooms", "-filter", "stars eq 7", "-yes", "-expect", "1001")
	assert.Zero(t, got.code, got.stderr)
	assert.Regexp(t, `^deleted 1,001 documents of 1,001 that matched: many-`, got.stdout)
	assert.Contains(t, s.run("delete", "rooms", "-filter", "stars eq 7").stdout, "no document of 3 matches")
}

func TestReplaySession(t *testing.T) {
	e, s := withRooms(t, roomFields, nil)
	dir := filepath.Join(s.dir, "dead")
	f, err := deadletter.Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, f.Write(t.Context(), []deadletter.Letter{
		{Endpoint: e.url, Index: "rooms", Key: "4", Action: models.ActionTypeUpload, Document: json.RawMessage(`{"id":"4","name":"late"}`), Status: 503, Message: "busy\x1b"},
		{Endpoint: e.url, Index: "rooms", Key: "5", Action: models.ActionTypeUpload, Document: json.RawMessage(`{"id":"5","stars":"many"}`), Status: 400, Message: "bad"},
		{Endpoint: e.url, Index: "rooms", Key: "1", Action: models.ActionTypeDelete, Status: 503, Message: "busy"},
		{Endpoint: "https://other.search.windows.net", Index: "rooms", Key: "6", Action: models.ActionTypeDelete},
	}))
	assert.Equal(t, 2, s.run("replay", "dead").code, "another process has the dead letters")
	require.NoError(t, f.Close())

	got := s.run("replay", "-dry-run", "dead")
	assert.Equal(t, ended{0, `dead letters  index  action  reason
1             rooms  delete  
1             rooms  delete  busy
1             rooms  upload  bad
1             rooms  upload  busy\u001b
`, ""}, got)
	got = s.run("replay", "dead")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "index rooms: delivered 2, 1 refused again\nleft, because of another service: 1 dead letter (https://other.search.windows.net)\n", got.stdout)
	assert.Contains(t, got.stderr, "azsearch: stays rooms/5: ")
	assert.Contains(t, got.stderr, "azsearch: left in dead: 2 dead letters;")
	assert.Equal(t, "{\"name\":\"late\"}\n", s.run("get", "rooms", "4", "-select", "name", "-o", "jsonl").stdout)
	assert.Equal(t, 1, s.run("get", "rooms", "1").code)
	got = s.run("replay", "dead", "-index", "none", "-json")
	assert.Equal(t, ended{0, "", ""}, got)
}

func TestCommandsRefuseWhatCannotWorkInOneLine(t *testing.T) {
	_, s := withRooms(t, roomFields, map[string]string{"v.json": "[1,2,3]", "text.json": `"x"`})
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"get", "rooms"}, 2, "INDEX KEY..."},
		{[]string{"get", "rooms", "1", "-o", "xml"}, 2, "table, json or jsonl"},
		{[]string{"get", "none", "1"}, 3, "none"},
		{[]string{"get", "rooms", "1", "-select", "size"}, 3, "size"},
		{[]string{"search"}, 2, "INDEX [TEXT]"},
		{[]string{"search", "rooms", "two", "words"}, 2, "quote"},
		{[]string{"search", "rooms", "-top", "-1"}, 2, "-top"},
		{[]string{"search", "rooms", "-filter", "stars eq 'x"}, 2, "does not end"},
		{[]string{"search", "rooms", "-filter", "size eq 1"}, 3, "size"},
		{[]string{"search", "rooms", "-vector", "none.json"}, 2, "none.json"},
		{[]string{"search", "rooms", "-vector", "text.json"}, 2, "array of numbers"},
		{[]string{"search", "rooms", "-vector", "v.json"}, 3, "expects a length of '2'"},
		{[]string{"search", "rooms", "-vector-field", "place"}, 2, "-vector FILE"},
		{[]string{"search", "none"}, 3, "none"},
		{[]string{"delete", "rooms"}, 2, "-filter is missing"},
		{[]string{"delete", "rooms", "-filter", "(", "-expect", "0"}, 2, "-expect 0"},
		{[]string{"delete", "rooms", "-filter", "size eq 1"}, 3, "size"},
		{[]string{"delete", "none", "-filter", "stars eq 1"}, 3, "none"},
		{[]string{"replay", "v.json"}, 2, "not a directory"},
		{[]string{"replay", "none"}, 2, "none"},
		{[]string{"replay", "."}, 2, "is the path right?"},
	} {
		got := s.run(c.args...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
		assert.Empty(t, got.stdout, "%v", c.args)
	}
	entries, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no file was made")
}
