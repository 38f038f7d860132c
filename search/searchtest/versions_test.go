package searchtest

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Since 2023 the service uses other messages and computations. A preview counts by its own date, not by that of a
// stable version. Expectations are as recorded.
var (
	versionsOfOld = []string{"2019-05-06", "2020-06-30"}
	versionsOfNow = []string{"2023-10-01-preview", "2023-11-01", "2024-07-01", "2025-09-01", "2025-11-01-preview", "2026-04-01"}
)

// coded is the body of a refusal with details.
func coded(code, message, detail, detailed string) string {
	return `{"error":{"code":"` + code + `","message":"` + message + `","details":[{"code":"` + detail + `","message":"` + detailed + `"}]}}`
}

func uncoded(message string) string { return `{"error":{"code":"","message":"` + message + `"}}` }

func TestRefusalsHaveCodesSince2023(t *testing.T) {
	const (
		parsed    = "Failed to parse query string at line 1, column 8. See https://aka.ms/azure-search-full-query for supported syntax."
		unnamed   = "Cannot find fields enabled for suggestions. Please provide a value for 'suggesterName' in the query."
		unknown   = "The specified suggester name 'none' does not exist in this index definition."
		undeleted = "No index with the name 'none' was found in a service named 'searchtest'."
		mapping   = "Syntax error in line 1: 'a=>b=>c'. Only one explicit mapping (=>) can be specified in a synonym rule."
		keyless   = "Found 0 key fields in index 'new'. Each index must have exactly one key field."
	)
	p := newProbe(t, nil)
	for name, test := range map[string]struct{ method, path, body, now, old string }{
		"text that cannot be parsed": {
			http.MethodPost, "/indexes('types')/docs/search.post.search", `{"search":"/.*/.*/","queryType":"full"}`,
			coded("InvalidRequestParameter", parsed, "InvalidSearchSyntax", parsed), uncoded(parsed),
		},
		"such text in a filter": {
			http.MethodPost, "/indexes('types')/docs/search.post.search", `{"filter":"search.ismatch('/.*/.*/', 's', 'full', 'any')"}`,
			coded("InvalidRequestParameter", parsed, "InvalidSearchSyntax", parsed), uncoded(parsed),
		},
		"no suggester": {
			http.MethodPost, "/indexes('types')/docs/search.post.suggest", `{"search":"a","suggesterName":""}`,
			coded("MissingRequiredParameter", unnamed+`\r\nParameter name: suggestions`, "MissingSuggesterName", unnamed), uncoded(unnamed + `\r\nParameter name: suggestions`),
		},
		"an unknown suggester": {
			http.MethodPost, "/indexes('types')/docs/search.post.autocomplete", `{"search":"a","suggesterName":"none"}`,
			coded("MissingRequiredParameter", unknown+`\r\nParameter name: name`, "MissingSuggesterName", unknown), uncoded(unknown + `\r\nParameter name: name`),
		},
		"deleting an index that is not there": {
			http.MethodDelete, "/indexes('none')", "",
			coded("OperationNotAllowed", undeleted, "IndexNotFoundInService", undeleted), uncoded(undeleted),
		},
		"synonyms that cannot be parsed": {
			http.MethodPost, "/synonymmaps", `{"name":"m","format":"solr","synonyms":"a=>b=>c"}`,
			coded("InvalidRequestParameter", mapping, "InvalidSynonymMapSyntax", mapping), uncoded(mapping),
		},
		"an index without a key": {
			http.MethodPost, "/indexes", `{"name":"new","fields":[{"name":"a","type":"Edm.String"}]}`,
			coded("OperationNotAllowed", "The request is invalid. Details: index : "+keyless, "MissingKeyField", keyless+" Parameters: index"),
			uncoded("The request is invalid. Details: index : " + keyless + `\r\n`),
		},
	} {
		for _, version := range versionsOfNow {
			assert.Equal(t, test.now, p.send(test.method, test.path+"?api-version="+version, test.body).body, "%s, %s", name, version)
		}
		for _, version := range versionsOfOld {
			assert.Equal(t, test.old, p.send(test.method, test.path+"?api-version="+version, test.body).body, "%s, %s", name, version)
		}
	}
	// The service gives no code to these errors, either.
	p.send(http.MethodGet, "/indexes('none')", "").says(t, 404, uncoded("No index with the name 'none' was found in the service 'searchtest'."))
	p.send(http.MethodDelete, "/synonymmaps('none')", "").says(t, 404, uncoded("No synonymMap with the name 'none' was found in a service named 'searchtest'."))
}

