package searchtest

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBothSpellingsOfAPathMeanTheSame(t *testing.T) {
	for _, test := range []struct {
		method, path string
		op           Operation
		index, key   string
	}{
		{"POST", "/indexes", OpCreateIndex, "", ""},
		{"GET", "/indexes", OpListIndexes, "", ""},
		{"GET", "/indexes/", OpListIndexes, "", ""},
		{"GET", "/indexes('hotels')", OpGetIndex, "hotels", ""},
		{"GET", "/indexes/hotels", OpGetIndex, "hotels", ""},
		{"PUT", "/indexes('hotels')", OpCreateOrUpdateIndex, "hotels", ""},
		{"DELETE", "/indexes/hotels", OpDeleteIndex, "hotels", ""},
		{"GET", "/indexes('hotels')/search.stats", OpIndexStatistics, "hotels", ""},
		{"GET", "/indexes/hotels/stats", OpIndexStatistics, "hotels", ""},
		{"GET", "/servicestats", OpServiceStatistics, "", ""},
		{"POST", "/indexes('hotels')/docs/search.index", OpIndexDocuments, "hotels", ""},
		{"POST", "/indexes/hotels/docs/index", OpIndexDocuments, "hotels", ""},
		{"POST", "/indexes%28%27hotels%27%29/docs/search.index", OpIndexDocuments, "hotels", ""},
		{"GET", "/indexes('hotels')/docs/$count", OpCountDocuments, "hotels", ""},
		{"GET", "/indexes/hotels/docs/%24count", OpCountDocuments, "hotels", ""},
		{"GET", "/indexes('hotels')/docs('1')", OpGetDocument, "hotels", "1"},
		{"GET", "/indexes/hotels/docs/1", OpGetDocument, "hotels", "1"},
		{"GET", "/indexes('hotels')/docs('a%3Db_c-d')", OpGetDocument, "hotels", "a=b_c-d"},
		{"GET", "/indexes('hotels')/docs('it''s')", OpGetDocument, "hotels", "it's"},
		{"GET", "/indexes('hotels')/docs('it%27%27s%2Fhere')", OpGetDocument, "hotels", "it's/here"},
		{"GET", "/indexes('hotels')/docs('$count')", OpGetDocument, "hotels", "$count"},
		{"GET", "/indexes('hotels')/docs('search.index')", OpGetDocument, "hotels", "search.index"},
		{"GET", "/indexes/hotels/docs/search", OpGetDocument, "hotels", "search"},
		{"GET", "/indexes('docs')/docs('docs')", OpGetDocument, "docs", "docs"},
		{"GET", "/indexes('hotels')/docs", OpSearch, "hotels", ""},
		{"POST", "/indexes('hotels')/docs/search.post.search", OpSearch, "hotels", ""},
		{"POST", "/indexes/hotels/docs/search", OpSearch, "hotels", ""},
		{"GET", "/indexes('hotels')/docs/search.suggest", OpSuggest, "hotels", ""},
		{"POST", "/indexes/hotels/docs/suggest", OpSuggest, "hotels", ""},
		{"POST", "/indexes('hotels')/docs/search.post.autocomplete", OpAutocomplete, "hotels", ""},
		{"POST", "/indexes/hotels/docs/autocomplete", OpAutocomplete, "hotels", ""},
		{"POST", "/indexes/hotels/analyze", OpAnalyze, "hotels", ""},
		{"GET", "/agents", OpOther, "", ""},
		{"GET", "/indexers", "listIndexers", "", ""},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			u, err := url.Parse("https://x.search.windows.net" + test.path + "?api-version=2026-10-01")
			require.NoError(t, err)
			rt, fault := operations.Find(&http.Request{Method: test.method, URL: u})
			require.Nil(t, fault)
			assert.Equal(t, test.op, Operation(rt.Operation))
			assert.Equal(t, test.index, rt.Index)
			assert.Equal(t, test.key, rt.Key)
			assert.Equal(t, latest, rt.Version)
		})
	}
}

