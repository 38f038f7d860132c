package searchtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
)

// snapshot returns the server's content.
func snapshot(t require.TestingT, srv *Server) string {
	var b bytes.Buffer
	require.NoError(t, srv.Snapshot(&b))
	require.True(t, json.Valid(b.Bytes()), "%s", b.Bytes())
	return b.String()
}

const handWritten = `{
  "indexes": [
    {
      "definition": {
        "name": "small",
        "fields": [
          {"name":"id","type":"Edm.String","key":true},
          {"name":"title","type":"Edm.String","synonymMaps":["names"]}
        ],
        "corsOptions": {"allowedOrigins":["*"]}
      },
      "documents": [
        {"id":"2","title":"Grüne Straße 日本\u0001\u2028"},
        {"title":null,"id":"1"}
      ]
    },
    {
      "apiVersion": "2020-06-30",
      "definition": {
        "name": "void",
        "fields": [
          {"name":"id","type":"Edm.String","key":true}
        ]
      },
      "documents": []
    }
  ],
  "synonymMaps": [
    {"name":"names","format":"solr","synonyms":"ritz, palace"}
  ],
  "aliases": [
    {"name":"current","indexes":["small"]}
  ]
}
`

func TestSnapshotsAreWrittenAsAPersonWould(t *testing.T) {
	c := newCaller(t)
	require.NoError(t, c.srv.Restore(strings.NewReader(handWritten)))
	require.Equal(t, handWritten, snapshot(t, c.srv))
	c.call("GET", "/indexes('current')/docs('2')", "").want(t, 200, `"Gr\u00fcne Stra\u00dfe \u65e5\u672c`)
	c.call("GET", "/synonymmaps('names')", "").want(t, 200, "ritz")
	require.Equal(t, "{\n  \"indexes\": [],\n  \"synonymMaps\": [],\n  \"aliases\": []\n}\n", snapshot(t, NewServer(nil)))
}

func TestRestoreReplacesEverything(t *testing.T) {
	c := newAliased(t)
	c.call("POST", "/synonymmaps", `{"name":"others","format":"solr","synonyms":""}`).want(t, 201, "")
	c.call("POST", "/indexes('small')/docs/search.index", hotelsA).want(t, 200, "")
	tag := c.call("GET", "/indexes('small')", "").etag(t)
	require.NoError(t, c.srv.Restore(strings.NewReader(handWritten)))
	require.Equal(t, handWritten, snapshot(t, c.srv))
	require.NotEqual(t, tag, c.call("GET", "/indexes('small')", "").etag(t), "a new tag")
	require.Empty(t, c.srv.Changes("small"), "a new history")
	require.NoError(t, c.srv.Restore(strings.NewReader(" {} ")))
	require.Empty(t, c.srv.IndexNames())
}

