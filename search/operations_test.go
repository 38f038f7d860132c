package search_test

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/spec"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

// clients are clients of one recording service.
type clients struct {
	*wire
	index   *search.IndexClient
	indexer *search.IndexerClient
	base    *search.KnowledgeBaseClient
	docs    *search.Client
}

// newClients returns clients of a service that answers every request with 201 and {"value":[]}. Few calls accept that
// reply; the tests check only the requests.
func newClients(t *testing.T, version string) clients {
	t.Helper()
	w := &wire{answer: func(int, *http.Request) (*http.Response, error) {
		return response(http.StatusTeapot, `{"value":[]}`), nil
	}}
	opts := options(w)
	opts.APIVersion = version
	key := azcore.NewKeyCredential(testKey)
	c := clients{wire: w}
	var err error
	c.index, err = search.NewIndexClientWithKey(testEndpoint, key, opts)
	require.NoError(t, err)
	c.indexer, err = search.NewIndexerClientWithKey(testEndpoint, key, opts)
	require.NoError(t, err)
	c.base, err = search.NewKnowledgeBaseClientWithKey(testEndpoint, "x", key, opts)
	require.NoError(t, err)
	c.docs, err = search.NewClientWithKey(testEndpoint, "x1", key, opts)
	require.NoError(t, err)
	return c
}

func drain[T any](all iter.Seq2[T, error]) {
	for _, err := range all {
		_ = err
	}
}