func TestBothSpellingsOfADefinitionMeanTheSame(t *testing.T) {
	for _, test := range []struct {
		method, path string
		op           Operation
		name         string
	}{
		{"GET", "/synonymmaps", OpListSynonymMaps, ""},
		{"POST", "/synonymmaps", OpCreateSynonymMap, ""},
		{"GET", "/synonymmaps('x')", OpGetSynonymMap, "x"},
		{"GET", "/synonymmaps/x", OpGetSynonymMap, "x"},
		{"PUT", "/synonymmaps('x')", OpCreateOrUpdateSynonymMap, "x"},
		{"DELETE", "/synonymmaps/x", OpDeleteSynonymMap, "x"},
		{"GET", "/aliases", OpListAliases, ""},
		{"POST", "/aliases", OpCreateAlias, ""},
		{"GET", "/aliases('x')", OpGetAlias, "x"},
		{"PUT", "/aliases/x", OpCreateOrUpdateAlias, "x"},
		{"PUT", "/aliases('it''s')", OpCreateOrUpdateAlias, "it's"},
		{"DELETE", "/aliases('x')", OpDeleteAlias, "x"},
		{"POST", "/datasources", "createDataSource", ""},
		{"PUT", "/skillsets('x')", "createOrUpdateSkillset", "x"},
		{"GET", "/indexers('x')/search.status", "indexerStatus", "x"},
		{"GET", "/indexers/x/status", "indexerStatus", "x"},
		{"POST", "/indexers('x')/search.run", "runIndexer", "x"},
		{"POST", "/indexers/x/reset", "resetIndexer", "x"},
		{"DELETE", "/knowledgesources('x')", "deleteKnowledgeSource", "x"},
		{"GET", "/knowledgebases/x", "getKnowledgeBase", "x"},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			r, err := http.NewRequest(test.method, "https://x.search.windows.net"+test.path+"?api-version=2026-10-01", nil)
			require.NoError(t, err)
			rt, fault := operations.Find(r)
			require.Nil(t, fault)
			assert.Equal(t, test.op, Operation(rt.Operation))
			assert.Equal(t, test.name, rt.Name)
			assert.True(t, needsAdmin(rt.Operation))
		})
	}
}

func TestAddressesThatMeanNothing(t *testing.T) {
	p := newProbe(t, nil)
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/", 404},
		{"GET", "/nothing", 404},
		{"GET", "/servicestats/x", 404},
		{"GET", "/indexes('types')/nothing", 404},
		{"GET", "/indexes('types')/docs/1/2", 404},
		{"GET", "/synonymmaps('x')/y", 404},
		{"GET", "/aliases('x')/y", 404},
		{"GET", "/aliases?api-version=2025-09-01", 404},
		{"GET", "/knowledgebases?api-version=2025-09-01", 404},
		{"GET", "/knowledgesources/x/files?api-version=2026-04-01", 404},
		{"PUT", "/knowledgesources/x/files/f?api-version=2026-05-01-preview", 404},
		{"POST", "/indexers('x')/search.resync?api-version=2026-04-01", 404},
		{"GET", "/indexes('types')/search.analyze/x", 404},
		{"PATCH", "/indexes", 405},
		{"PUT", "/synonymmaps", 405},
		{"POST", "/aliases('x')", 405},
		{"GET", "/indexes('types')/analyze", 405},
		{"POST", "/servicestats", 405},
		{"POST", "/indexes('types')/search.stats", 405},
		{"DELETE", "/indexes('types')/docs('1')", 405},
		{"GET", "/indexes('types')/docs/search.index", 405},
		{"GET", "/indexes('types')/docs('it's')", 400},
		{"GET", "/indexes('types')/docs('%00')", 400},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			a := probe{t, p.Server}.send(test.method, test.path, "")
			assert.Equal(t, test.status, a.status)
			assert.NotEmpty(t, a.message())
		})
	}
}

func TestWhatIsNotEmulatedIsNamed(t *testing.T) {
	p := newProbe(t, nil)
	require.Equal(t, http.StatusCreated, p.send("POST", "/knowledgesources", `{"name":"x","kind":"searchIndex","searchIndexParameters":{"searchIndexName":"types"}}`).status)
	require.Equal(t, http.StatusCreated, p.send("POST", "/knowledgebases", `{"name":"x","knowledgeSources":[{"name":"x"}]}`).status)
	for path, feature := range map[string]string{
		"/agents": "agents yet", "/knowledgebases('x')/retrieve": "retrieval from knowledge bases", "/knowledgesources/x/files": "files of knowledge sources",
	} {
		a := p.send("POST", path, "{}")
		assert.Equal(t, http.StatusNotImplemented, a.status, path)
		assert.Equal(t, "searchtest does not emulate "+feature+".", a.message())
	}
}

// No address makes the router panic, and keys survive encoding and decoding.
func FuzzParseRoute(f *testing.F) {
	for _, s := range []string{"/indexes('a')/docs('b')", "/indexes/a/docs/b", "/indexes('a''')", "/indexes(''')/x", "/indexes%28%27a%27%29", "//", "/docs('"} {
		f.Add(s, "it's a/key=%")
	}
	f.Fuzz(func(t *testing.T, path, key string) {
		for _, method := range []string{"GET", "POST"} {
			if u, err := url.Parse("http://x/" + path); err == nil {
				_, _ = operations.Find(&http.Request{Method: method, URL: u})
			}
		}
		if key == "" || !validKeyText(key) {
			return
		}
		u, err := url.Parse("http://x/indexes('a')/docs('" + url.PathEscape(quoteTwice(key)) + "')")
		require.NoError(t, err)
		rt, fault := operations.Find(&http.Request{Method: "GET", URL: u})
		require.Nil(t, fault)
		require.Equal(t, key, rt.Key)
	})
}

func quoteTwice(s string) string {
	out := ""
	for _, r := range s {
		if r == '\'' {
			out += "'"
		}
		out += string(r)
	}
	return out
}

// validKeyText reports whether s can be part of an address.
func validKeyText(s string) bool {
	for _, r := range s {
		if r == 0 || r == '\ufffd' {
			return false
		}
	}
	return true
}