func (a answered) says(t *testing.T, status int, body string) {
	t.Helper()
	assert.Equal(t, status, a.status)
	assert.Equal(t, body, a.body)
}

func TestFacetsHaveTheCountLastSince2023(t *testing.T) {
	p := library(t)
	const path, body = "/indexes('types')/docs/search.post.search?api-version=", `{"facets":["b","i,values:4","d,interval:5"],"top":0,"search":"apple red"}`
	for _, version := range versionsOfNow {
		assert.Contains(t, p.send(http.MethodPost, path+version, body).body,
			`"@search.facets":{"b":[{"value":true,"count":2},{"value":false,"count":1}],"i":[{"to":4,"count":1},{"from":4,"count":2}],"d":[{"value":-5.0,"count":1},{"value":0.0,"count":2},{"value":5.0,"count":1}]}`)
	}
	for _, version := range versionsOfOld {
		assert.Contains(t, p.send(http.MethodPost, path+version, body).body,
			`"@search.facets":{"b":[{"count":2,"value":true},{"count":1,"value":false}],"i":[{"count":1,"to":4},{"count":2,"from":4}],"d":[{"count":1,"value":-5.0},{"count":2,"value":0.0},{"count":1,"value":5.0}]}`)
	}
}

// One of the two documents has three objects in a collection. Until 2023 those objects counted as rows, which made
// five.
func TestNestedObjectsCountInScoresUntil2023(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","s":"plum","cs":[{"x":"a"},{"x":"b"},{"x":"c"}]}`, `{"id":"2","s":"pear"}`)
	const path, body = "/indexes('types')/docs/search.post.search?api-version=", `{"search":"plum","searchFields":"s","select":"id"}`
	for _, version := range versionsOfNow { // ln(1+1.5/1.5), because all texts have average length
		assert.Contains(t, p.send(http.MethodPost, path+version, body).body, `"value":[{"@search.score":0.6931472,"id":"1"}]`, version)
	}
	const old = `"value":[{"@search.score":0.85911196,"id":"1"}]` // ln(1+4.5/1.5) * 2.2/(1+1.2*(0.25+0.75/0.4))
	assert.Contains(t, p.send(http.MethodPost, path+"2020-06-30", body).body, old)
	const filtered = `{"search":"plum","searchFields":"s","select":"id","filter":"search.ismatchscoring('plum', 's')"}`
	assert.Contains(t, p.send(http.MethodPost, path+"2026-04-01", filtered).body, `"@search.score":1.3862944,`)
	assert.Contains(t, p.send(http.MethodPost, path+"2020-06-30", filtered).body, `"@search.score":1.7182239,`)
}

// Scores of a single list have the digits of a 32-bit number; fused scores have those of its 64-bit value.
func TestFusedScoresHaveMoreDigits(t *testing.T) {
	p := library(t)
	const near = `{"kind":"vector","vector":[1,0,0],"k":2,"fields":"v"}`
	for body, want := range map[string]string{
		`{"select":"id","vectorQueries":[` + near + `]}`:                                `[{"@search.score":1.0,"id":"1"},{"@search.score":0.9939`,
		`{"select":"id","vectorQueries":[` + near + `,` + near + `]}`:                   `[{"@search.score":0.03333333507180214,"id":"1"},{"@search.score":0.032786883413791656,"id":"3"}]`,
		`{"select":"id","search":"wine pie","vectorQueries":[` + near + `]}`:            `[{"@search.score":0.03306011110544205,"id":"3"},{"@search.score":0.01666666753590107,"id":"1"},`,
		`{"select":"id","search":"*","vectorQueries":[` + near + `],"filter":"i lt 4"}`: `[{"@search.score":1.0,"id":"1"}]`,
	} {
		a := p.query(body)
		require.Equal(t, http.StatusOK, a.status, a.body)
		assert.Contains(t, a.body, want, body)
	}
}