func TestSnapshotsTakeEveryTypeAndEveryVersionThereAndBack(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","s":"x\u0000\"","b":true,"i":-2147483648,"l":9223372036854775807,"d":"NaN","t":"2024-01-02T03:04:05.678+02:00",
		"g":{"type":"Point","coordinates":[-180.0,90.0]},"c":{"x":null,"n":{}},"ss":["",""],"bs":[false],"is":[1],"ls":[-9223372036854775808],"ds":[5e-324,"-INF",0.1],
		"ts":["0001-01-01T00:00:00Z"],"gs":[{"type":"Point","coordinates":[1.5,2]}],"cs":[{},{"tags":[],"in":[{"z":"q"},{}]}],"hidden":"h",
		"v":[0.1,1e-30,3],"vh":[0.5,65504],"vi":[-32768,1],"vs":[-128,127],"vb":[255,0],"vx":[1,2]}`,
		`{"id":"2"}`, `{"id":"3","@search.action":"mergeOrUpload","s":"a"}`, `{"id":"3","@search.action":"merge","i":5,"s":null}`, `{"id":"4","v":null,"vb":null,"ss":[]}`)
	for n, version := range []string{"2019-05-06", "2020-06-30", "2023-11-01", "2024-07-01", "2025-09-01", "2024-05-01-Preview"} {
		p.send("POST", "/indexes?api-version="+version, fmt.Sprintf(`{"name":"v%d","fields":[{"name":"id","type":"Edm.String","key":true}]}`, n))
	}
	before := snapshot(t, p.Server)
	other := NewServer(nil)
	require.NoError(t, other.Restore(strings.NewReader(before)))
	require.Equal(t, before, snapshot(t, other))
	require.Equal(t, p.IndexNames(), other.IndexNames())
	require.Equal(t, p.Documents("types"), other.Documents("types"))
	for _, name := range p.IndexNames() {
		a, _ := p.kept.LookupIndex(name)
		b, _ := other.kept.LookupIndex(name)
		require.Equal(t, string(a.Definition().Definition), string(b.Definition().Definition))
		for _, doc := range a.All() {
			require.Equal(t, doc.Data, b.Written(doc.Key), "the document is in stored form")
		}
	}
}

// After a random sequence of requests a snapshot restores definitions, documents and their order byte for byte.
func TestRestoredServersAgreeWithWhatTheyWereTakenFrom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := probe{t, NewServer(nil)}
		for n := range rapid.IntRange(0, 3).Draw(rt, "indexes") {
			definition := strings.Replace(modelIndex, `"types"`, fmt.Sprintf(`"types%d"`, n), 1)
			if rapid.Bool().Draw(rt, "analysis") {
				definition = strings.TrimSuffix(definition, "}") + `,"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"a","tokenizer":"keyword_v2","tokenFilters":["lowercase"]}],
					"scoringProfiles":[{"name":"p","text":{"weights":{"s":2.5}},"functions":[{"fieldName":"i","type":"magnitude","boost":2,"magnitude":{"boostingRangeStart":1,"boostingRangeEnd":3}}]}]}`
			}
			version := rapid.SampledFrom([]string{"2019-05-06", "2020-06-30", "2024-07-01", latest.String()}).Draw(rt, "version")
			a := p.send("POST", "/indexes?api-version="+version, definition)
			require.Equal(rt, 201, a.status, a.body)
			for range rapid.IntRange(0, 12).Draw(rt, "actions") {
				doc := drawDocument(rt)
				doc["id"] = rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(rt, "key")
				doc["@search.action"] = rapid.SampledFrom([]string{"upload", "merge", "mergeOrUpload", "delete"}).Draw(rt, "type")
				text, err := json.Marshal(map[string]any{"value": []any{doc}})
				require.NoError(rt, err)
				a := p.send("POST", fmt.Sprintf("/indexes('types%d')/docs/search.index", n), string(text))
				require.Contains(rt, []int{200, 207}, a.status, a.body)
			}
			if rapid.Bool().Draw(rt, "alias") {
				require.Equal(rt, 201, p.send("POST", "/aliases", fmt.Sprintf(`{"name":"alias%d","indexes":["types%d"]}`, n, n)).status)
			}
			rules, err := json.Marshal(modelWord.Draw(rt, "rules") + "\nx => y")
			require.NoError(rt, err)
			require.Equal(rt, 201, p.send("POST", "/synonymmaps", fmt.Sprintf(`{"name":"map%d","format":"solr","synonyms":%s}`, n, rules)).status)
		}
		before := snapshot(rt, p.Server)
		other := probe{t, NewServer(&Options{VisibilityLag: time.Hour})}
		require.NoError(rt, other.Restore(strings.NewReader(before)))
		require.Equal(rt, before, snapshot(rt, other.Server))
		for _, path := range []string{"/indexes", "/synonymmaps", "/aliases", "/servicestats"} {
			a, b := p.send("GET", path, ""), other.send("GET", path, "")
			require.Equal(rt, tagPattern.ReplaceAllString(a.body, ""), tagPattern.ReplaceAllString(b.body, ""))
		}
		for _, name := range p.IndexNames() {
			for key := range p.Documents(name) {
				path := "/indexes('" + name + "')/docs('" + key + "')"
				require.Equal(rt, p.send("GET", path, "").body, other.send("GET", path, "").body)
			}
		}
	})
}

func TestSnapshotsThatAreRefusedChangeNothing(t *testing.T) {
	index := func(members string) string { return `{"indexes":[{"definition":` + small + members + `}]}` }
	for name, test := range map[string]struct{ text, says string }{
		"nothing":                       {``, "line 1, column 1: an object was expected"},
		"a list":                        {`[]`, "line 1, column 1: an object was expected"},
		"an unknown member":             {"{\n  \"indices\": []}", `line 2, column 3: the member "indices" is unknown: it must be one of aliases, dataSources, indexers, indexes, knowledgeBases, knowledgeSources, skillsets, synonymMaps`},
		"a member twice":                {`{"aliases":[],"aliases":[]}`, `line 1, column 15: duplicate member "aliases"`},
		"no JSON":                       {"{\"indexes\": [\n{]}", "line 2, column 2: invalid JSON"},
		"something behind":              {`{} {}`, "line 1, column 4: unexpected data after the end"},
		"an object of indexes":          {`{"indexes":{}}`, "line 1, column 12: an array was expected"},
		"no definition":                 {"{\"indexes\":[\n  {\"documents\":[]}]}", "line 2, column 3: the index has no definition"},
		"an invalid index":              {`{"indexes":["hotels"]}`, "an object was expected"},
		"a definition without a key":    {"{\"indexes\":[{\n\"definition\": {\"name\":\"small\",\"fields\":[{\"name\":\"a\",\"type\":\"Edm.String\"}]}}]}", "line 2, column 15: index : Found 0 key fields"},
		"a member of another version":   {`{"indexes":[{"apiVersion":"2020-06-30","definition":` + smaller(`"description":"d"`) + `}]}`, "description"},
		"an unknown version":            {`{"indexes":[{"apiVersion":"2017-11-11","definition":` + small + `}]}`, "line 1, column 27: the api-version is unknown"},
		"a version that is a number":    {`{"indexes":[{"apiVersion":2024,"definition":` + small + `}]}`, "the api-version is unknown"},
		"two indexes of a name":         {`{"indexes":[{"definition":` + small + `},{"definition":` + small + `}]}`, "there are two indexes named 'small'"},
		"an object of documents":        {index(`,"documents":{}`), "must be a collection"},
		"a document with a wrong field": {index(",\"documents\":[{\"id\":\"1\"},\n{\"id\":\"2\",\"name\":1}]"), "line 2, column 18: The property 'name' does not exist"},
		"a document of a wrong type":    {index(",\"documents\":[\n{\"id\":1}]"), "line 2"},
		"a document without a key":      {index(`,"documents":[{"title":"a"}]`), "Document key cannot be missing or empty."},
		"an invalid key":                {index(`,"documents":[{"id":"a b"}]`), "Invalid document key: 'a b'"},
		"an invalid document":           {index(`,"documents":["1"]`), "StartObject"},
		"a key twice":                   {index(`,"documents":[{"id":"1"},{"id":"1"}]`), "document 1, with the key '1': duplicate key"},
		"a deleted document":            {index(`,"documents":[{"id":"1","@search.action":"delete"}]`), "document 0, with the key '1': its action is delete, but documents can only be uploaded"},
		"a term without end":            {index(`,"documents":[{"id":"1","title":"` + strings.Repeat("x", 40_000) + `"}]`), "document 0, with the key '1': "},
		"a synonym map with bad rules":  {"{\"synonymMaps\":[\n {\"name\":\"m\",\"format\":\"solr\",\"synonyms\":\"a=>b=>c\"}]}", "line 2, column 2: Syntax error in line 1"},
		"a synonym map twice":           {`{"synonymMaps":[` + names + `,` + names + `]}`, "already exists"},
		"an alias of nothing":           {`{"aliases":[` + current + `]}`, "An index alias can be created on an existing index. Index – 'small' was not found"},
		"an alias named as an index":    {`{"indexes":[{"definition":` + small + `}],"aliases":[{"name":"small","indexes":["small"]}]}`, "because an index has that name"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := NewServer(nil)
			require.NoError(t, srv.Restore(strings.NewReader(handWritten)))
			err := srv.Restore(strings.NewReader(test.text))
			require.ErrorContains(t, err, test.says)
			require.NotContains(t, err.Error(), "\n")
			require.Equal(t, handWritten, snapshot(t, srv))
		})
	}
}

func TestFixturesMayLeaveOutAndHoldWhatRepliesHave(t *testing.T) {
	srv := NewServer(nil)
	require.NoError(t, srv.Restore(strings.NewReader("\ufeff"+`{"aliases":[],"indexes":[
		{"documents":[{"@search.score":1.0,"id":"1","title":"a"}],"definition":{"@odata.context":"x","@odata.etag":"\"0x1\"","name":"small","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"title","type":"Edm.String"}]}},
		{"definition":{"name":"other","fields":[{"name":"id","type":"Edm.String","key":true}]},"documents":null}]}`)))
	require.Equal(t, []string{"other", "small"}, srv.IndexNames())
	require.EqualValues(t, 1, srv.DocumentCount("small"))
}

// The service allows deleting a synonym map that fields name, so a snapshot may lack it.
func TestAMissingSynonymMapIsRestoredAsMissing(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/synonymmaps", names).want(t, 201, "")
	c.call("POST", "/indexes", `{"name":"small","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"t","type":"Edm.String","synonymMaps":["names"]}]}`).want(t, 201, "")
	c.call("DELETE", "/synonymmaps('names')", "").want(t, 204, "")
	before := snapshot(t, c.srv)
	require.NoError(t, c.srv.Restore(strings.NewReader(before)))
	require.Equal(t, before, snapshot(t, c.srv))
}

func TestSecretsAreNotInSnapshots(t *testing.T) {
	c := newCaller(t)
	const key = `{"keyVaultKeyName":"k","keyVaultUri":"https://v","accessCredentials":{"applicationId":"a","applicationSecret":"hush"}}`
	c.call("POST", "/synonymmaps", `{"name":"m","format":"solr","synonyms":"","encryptionKey":`+key+`}`).want(t, 201, "")
	c.call("POST", "/indexes", smaller(`"encryptionKey":`+key)).want(t, 201, "")
	const headers = `"httpHeaders":{"x-functions-key":"hush","b":"hush"}`
	c.call("POST", "/indexes", `{"name":"vectors","fields":[{"name":"id","type":"Edm.String","key":true}],"vectorSearch":{"vectorizers":[{"name":"w","kind":"customWebApi","customWebApiParameters":{"uri":"https://y",`+headers+`}}]}}`).want(t, 201, "")
	c.call("POST", "/skillsets", `{"name":"skills","skills":[
		{"@odata.type":"#Microsoft.Skills.Custom.WebApiSkill","uri":"https://y",`+headers+`,"inputs":[{"name":"a","source":"/document/a"}],"outputs":[{"name":"b"}]},
		{"@odata.type":"#Microsoft.Skills.Custom.ChatCompletionSkill","uri":"https://y",`+headers+`,"inputs":[{"name":"text","source":"/document/a"}],"outputs":[{"name":"response","targetName":"c"}]}]}`).want(t, 201, "")
	text := snapshot(t, c.srv)
	require.NotContains(t, text, "hush")
	require.Equal(t, 3, strings.Count(text, `"httpHeaders":{"x-functions-key":"","b":""}`), text)
	require.Equal(t, 2, strings.Count(text, `"applicationId":"a"`))
	require.NoError(t, c.srv.Restore(strings.NewReader(text)))
	require.Equal(t, text, snapshot(t, c.srv))
}

func TestRestoredDocumentsAreVisibleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := probe{t, NewServer(&Options{VisibilityLag: time.Minute})}
		require.NoError(t, p.CreateIndex(small))
		require.Equal(t, 200, p.send("POST", "/indexes('small')/docs/search.index", hotelsA).status)
		text := snapshot(t, p.Server) // includes documents that are not visible yet
		require.NoError(t, p.Restore(strings.NewReader(text)))
		require.Equal(t, 200, p.send("GET", "/indexes('small')/docs('1')", "").status)
	})
}