// specified makes the request of each operation, with every option.
var specified = map[string]func(context.Context, clients){
	"GET /indexes": func(ctx context.Context, c clients) {
		drain(c.index.ListIndexNames(ctx, (*search.ListIndexNamesOptions)(paged)))
	},
	"GET /indexstats": func(ctx context.Context, c clients) {
		drain(c.index.ListIndexStatistics(ctx, (*search.ListIndexStatisticsOptions)(paged)))
	},
	"GET /aliases": func(ctx context.Context, c clients) {
		drain(c.index.ListAliases(ctx, (*search.ListAliasesOptions)(paged)))
	},
	"GET /synonymmaps": func(ctx context.Context, c clients) {
		drain(c.index.ListSynonymMapNames(ctx, (*search.ListSynonymMapNamesOptions)(paged)))
	},
	"GET /datasources": func(ctx context.Context, c clients) {
		drain(c.indexer.ListDataSourceNames(ctx, (*search.ListDataSourceNamesOptions)(paged)))
	},
	"GET /indexers": func(ctx context.Context, c clients) {
		drain(c.indexer.ListIndexerNames(ctx, (*search.ListIndexerNamesOptions)(paged)))
	},
	"GET /skillsets": func(ctx context.Context, c clients) {
		drain(c.indexer.ListSkillsetNames(ctx, (*search.ListSkillsetNamesOptions)(paged)))
	},
	"GET /knowledgebases": func(ctx context.Context, c clients) {
		drain(c.index.ListKnowledgeBases(ctx, (*search.ListKnowledgeBasesOptions)(paged)))
	},
	"GET /knowledgesources": func(ctx context.Context, c clients) {
		drain(c.index.ListKnowledgeSources(ctx, (*search.ListKnowledgeSourcesOptions)(paged)))
	},
	"GET /knowledgesources('{}')/files": func(ctx context.Context, c clients) {
		drain(c.index.ListKnowledgeSourceFiles(ctx, "x", &search.ListKnowledgeSourceFilesOptions{Folder: "f", Prefix: "p", PageSize: 2}))
	},

	"GET /indexes('{}')":                 func(ctx context.Context, c clients) { _, _ = c.index.GetIndex(ctx, "x1", nil) },
	"GET /aliases('{}')":                 func(ctx context.Context, c clients) { _, _ = c.index.GetAlias(ctx, "x1", nil) },
	"GET /synonymmaps('{}')":             func(ctx context.Context, c clients) { _, _ = c.index.GetSynonymMap(ctx, "x", nil) },
	"GET /datasources('{}')":             func(ctx context.Context, c clients) { _, _ = c.indexer.GetDataSource(ctx, "x", nil) },
	"GET /indexers('{}')":                func(ctx context.Context, c clients) { _, _ = c.indexer.GetIndexer(ctx, "x", nil) },
	"GET /skillsets('{}')":               func(ctx context.Context, c clients) { _, _ = c.indexer.GetSkillset(ctx, "x", nil) },
	"GET /knowledgebases('{}')":          func(ctx context.Context, c clients) { _, _ = c.index.GetKnowledgeBase(ctx, "x", nil) },
	"GET /knowledgesources('{}')":        func(ctx context.Context, c clients) { _, _ = c.index.GetKnowledgeSource(ctx, "x", nil) },
	"GET /knowledgesources('{}')/status": func(ctx context.Context, c clients) { _, _ = c.index.GetKnowledgeSourceStatus(ctx, "x", nil) },
	"GET /indexers('{}')/search.status":  func(ctx context.Context, c clients) { _, _ = c.indexer.GetIndexerStatus(ctx, "x", nil) },
	"GET /indexes('{}')/search.stats":    func(ctx context.Context, c clients) { _, _ = c.index.GetIndexStatistics(ctx, "x1", nil) },
	"GET /servicestats":                  func(ctx context.Context, c clients) { _, _ = c.index.GetServiceStatistics(ctx, nil) },

	"POST /indexes": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateIndex(ctx, models.SearchIndex{Name: "x1"}, nil)
	},
	"POST /aliases": func(ctx context.Context, c clients) { _, _ = c.index.CreateAlias(ctx, models.Alias{Name: "x1"}, nil) },
	"POST /synonymmaps": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateSynonymMap(ctx, models.SynonymMap{Name: "x"}, nil)
	},
	"POST /datasources": func(ctx context.Context, c clients) {
		_, _ = c.indexer.CreateDataSource(ctx, indexers.DataSource{Name: "x"}, nil)
	},
	"POST /indexers": func(ctx context.Context, c clients) {
		_, _ = c.indexer.CreateIndexer(ctx, indexers.Indexer{Name: "x"}, nil)
	},
	"POST /skillsets": func(ctx context.Context, c clients) {
		_, _ = c.indexer.CreateSkillset(ctx, skills.Skillset{Name: "x"}, nil)
	},
	"POST /knowledgebases": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateKnowledgeBase(ctx, knowledge.Base{Name: "x"}, nil)
	},
	"POST /knowledgesources": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateKnowledgeSource(ctx, knowledge.Source{Name: "x"}, nil)
	},

	"PUT /indexes('{}')": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateOrUpdateIndex(ctx, models.SearchIndex{Name: "x1"}, &search.CreateOrUpdateIndexOptions{IfMatch: tag, IfNoneMatch: anyTag, AllowIndexDowntime: true})
	},
	"PUT /aliases('{}')": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateOrUpdateAlias(ctx, models.Alias{Name: "x1"}, &search.CreateOrUpdateAliasOptions{IfMatch: tag, IfNoneMatch: anyTag})
	},
	"PUT /synonymmaps('{}')": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateOrUpdateSynonymMap(ctx, models.SynonymMap{Name: "x"}, &search.CreateOrUpdateSynonymMapOptions{IfMatch: tag, IfNoneMatch: anyTag})
	},
	"PUT /datasources('{}')": func(ctx context.Context, c clients) {
		_, _ = c.indexer.CreateOrUpdateDataSource(ctx, indexers.DataSource{Name: "x"}, &search.CreateOrUpdateDataSourceOptions{IfMatch: tag, IfNoneMatch: anyTag})
	},
	"PUT /indexers('{}')": func(ctx context.Context, c clients) {
		_, _ = c.indexer.CreateOrUpdateIndexer(ctx, indexers.Indexer{Name: "x"}, &search.CreateOrUpdateIndexerOptions{IfMatch: tag, IfNoneMatch: anyTag})
	},
	"PUT /skillsets('{}')": func(ctx context.Context, c clients) {
		_, _ = c.indexer.CreateOrUpdateSkillset(ctx, skills.Skillset{Name: "x"}, &search.CreateOrUpdateSkillsetOptions{IfMatch: tag, IfNoneMatch: anyTag})
	},
	"PUT /knowledgebases('{}')": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateOrUpdateKnowledgeBase(ctx, knowledge.Base{Name: "x"}, &search.CreateOrUpdateKnowledgeBaseOptions{IfMatch: tag, IfNoneMatch: anyTag})
	},
	"PUT /knowledgesources('{}')": func(ctx context.Context, c clients) {
		_, _ = c.index.CreateOrUpdateKnowledgeSource(ctx, knowledge.Source{Name: "x"}, &search.CreateOrUpdateKnowledgeSourceOptions{IfMatch: tag, IfNoneMatch: anyTag})
	},
	"PUT /knowledgesources('{}')/files('{}')": func(ctx context.Context, c clients) {
		_, _ = c.index.UpdateKnowledgeSourceFile(ctx, "x", "f", knowledge.FileMetadata{}, strings.NewReader("text"), nil)
	},

	"DELETE /indexes('{}')": func(ctx context.Context, c clients) {
		_ = c.index.DeleteIndex(ctx, "x1", &search.DeleteIndexOptions{IfMatch: tag})
	},
	"DELETE /aliases('{}')": func(ctx context.Context, c clients) {
		_ = c.index.DeleteAlias(ctx, "x1", &search.DeleteAliasOptions{IfMatch: tag})
	},
	"DELETE /synonymmaps('{}')": func(ctx context.Context, c clients) {
		_ = c.index.DeleteSynonymMap(ctx, "x", &search.DeleteSynonymMapOptions{IfMatch: tag})
	},
	"DELETE /datasources('{}')": func(ctx context.Context, c clients) {
		_ = c.indexer.DeleteDataSource(ctx, "x", &search.DeleteDataSourceOptions{IfMatch: tag})
	},
	"DELETE /indexers('{}')": func(ctx context.Context, c clients) {
		_ = c.indexer.DeleteIndexer(ctx, "x", &search.DeleteIndexerOptions{IfMatch: tag})
	},
	"DELETE /skillsets('{}')": func(ctx context.Context, c clients) {
		_ = c.indexer.DeleteSkillset(ctx, "x", &search.DeleteSkillsetOptions{IfMatch: tag})
	},
	"DELETE /knowledgebases('{}')": func(ctx context.Context, c clients) {
		_ = c.index.DeleteKnowledgeBase(ctx, "x", &search.DeleteKnowledgeBaseOptions{IfMatch: tag})
	},
	"DELETE /knowledgesources('{}')": func(ctx context.Context, c clients) {
		_ = c.index.DeleteKnowledgeSource(ctx, "x", &search.DeleteKnowledgeSourceOptions{IfMatch: tag})
	},
	"DELETE /knowledgesources('{}')/files('{}')": func(ctx context.Context, c clients) { _ = c.index.DeleteKnowledgeSourceFile(ctx, "x", "f", nil) },

	"POST /indexers('{}')/search.run":   func(ctx context.Context, c clients) { _ = c.indexer.RunIndexer(ctx, "x", nil) },
	"POST /indexers('{}')/search.reset": func(ctx context.Context, c clients) { _ = c.indexer.ResetIndexer(ctx, "x", nil) },
	"POST /indexers('{}')/search.resync": func(ctx context.Context, c clients) {
		_ = c.indexer.ResyncIndexer(ctx, "x", []string{search.ResyncPermissions}, nil)
	},
	"POST /indexers('{}')/search.resetdocs": func(ctx context.Context, c clients) {
		_ = c.indexer.ResetDocuments(ctx, "x", []string{"1"}, &search.ResetDocumentsOptions{Overwrite: true})
	},
	"POST /skillsets('{}')/search.resetskills":     func(ctx context.Context, c clients) { _ = c.indexer.ResetSkills(ctx, "x", []string{"#1"}, nil) },
	"POST /knowledgesources('{}')/files multipart": uploadFile,
	"POST /knowledgebases('{}')/retrieve": func(ctx context.Context, c clients) {
		_, _ = c.base.Retrieve(search.WithUserToken(ctx, "token"), knowledge.Request{}, nil)
	},
	"POST /knowledgebases('{}')/retrieve stream": func(ctx context.Context, c clients) {
		drain(c.base.RetrieveStream(search.WithUserToken(ctx, "token"), knowledge.Request{}, nil))
	},

	"POST /indexes('{}')/search.analyze": func(ctx context.Context, c clients) {
		_, _ = c.index.AnalyzeText(ctx, "x1", models.AnalyzeTextRequest{Text: "t", Analyzer: models.AnalyzerStandardLucene}, nil)
	},
	"POST /indexes('{}')/docs/search.index": func(ctx context.Context, c clients) { _, _ = c.docs.IndexDocumentsRaw(ctx, newBody(emptyOK)) },
	"POST /indexes('{}')/docs/search.post.search": func(ctx context.Context, c clients) {
		drain(search.Search[models.Document](search.WithUserToken(ctx, "token"), c.docs, "", &search.SearchOptions{MoreLikeThis: "1"}))
	},
	"POST /indexes('{}')/docs/search.post.suggest": func(ctx context.Context, c clients) {
		_, _ = search.Suggest[models.Document](ctx, c.docs, "t", "s", nil)
	},
	"POST /indexes('{}')/docs/search.post.autocomplete": func(ctx context.Context, c clients) { _, _ = c.docs.Autocomplete(ctx, "t", "s", nil) },
	"GET /indexes('{}')/docs('{}')": func(ctx context.Context, c clients) {
		_, _ = search.GetDocument[models.Document](search.WithUserToken(ctx, "token"), c.docs, "k", &search.GetDocumentOptions{Select: []string{"a"}})
	},
	"GET /indexes('{}')/docs/$count": func(ctx context.Context, c clients) { _, _ = c.docs.DocumentCount(ctx, nil) },
}