func TestFuzzyCompletionsAreForWantOfOthersSince2020(t *testing.T) {
	c := newCaller(t)
	c.call("POST", "/indexes", smaller(`"suggesters":[{"name":"s","searchMode":"analyzingInfixMatching","sourceFields":["title"]}]`)).want(t, 201, "")
	c.call("POST", "/indexes('small')/docs/search.index", `{"value":[{"id":"1","title":"stone house"},{"id":"2","title":"storm"},{"id":"3","title":"shore line"}]}`).want(t, 200, "")
	complete := func(version, body string) string {
		return c.call("POST", "/indexes('small')/docs/search.post.autocomplete?api-version="+version, body, "Accept: application/json;odata.metadata=none").want(t, 200, "").body
	}
	const (
		one, two     = `{"search":"sto","fuzzy":true,"suggesterName":"s"}`, `{"search":"stox","fuzzy":true,"suggesterName":"s"}`
		exact        = `{"value":[{"text":"stone","queryPlusText":"stone"},{"text":"storm","queryPlusText":"storm"}]}`
		exactAndMore = `{"value":[{"text":"stone","queryPlusText":"stone"},{"text":"storm","queryPlusText":"storm"},{"text":"shore","queryPlusText":"shore"}]}`
	)
	for _, version := range append([]string{"2020-06-30"}, versionsOfNow...) {
		assert.Equal(t, exact, complete(version, one), version)
		assert.Equal(t, exact, complete(version, two), version)
	}
	assert.Equal(t, exactAndMore, complete("2019-05-06", one))
	assert.Equal(t, exact, complete("2019-05-06", two))
}

func TestServiceStatisticsAreInTheOrderOfTheService(t *testing.T) {
	c := newCaller(t)
	const none = `{"usage":0,"quota":null}`
	assert.Contains(t, c.call("GET", "/servicestats", "").body, `"counters":{"documentCount":`+none+`,"indexesCount":`+none+`,"indexersCount":`+none+`,"dataSourcesCount":`+none+`,"storageSize":`+none+
		`,"synonymMaps":`+none+`,"skillsetCount":`+none+`,"aliasesCount":`+none+`,"vectorIndexSize":`+none+`},"limits":{"maxStoragePerIndex":null,"maxFieldsPerIndex":1000,`)
	assert.Contains(t, c.call("GET", "/servicestats?api-version=2026-05-01-preview", "").body, `"vectorIndexSize":`+none+`,"knowledgeBasesCount":`+none+`,"knowledgeSourcesCount":`+none+`},`)
}

func TestStatisticsHaveTheMembersOfTheVersion(t *testing.T) {
	p := newProbe(t, nil)
	for _, test := range []struct{ path, member, has, lacks string }{
		{"/indexes('types')/search.stats", "vectorIndexSize", "2023-07-01-preview 2023-11-01", "2020-06-30 2021-04-30-preview"},
		{"/servicestats", "vectorIndexSize", "2023-07-01-preview 2023-11-01", "2020-06-30 2021-04-30-preview"},
		{"/servicestats", "maxStoragePerIndex", "2024-05-01-preview 2024-07-01", "2023-11-01 2024-03-01-preview"},
		{"/servicestats", "aliasesCount", "2021-04-30-preview 2026-04-01", "2020-06-30-preview 2025-09-01"},
		{"/servicestats", "skillsetCount", "2019-05-06-preview 2020-06-30", "2019-05-06"},
	} {
		for version := range strings.FieldsSeq(test.has) {
			assert.Contains(t, p.send(http.MethodGet, test.path+"?api-version="+version, "").body, test.member, version)
		}
		for version := range strings.FieldsSeq(test.lacks) {
			assert.NotContains(t, p.send(http.MethodGet, test.path+"?api-version="+version, "").body, test.member, version)
		}
	}
}

func TestAVersionNewerThanTheEmulatorIsAnsweredAsTheNewestWithAWarning(t *testing.T) {
	var log bytes.Buffer
	p := newProbe(t, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		a := p.send(http.MethodGet, "/aliases?api-version=2031-01-01", "")
		assert.Equal(t, http.StatusOK, a.status, a.body)
		assert.Equal(t, `299 searchtest "api-version 2031-01-01 is newer than this emulator, which answers as 2026-10-01"`, a.header.Get("Warning"))
	}
	assert.Equal(t, 1, strings.Count(log.String(), "newer than emulator"), log.String())
	assert.Empty(t, p.send(http.MethodGet, "/aliases", "").header.Get("Warning"))
	p.send(http.MethodGet, "/aliases?api-version=2026-10-02", "").refuses(t, http.StatusBadRequest, "does not exist")

	strict := newProbe(t, &Options{StrictVersions: true})
	a := strict.send(http.MethodGet, "/aliases?api-version=2031-01-01", "")
	a.refuses(t, http.StatusBadRequest, "does not exist")
	assert.Empty(t, a.header.Get("Warning"))
}

func (a answered) refuses(t *testing.T, status int, part string) {
	t.Helper()
	assert.Equal(t, status, a.status, a.body)
	assert.Contains(t, a.message(), part)
}