func TestRestoreKeepsToTheQuota(t *testing.T) {
	srv := NewServer(&Options{DocumentQuota: 1})
	err := srv.Restore(strings.NewReader(handWritten))
	require.ErrorContains(t, err, "document 1, with the key '1': "+batch.DocumentMessage(http.StatusTooManyRequests))
}

func TestErrorsOfReadersWritersAndFilesComeBack(t *testing.T) {
	srv := NewServer(nil)
	broken := errors.New("broken")
	require.ErrorIs(t, srv.Snapshot(writerFunc(func([]byte) (int, error) { return 0, broken })), broken)
	require.ErrorIs(t, srv.Restore(readerFunc(func([]byte) (int, error) { return 0, broken })), broken)
	dir := t.TempDir()
	file := filepath.Join(dir, "seed.json")
	require.ErrorIs(t, srv.RestoreFile(file), os.ErrNotExist)
	require.Error(t, srv.SnapshotFile(dir))
	require.NoError(t, srv.Restore(strings.NewReader(handWritten)))
	require.NoError(t, srv.SnapshotFile(file))
	other := NewServer(nil)
	require.NoError(t, other.RestoreFile(file))
	require.Equal(t, handWritten, snapshot(t, other))
	require.NoError(t, os.WriteFile(file, []byte("{]"), 0o600))
	require.ErrorContains(t, other.RestoreFile(file), file+": snapshot: line 1, column 2: ")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Snapshots taken during concurrent writes, definitions and restores can be restored.
func TestSnapshotsOfABusyServerAreWholeConcurrentSafe(t *testing.T) {
	srv := NewServer(nil)
	require.NoError(t, srv.Restore(strings.NewReader(handWritten)))
	p := probe{t, srv}
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 20 {
				p.send("POST", "/indexes('current')/docs/search.index", fmt.Sprintf(`{"value":[{"id":"%d-%d","title":"t"}]}`, n, i))
				p.send("PUT", fmt.Sprintf("/indexes('extra%d')", n), fmt.Sprintf(`{"name":"extra%d","fields":[{"name":"id","type":"Edm.String","key":true}]}`, n))
				p.send("PUT", fmt.Sprintf("/aliases('alias%d')", n), fmt.Sprintf(`{"name":"alias%d","indexes":["extra%d"]}`, n, n))
				p.send("DELETE", fmt.Sprintf("/aliases('alias%d')", n), "")
				p.send("DELETE", fmt.Sprintf("/indexes('extra%d')", n), "")
				if n == 0 && i%5 == 0 {
					assert.NoError(t, srv.Restore(strings.NewReader(handWritten)))
				}
				var b bytes.Buffer
				assert.NoError(t, srv.Snapshot(&b))
				assert.NoError(t, NewServer(nil).Restore(&b))
			}
		})
	}
	wg.Wait()
}

