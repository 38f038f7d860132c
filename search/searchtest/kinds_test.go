package searchtest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests cover what recordings/*-indexers do not show of the definitions of indexers and knowledge bases.

const (
	blobSource = `{"name":"blobs","type":"azureblob","credentials":{"connectionString":"AccountKey=secret"},"container":{"name":"c"}}`
	splitSkill = `{"name":"skills","skills":[{"@odata.type":"#Microsoft.Skills.Text.SplitSkill","inputs":[{"name":"text","source":"/document/content"}],"outputs":[{"name":"textItems"}]}]}`
	blobIndex  = `{"name":"x","dataSourceName":"blobs","targetIndexName":"types","skillsetName":"skills","schedule":{"interval":"PT1H"}}`
	indexKS    = `{"name":"ks","kind":"searchIndex","searchIndexParameters":{"searchIndexName":"types"}}`
	oneBase    = `{"name":"kb","knowledgeSources":[{"name":"ks"}],"models":[{"kind":"azureOpenAI","azureOpenAIParameters":{"apiKey":"secret","deploymentId":"d"}}]}`
)

// everyKind is a service with a definition of each kind.
func everyKind(t *testing.T, opts *Options) probe {
	p := newProbe(t, opts)
	for _, d := range []struct{ path, body string }{
		{"/datasources", blobSource}, {"/skillsets", splitSkill}, {"/indexers", blobIndex}, {"/knowledgesources", indexKS}, {"/knowledgebases", oneBase},
	} {
		a := p.send(http.MethodPost, d.path, d.body)
		require.Equal(t, http.StatusCreated, a.status, "%s: %s", d.path, a.body)
	}
	return p
}

func TestDefinitionsThatMakeNoSenseAreRefused(t *testing.T) {
	p := everyKind(t, nil)
	skill := func(text string) string { return `{"name":"s","skills":[` + text + `]}` }
	const merge = `{"@odata.type":"#Microsoft.Skills.Text.MergeSkill","name":"%s","inputs":[{"name":"text","source":"%s"}],"outputs":[{"name":"mergedText","targetName":"%s"}]}`
	project := func(index, members string) string {
		return strings.Replace(splitSkill, `"skills","skills"`, `"s","indexProjections":{"selectors":[{"targetIndexName":"`+index+`",`+members+`}]},"skills"`, 1)
	}
	for name, test := range map[string]struct{ path, body, message string }{
		"a data source that exists":                 {"/datasources", blobSource, "Cannot create data source 'blobs' because it already exists."},
		"a data source without a container":         {"/datasources", `{"name":"a","type":"azureblob","credentials":{}}`, "The property 'container' of type"},
		"a name with a capital":                     {"/datasources", strings.Replace(blobSource, "blobs", "Blobs", 1), "Invalid data source name"},
		"an unknown policy":                         {"/datasources", strings.Replace(blobSource, `"type"`, `"dataChangeDetectionPolicy":{"@odata.type":"#Microsoft.Azure.Search.No"},"type"`, 1), "does not define that type"},
		"a string that stays, of a new data source": {"/datasources", `{"name":"a","type":"azureblob","credentials":{"connectionString":"<unchanged>"},"container":{"name":"c"}}`, "no connection string that could stay unchanged"},
		"an indexer into no index":                  {"/indexers", `{"name":"y","dataSourceName":"blobs","targetIndexName":"none"}`, "This indexer refers to an index 'none' that doesn't exist"},
		"an indexer with no skillset":               {"/indexers", `{"name":"y","dataSourceName":"blobs","targetIndexName":"types","skillsetName":"none"}`, "This indexer refers to a skillset 'none' that doesn't exist"},
		"an indexer every minute":                   {"/indexers", strings.Replace(blobIndex, "PT1H", "PT1M", 1), "must be between 5 minutes and 1 day"},
		"an indexer every other day":                {"/indexers", strings.Replace(blobIndex, "PT1H", "P2D", 1), "must be between 5 minutes and 1 day"},
		"an unknown mapping function":               {"/indexers", strings.Replace(blobIndex, `"schedule"`, `"fieldMappings":[{"sourceFieldName":"a","mappingFunction":{"name":"no"}}],"schedule"`, 1), "The value 'no' of the property 'name' is not valid"},
		"an unknown skill":                          {"/skillsets", skill(`{"@odata.type":"#Microsoft.Skills.No","inputs":[],"outputs":[]}`), "does not define that type"},
		"a skill that is retired":                   {"/skillsets", skill(`{"@odata.type":"#Microsoft.Skills.Text.SentimentSkill","inputs":[],"outputs":[]}`), "does not define that type"},
		"a skill without inputs":                    {"/skillsets", skill(`{"@odata.type":"#Microsoft.Skills.Text.MergeSkill","outputs":[]}`), "The property 'inputs' of type"},
		"an input of no skill":                      {"/skillsets", skill(strings.Replace(fmt.Sprintf(merge, "a", "/document/a", "b"), `"text"`, `"txt"`, 1)), "Skill '#1' has the unknown input 'txt'"},
		"two skills of one name":                    {"/skillsets", skill(fmt.Sprintf(merge, "a", "/document/a", "b") + "," + fmt.Sprintf(merge, "a", "/document/a", "c")), "There are two skills named 'a'"},
		"skills that wait for each other":           {"/skillsets", skill(fmt.Sprintf(merge, "a", "/document/c/*", "b") + "," + fmt.Sprintf(merge, "b", "/document/b", "c")), "is part of a cycle"},
		"a projection without a parent's key":       {"/skillsets", project("types", `"sourceContext":"/document","mappings":[]`), "The property 'parentKeyFieldName' of type"},
		"a projection into no index":                {"/skillsets", project("none", `"parentKeyFieldName":"p","sourceContext":"/document","mappings":[]`), "Index 'none' does not exist"},
		"a projection whose keys do not fit":        {"/skillsets", project("types", `"parentKeyFieldName":"p","sourceContext":"/document","mappings":[]`), "Index 'types' must have a key field with the 'keyword' analyzer"},
		"a knowledge source of no kind":             {"/knowledgesources", `{"name":"a","kind":"no"}`, "The kind 'no' of the knowledge source 'a' is not valid"},
		"a knowledge source of no index":            {"/knowledgesources", strings.NewReplacer("ks", "a", "types", "none").Replace(indexKS), "refers to an index 'none' that does not exist"},
		"a knowledge base without sources":          {"/knowledgebases", `{"name":"a","knowledgeSources":[{"name":"none"}]}`, "refers to a knowledge source 'none' that does not exist"},
		"a knowledge base of nothing":               {"/knowledgebases", `{"name":"a","knowledgeSources":[]}`, "must have at least one knowledge source"},
	} {
		t.Run(name, func(t *testing.T) {
			status := http.StatusBadRequest
			if name == "a data source that exists" {
				status = http.StatusConflict
			}
			probe{t, p.Server}.send(http.MethodPost, test.path, test.body).refuses(t, status, test.message)
		})
	}
	p.send(http.MethodDelete, "/knowledgesources('ks')", "").refuses(t, http.StatusBadRequest, "the following knowledge base(s) use it: 'kb'")
	p.send(http.MethodPut, "/knowledgesources('ks')", `{"name":"ks","kind":"web"}`).refuses(t, http.StatusBadRequest, "cannot be changed")
	for _, path := range []string{"/knowledgebases('kb')", "/knowledgesources('ks')", "/indexers('x')", "/skillsets('skills')", "/datasources('blobs')"} {
		assert.Equal(t, http.StatusNoContent, p.send(http.MethodDelete, path, "").status, path)
		assert.Equal(t, http.StatusNotFound, p.send(http.MethodGet, path, "").status, path)
	}
}

func TestSecretsAreNotGivenBack(t *testing.T) {
	p := everyKind(t, nil)
	for _, path := range []string{"/datasources", "/datasources('blobs')", "/knowledgebases", "/knowledgebases('kb')"} {
		assert.NotContains(t, p.send(http.MethodGet, path, "").body, "secret", path)
	}
	assert.Contains(t, p.send(http.MethodGet, "/knowledgebases('kb')", "").body, `"models":[{"kind":"azureOpenAI","azureOpenAIParameters":{"apiKey":"<redacted>","deploymentId":"d"}}]`)

	// An update without the connection string keeps it.
	for _, credentials := range []string{`{}`, `{"connectionString":null}`, `{"connectionString":"<unchanged>"}`} {
		body := strings.Replace(blobSource, `{"connectionString":"AccountKey=secret"}`, credentials, 1)
		require.Equal(t, http.StatusOK, p.send(http.MethodPut, "/datasources('blobs')", body).status, credentials)
	}
}

func TestASkillsetIsEchoedAndCompletedLater(t *testing.T) {
	p := newProbe(t, nil)
	assert.Contains(t, p.send(http.MethodPost, "/skillsets", splitSkill).body, `"name":null,"description":null,"context":null,"defaultLanguageCode":null`)
	assert.Contains(t, p.send(http.MethodGet, "/skillsets('skills')", "").body, `"name":"#1","description":null,"context":"/document","defaultLanguageCode":"en"`)
}

func TestARunOfAnIndexerFailsInItsStatusAMomentLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := everyKind(t, nil) // creates the indexer, which runs it
		status := func() string { return p.send(http.MethodGet, "/indexers('x')/search.status", "").body }
		run := func() answered { return p.send(http.MethodPost, "/indexers('x')/search.run", "") }
		assert.Contains(t, status(), `"name":"x","status":"running","lastResult":null,"executionHistory":[]`)
		assert.Equal(t, http.StatusAccepted, run().status, "as recorded: the run has not started")
		assert.Contains(t, status(), `"lastResult":null`)
		time.Sleep(time.Second)
		assert.Contains(t, status(), `"lastResult":{"status":"inProgress","errorMessage":null,"startTime":"2000-01-01T00:00:01.000Z","endTime":null,`)
		assert.Contains(t, status(), `"executionHistory":[]`)
		run().refuses(t, http.StatusConflict, "Another indexer invocation is currently in progress; concurrent invocations are not allowed.")
		time.Sleep(time.Second)
		assert.Contains(t, status(), `"lastResult":{"status":"transientFailure","errorMessage":"searchtest does not run indexers: no document was read or indexed."`)
		assert.Contains(t, status(), `"statusCode":501`)
		assert.NotContains(t, status(), "metrics")

		// An update keeps the history, whose length is limited, and does not run the indexer.
		require.Equal(t, http.StatusOK, p.send(http.MethodPut, "/indexers('x')", blobIndex).status)
		time.Sleep(time.Second)
		assert.Equal(t, 2, strings.Count(status(), "transientFailure"), "one run, as the last and in the history")
		require.Equal(t, http.StatusAccepted, run().status)
		for range 50 {
			assert.Equal(t, http.StatusNoContent, p.send(http.MethodPost, "/indexers/x/reset", "").status)
		}
		assert.Equal(t, 49+1, strings.Count(status(), `"status":"reset"`))
		assert.NotContains(t, status(), "transientFailure")
		time.Sleep(2 * time.Second)
		assert.Contains(t, status(), `"lastResult":{"status":"transientFailure"`, "it started after the resets")
		p.send(http.MethodPost, "/indexers('y')/search.run", "").refuses(t, http.StatusNotFound, "Indexer 'y' was not found in service 'searchtest'.")
		p.send(http.MethodGet, "/indexers('y')/search.status", "").refuses(t, http.StatusNotFound, "Indexer 'y' was not found")
	})
}

func TestOnlyTheCreationOfAnEnabledIndexerRunsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := everyKind(t, nil)
		disabled := strings.NewReplacer(`"x"`, `"off"`, `"schedule"`, `"disabled":true,"schedule"`).Replace(blobIndex)
		require.Equal(t, http.StatusCreated, p.send(http.MethodPost, "/indexers", disabled).status)
		require.Equal(t, http.StatusCreated, p.send(http.MethodPut, "/indexers('put')", strings.Replace(blobIndex, `"x"`, `"put"`, 1)).status)
		var snapshot bytes.Buffer
		require.NoError(t, p.Snapshot(&snapshot))
		other := NewServer(nil)
		require.NoError(t, other.Restore(&snapshot))
		time.Sleep(time.Minute)
		for _, test := range []struct {
			p    probe
			name string
			runs int
		}{{p, "x", 1}, {p, "put", 1}, {p, "off", 0}, {probe{t, other}, "x", 0}} {
			status := test.p.send(http.MethodGet, "/indexers('"+test.name+"')/search.status", "").body
			assert.Equal(t, 2*test.runs, strings.Count(status, "transientFailure"), "%s: %s", test.name, status)
		}
	})
}

func TestWhatTheNextRunDoesIsCheckedAndTaken(t *testing.T) {
	p := everyKind(t, nil)
	for _, test := range []struct {
		path, body string
		status     int
	}{
		{"/indexers('x')/search.resync?api-version=2026-10-01", `{"options":["permissions"]}`, 204},
		{"/indexers('x')/search.resync?api-version=2026-10-01", `{"options":["all"]}`, 400},
		{"/indexers('x')/search.resetdocs?api-version=2026-08-01-preview", `{"documentKeys":["1"]}`, 204},
		{"/indexers('x')/search.resetdocs?api-version=2026-08-01-preview", `{"keys":["1"]}`, 400},
		{"/indexers('x')/search.resetdocs?api-version=2026-10-01", `{"documentKeys":["1"]}`, 404},
		{"/skillsets('skills')/search.resetskills?api-version=2026-08-01-preview", `{"skillNames":["#1"]}`, 204},
		{"/skillsets('none')/search.resetskills?api-version=2026-08-01-preview", `{"skillNames":["#1"]}`, 404},
	} {
		a := p.send(http.MethodPost, test.path, test.body)
		assert.Equal(t, test.status, a.status, "%s: %s", test.path, a.body)
	}
	assert.Contains(t, p.send(http.MethodGet, "/knowledgesources('ks')/status", "").body, `"kind":"searchIndex","synchronizationStatus":"active"`)
	p.send(http.MethodGet, "/knowledgesources('none')/status", "").refuses(t, http.StatusNotFound, "No knowledge source with the name 'none'")
}

func TestAllKindsAreCountedAndInASnapshot(t *testing.T) {
	p := everyKind(t, nil)
	stats := p.send(http.MethodGet, "/servicestats?api-version=2026-08-01-preview", "").body
	for _, counter := range []string{"indexersCount", "dataSourcesCount", "skillsetCount", "knowledgeBasesCount", "knowledgeSourcesCount"} {
		assert.Contains(t, stats, `"`+counter+`":{"usage":1,`)
	}
	var first, second bytes.Buffer
	require.NoError(t, p.Snapshot(&first))
	assert.NotContains(t, first.String(), "secret")
	assert.Contains(t, first.String(), `{"name":"x","dataSourceName":"blobs","skillsetName":"skills","targetIndexName":"types","schedule":{"interval":"PT1H"}}`)

	other := NewServer(nil)
	require.NoError(t, other.Restore(bytes.NewReader(first.Bytes())))
	require.NoError(t, other.Snapshot(&second))
	assert.Equal(t, first.String(), second.String())
	assert.Contains(t, probe{t, other}.send(http.MethodGet, "/indexers?$select=name", "").body, `"value":[{"name":"x"}]`)
}

// The service allows deleting what these definitions refer to, so a snapshot may lack it.
func TestDefinitionsThatReferToNothingAnyMoreAreRestored(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, p probe){
		"no data source":    func(t *testing.T, p probe) { p.delete(t, "/datasources('blobs')") },
		"no skillset":       func(t *testing.T, p probe) { p.delete(t, "/skillsets('skills')") },
		"none of the index": func(t *testing.T, p probe) { p.delete(t, "/indexes('types')") },
		"no target of a projection": func(t *testing.T, p probe) {
			create(t, p, "/indexes", chunkIndex, "/skillsets", strings.Replace(splitSkill, `"skills","skills"`, `"s","indexProjections":{"selectors":[{"targetIndexName":"chunks","parentKeyFieldName":"parent","sourceContext":"/document","mappings":[]}]},"skills"`, 1))
			p.delete(t, "/indexes('chunks')")
		},
		"no field of a mapping": func(t *testing.T, p probe) {
			create(t, p, "/indexes", chunkIndex, "/indexers", `{"name":"y","dataSourceName":"blobs","targetIndexName":"chunks","fieldMappings":[{"sourceFieldName":"a","targetFieldName":"parent"}]}`)
			p.delete(t, "/indexes('chunks')")
			create(t, p, "/indexes", strings.ReplaceAll(chunkIndex, "parent", "other"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := everyKind(t, nil)
			change(t, p)
			before := snapshot(t, p.Server)
			other := NewServer(nil)
			require.NoError(t, other.Restore(strings.NewReader(before)))
			require.Equal(t, before, snapshot(t, other))
			// Requests are checked as before.
			again := `{"name":"z","dataSourceName":"none","targetIndexName":"types"}`
			probe{t, other}.send(http.MethodPost, "/indexers", again).refuses(t, http.StatusBadRequest, "that doesn't exist")
		})
	}
}

// chunkIndex takes the documents of a projection.
const chunkIndex = `{"name":"chunks","fields":[{"name":"id","type":"Edm.String","key":true,"searchable":true,"analyzer":"keyword"},{"name":"parent","type":"Edm.String","filterable":true}]}`

// create creates definitions, given as pairs of a path and a body.
func create(t *testing.T, p probe, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		a := p.send(http.MethodPost, pairs[i], pairs[i+1])
		require.Equal(t, http.StatusCreated, a.status, "%s: %s", pairs[i], a.body)
	}
}

func (p probe) delete(t *testing.T, path string) {
	require.Equal(t, http.StatusNoContent, p.send(http.MethodDelete, path, "").status, path)
}

func TestListsComeInPagesWhereTheVersionHasThem(t *testing.T) {
	p := newProbe(t, nil)
	for _, name := range []string{"b2", "a1", "b1", "b3"} {
		require.Equal(t, http.StatusCreated, p.send(http.MethodPost, "/synonymmaps", `{"name":"`+name+`","format":"solr","synonyms":"a,b"}`).status)
	}
	var pages []string
	next := "/synonymmaps?api-version=2026-10-01&search=b&pageSize=2&$select=name"
	for next != "" {
		a := p.send(http.MethodGet, next, "")
		require.Equal(t, http.StatusOK, a.status, a.body)
		_, value, _ := strings.Cut(a.body, `"value":`)
		list, link, _ := strings.Cut(value, `,"@odata.nextLink":"https://searchtest.search.windows.net`)
		pages = append(pages, list)
		next = strings.ReplaceAll(strings.TrimSuffix(link, `"}`), `\u0026`, "&")
	}
	assert.Equal(t, []string{`[{"name":"b1"},{"name":"b2"}]`, `[{"name":"b3"}]}`}, pages)

	assert.Equal(t, 4, strings.Count(p.send(http.MethodGet, "/synonymmaps?api-version=2026-04-01&search=b&pageSize=2", "").body, `"format"`))
	for _, parameter := range []string{"pageSize=0", "pageSize=3001", "pageSize=x", "searchType=all"} {
		p.send(http.MethodGet, "/indexes?api-version=2026-10-01&"+parameter, "").refuses(t, http.StatusBadRequest, "is not valid for the query parameter")
	}
	assert.Contains(t, p.send(http.MethodGet, "/indexstats?api-version=2026-10-01", "").body, `"value":[{"name":"types","documentCount":0,"storageSize":0,"vectorIndexSize":0}]}`)
	assert.Equal(t, http.StatusNotFound, p.send(http.MethodGet, "/indexstats?api-version=2026-04-01", "").status)
}

func TestMoreLikeThisIsNamedWhereTheVersionHasIt(t *testing.T) {
	p := newProbe(t, nil)
	const path, body = "/indexes('types')/docs/search.post.search?api-version=", `{"moreLikeThis":"1"}`
	p.send(http.MethodPost, path+"2026-10-01", body).refuses(t, http.StatusNotImplemented, "moreLikeThis")
	p.send(http.MethodPost, path+"2026-04-01", body).refuses(t, http.StatusBadRequest, "moreLikeThis")
}