func uploadFile(ctx context.Context, c clients) {
	_, _ = c.index.UploadKnowledgeSourceFile(ctx, "x", knowledge.FileMetadata{FileName: "f", Metadata: map[string]string{"a": "b"}}, strings.NewReader("text"), nil)
}

var (
	paged  = &search.ListIndexesOptions{Prefix: "p", PageSize: 2}
	tag    = new(azcore.ETag(`"1"`))
	anyTag = new(azcore.ETagAny)
)

// unsent has the operations and parameters of stable versions that no function sends, with the reason.
var unsent = map[string]string{
	"DELETE If-None-Match":                                                  "a delete with If-None-Match has no use",
	"GET /indexes('{}')/docs":                                               "queries are sent as POST",
	"GET /indexes('{}')/docs/search.suggest":                                "queries are sent as POST",
	"GET /indexes('{}')/docs/search.autocomplete":                           "queries are sent as POST",
	"POST /indexes('{}')/docs/search.post.search x-ms-enable-elevated-read": "WithElevatedRead sends it, which excludes the token of a user",
	"GET /indexes('{}')/docs('{}') x-ms-enable-elevated-read":               "WithElevatedRead sends it, which excludes the token of a user",
}

var name = regexp.MustCompile(`\('[^']*'\)`)

// Each operation is sent in its newest version and compared with the specification: address, parameters and headers.
func TestOperationsAreThoseOfTheSpecification(t *testing.T) {
	s, err := spec.Load()
	require.NoError(t, err)
	used := map[string]bool{}
	except := func(item string) bool {
		used[item] = used[item] || unsent[item] != ""
		return used[item]
	}
	for _, route := range slices.Sorted(maps.Keys(s.Operations)) {
		o := s.Operations[route]
		do := specified[route]
		if do == nil {
			assert.True(t, !s.Stable(o.In) || except(route), "%s: no function sends it", route)
			continue
		}
		versions := s.Names(o.In)
		version := versions[len(versions)-1]
		c := newClients(t, version)
		do(t.Context(), c)
		if !assert.NotEmpty(t, c.requests, "%s: nothing was sent", route) {
			continue
		}
		req := c.requests[0]
		path, err := url.PathUnescape(req.URL.EscapedPath())
		require.NoError(t, err)
		want, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(route, " stream"), " multipart"), "?")
		assert.Equal(t, want, req.Method+" "+name.ReplaceAllString(path, "('{}')"))
		assert.Equal(t, version, req.URL.Query().Get("api-version"))
		for parameter, in := range o.Parameters {
			if slices.Contains(s.Names(in), version) && !except(route+" "+parameter) && !except(req.Method+" "+parameter) {
				assert.True(t, req.URL.Query().Has(parameter) || req.Header.Get(parameter) != "", "%s: it lacks %s", route, parameter)
			}
		}
		if body := c.bodies[0]; body != "" && !strings.HasSuffix(route, "multipart") && !strings.Contains(route, "files") {
			assert.True(t, json.Valid([]byte(body)), "%s: %s", route, body)
		}
	}
	for route := range specified {
		assert.Contains(t, s.Operations, route)
	}
	for item, reason := range unsent {
		assert.True(t, used[item], "the exception %s (%s) is not needed", item, reason)
	}
}

// The test covers the operations of DefaultAPIVersion. A client with another version never sends the default one.
func TestEveryOperationIsAskedInTheDefaultVersion(t *testing.T) {
	s, err := spec.Load()
	require.NoError(t, err)
	all, sent := 0, 0
	for route, o := range s.Operations {
		if !slices.Contains(s.Names(o.In), search.DefaultAPIVersion) {
			continue
		}
		all++
		do := specified[route]
		if do == nil {
			assert.Contains(t, unsent, route)
			continue
		}
		sent++
		assert.Equal(t, search.DefaultAPIVersion, asked(t, "", do).URL.Query().Get("api-version"), route)
		c := newClients(t, "2026-04-01")
		do(t.Context(), c)
		for _, req := range c.requests {
			assert.Equal(t, "2026-04-01", req.URL.Query().Get("api-version"), route)
		}
	}
	assert.Equal(t, []int{64, 61}, []int{all, sent}, "operations, and those that functions send; the others are queries as GET")
}