// No text causes a panic, and an accepted snapshot is reproduced.
func FuzzRestore(f *testing.F) {
	// The seeds are short because long inputs cost the engine time for minimizing.
	f.Add(`{"indexes":[{"definition":{"name":"ab","fields":[{"name":"k","type":"Edm.String","key":true},{"name":"d","type":"Edm.Double"}]},"documents":[{"k":"1","d":"NaN"},{"k":"2"}]}]}`)
	f.Add(`{"aliases":[{"name":"x","indexes":["ab"]}],"synonymMaps":[{"name":"m","format":"solr","synonyms":"a,b"}]}`)
	for _, text := range []string{"", "{", `{"indexes":[{"definition":{}}]}`, `{"indexes":[null]}`, `{"synonymMaps":[1]}`, `{"aliases":null}`, `{"indexes":[{"definition":null,"documents":[]}]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		srv := NewServer(nil)
		if err := srv.Restore(strings.NewReader(text)); err != nil {
			require.Regexp(t, `^snapshot: line [1-9]\d*, column [1-9]\d*: .`, err.Error())
			require.Empty(t, srv.IndexNames())
			return
		}
		once := snapshot(t, srv)
		again := NewServer(nil)
		require.NoError(t, again.Restore(strings.NewReader(once)), once)
		require.Equal(t, once, snapshot(t, again))
	})
}
