package search_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const (
	synonymMap = `{"@odata.context":"x","@odata.etag":"\"0x8D1\"","name":"syn","format":"solr","synonyms":"usa,united states\nwashington => wa"}`
	alias      = `{"@odata.context":"x","@odata.etag":"\"0x8D6\"","name":"al","indexes":["wirevec"]}`
	tokenReply = `{"@odata.context":"x","tokens":[{"token":"the","startOffset":0,"endOffset":3,"position":0}]}`
)

// The requests of the official SDKs for synonym maps, aliases and analysis.
func TestManagementRequestsAreWhatTheServiceExpects(t *testing.T) {
	rules := models.SynonymMap{Name: "syn", Synonyms: []string{"usa,united states", "washington => wa"}}
	al := models.Alias{Name: "al", Indexes: []string{"wirevec"}}
	etag, anyETag := azcore.ETag(`"0x8D1"`), azcore.ETagAny
	const rulesBody = `{"name":"syn","format":"solr","synonyms":"usa,united states\nwashington => wa"}`
	type call func(context.Context, *search.IndexClient) error
	for name, c := range map[string]struct {
		answer  *wire
		do      call
		method  string
		uri     string
		body    string
		headers map[string]string
	}{
		"create synonym map": {reply(201, synonymMap), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.CreateSynonymMap(ctx, rules, nil)
			return err
		}, "POST", "/synonymmaps" + version, rulesBody, map[string]string{"Prefer": "", "If-Match": ""}},
		"create or update synonym map": {reply(201, synonymMap), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.CreateOrUpdateSynonymMap(ctx, rules, nil)
			return err
		}, "PUT", "/synonymmaps('syn')" + version, rulesBody, map[string]string{"Prefer": "return=representation", "If-Match": "", "If-None-Match": ""}},
		"write a synonym map that was read": {reply(200, synonymMap), func(ctx context.Context, c *search.IndexClient) error {
			read := rules
			read.ETag = string(etag)
			_, err := c.CreateOrUpdateSynonymMap(ctx, read, nil)
			return err
		}, "PUT", "/synonymmaps('syn')" + version, `{"name":"syn","format":"solr","synonyms":"usa,united states\nwashington => wa","@odata.etag":"\"0x8D1\""}`, map[string]string{"If-Match": `"0x8D1"`}},
		"write a synonym map that was read, over any": {reply(200, synonymMap), func(ctx context.Context, c *search.IndexClient) error {
			read := rules
			read.ETag = `"0xOLD"`
			_, err := c.CreateOrUpdateSynonymMap(ctx, read, &search.CreateOrUpdateSynonymMapOptions{IfMatch: &anyETag})
			return err
		}, "PUT", "/synonymmaps('syn')" + version, "", map[string]string{"If-Match": "*"}},
		"create a synonym map that was read elsewhere": {reply(201, synonymMap), func(ctx context.Context, c *search.IndexClient) error {
			read := rules
			read.ETag = `"0xOLD"`
			_, err := c.CreateOrUpdateSynonymMap(ctx, read, &search.CreateOrUpdateSynonymMapOptions{IfNoneMatch: &anyETag})
			return err
		}, "PUT", "/synonymmaps('syn')" + version, "", map[string]string{"If-Match": "", "If-None-Match": "*"}},
		"write an index that was read": {reply(200, definition), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.CreateOrUpdateIndex(ctx, models.SearchIndex{Name: "hotels", ETag: string(etag)}, nil)
			return err
		}, "PUT", "/indexes('hotels')" + version, "", map[string]string{"If-Match": `"0x8D1"`}},
		"get synonym map": {reply(200, `{"name":"it's","format":"solr"}`), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.GetSynonymMap(ctx, "it's", nil)
			return err
		}, "GET", "/synonymmaps('it%27%27s')" + version, "", nil},
		"list synonym maps": {reply(200, `{"value":[`+synonymMap+`]}`), func(ctx context.Context, c *search.IndexClient) (err error) {
			for _, err = range c.ListSynonymMaps(ctx, nil) {
			}
			return err
		}, "GET", "/synonymmaps" + version, "", nil},
		"list synonym map names": {reply(200, `{"value":[{"name":"syn"}]}`), func(ctx context.Context, c *search.IndexClient) (err error) {
			for _, err = range c.ListSynonymMapNames(ctx, nil) {
			}
			return err
		}, "GET", "/synonymmaps" + version + "&%24select=name", "", nil},
		"delete synonym map": {reply(204, ""), func(ctx context.Context, c *search.IndexClient) error {
			return c.DeleteSynonymMap(ctx, "syn", nil)
		}, "DELETE", "/synonymmaps('syn')" + version, "", map[string]string{"If-Match": ""}},
		"delete synonym map if unchanged": {reply(204, ""), func(ctx context.Context, c *search.IndexClient) error {
			return c.DeleteSynonymMap(ctx, "syn", &search.DeleteSynonymMapOptions{IfMatch: &etag})
		}, "DELETE", "/synonymmaps('syn')" + version, "", map[string]string{"If-Match": `"0x8D1"`}},

		"create alias": {reply(201, alias), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.CreateAlias(ctx, al, nil)
			return err
		}, "POST", "/aliases" + version, `{"name":"al","indexes":["wirevec"]}`, nil},
		"create or update alias": {reply(200, alias), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.CreateOrUpdateAlias(ctx, al, &search.CreateOrUpdateAliasOptions{IfNoneMatch: &anyETag})
			return err
		}, "PUT", "/aliases('al')" + version, `{"name":"al","indexes":["wirevec"]}`, map[string]string{"If-None-Match": "*", "Prefer": "return=representation"}},
		"get alias": {reply(200, alias), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.GetAlias(ctx, "al", nil)
			return err
		}, "GET", "/aliases('al')" + version, "", nil},
		"list aliases": {reply(200, `{"value":[`+alias+`]}`), func(ctx context.Context, c *search.IndexClient) (err error) {
			for _, err = range c.ListAliases(ctx, nil) {
			}
			return err
		}, "GET", "/aliases" + version, "", nil},
		"delete alias": {reply(204, ""), func(ctx context.Context, c *search.IndexClient) error {
			return c.DeleteAlias(ctx, "al", &search.DeleteAliasOptions{IfMatch: &etag})
		}, "DELETE", "/aliases('al')" + version, "", map[string]string{"If-Match": `"0x8D1"`}},

		"analyze with an analyzer": {reply(200, tokenReply), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.AnalyzeText(ctx, "wire", models.AnalyzeTextRequest{Text: "The quick fox", Analyzer: models.AnalyzerStandardLucene}, nil)
			return err
		}, "POST", "/indexes('wire')/search.analyze" + version, `{"text":"The quick fox","analyzer":"standard.lucene"}`, nil},
		"analyze with a tokenizer": {reply(200, tokenReply), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.AnalyzeText(ctx, "wire", models.AnalyzeTextRequest{
				Text: "One's <two/>", Tokenizer: models.TokenizerWhitespace,
				TokenFilters: []models.TokenFilterName{models.TokenFilterApostrophe}, CharFilters: []models.CharFilterName{models.CharFilterHTMLStrip},
			}, nil)
			return err
		}, "POST", "/indexes('wire')/search.analyze" + version, `{"text":"One's <two/>","tokenizer":"whitespace","tokenFilters":["apostrophe"],"charFilters":["html_strip"]}`, nil},
		"analyze with a normalizer": {reply(200, tokenReply), func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.AnalyzeText(ctx, "wire", models.AnalyzeTextRequest{Text: "", Normalizer: models.NormalizerLowercase}, nil)
			return err
		}, "POST", "/indexes('wire')/search.analyze" + version, `{"text":"","normalizer":"lowercase"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.do(t.Context(), newIndexClient(t, c.answer)))
			require.Len(t, c.answer.requests, 1)
			req := c.answer.requests[0]
			assert.Equal(t, c.method, req.Method)
			assert.Equal(t, testEndpoint+c.uri, req.URL.String())
			assert.Equal(t, minimal, req.Header.Get("Accept"))
			assert.Equal(t, testKey, req.Header.Get("api-key"))
			if c.body != "" {
				assert.Equal(t, c.body, c.answer.bodies[0])
				assert.Equal(t, "application/json", req.Header.Get("Content-Type"))
			}
			for header, value := range c.headers {
				assert.Equal(t, value, req.Header.Get(header), header)
			}
		})
	}
}

func TestManagementRepliesAreRead(t *testing.T) {
	ctx := t.Context()
	read, err := newIndexClient(t, reply(200, synonymMap)).GetSynonymMap(ctx, "syn", nil)
	require.NoError(t, err)
	assert.Equal(t, models.SynonymMap{Name: "syn", Format: "solr", Synonyms: []string{"usa,united states", "washington => wa"}, ETag: `"0x8D1"`}, read)
	al, err := newIndexClient(t, reply(200, "\ufeff"+alias)).GetAlias(ctx, "al", nil)
	require.NoError(t, err)
	assert.Equal(t, models.Alias{Name: "al", Indexes: []string{"wirevec"}, ETag: `"0x8D6"`}, al)
	tokens, err := newIndexClient(t, reply(200, tokenReply)).AnalyzeText(ctx, "wire", models.AnalyzeTextRequest{Analyzer: "simple"}, nil)
	require.NoError(t, err)
	assert.Equal(t, models.AnalyzeTextResult{Tokens: []models.AnalyzedToken{{Token: "the", EndOffset: 3}}}, tokens)
	var names []string
	for name, err := range newIndexClient(t, reply(200, `{"value":[{"name":"a"},{"name":"b"}]}`)).ListSynonymMapNames(ctx, nil) {
		require.NoError(t, err)
		names = append(names, name)
	}
	assert.Equal(t, []string{"a", "b"}, names)
}

func TestManagementErrorsNameWhatIsMissing(t *testing.T) {
	const id = ", request id 11111111-2222-3333-4444-555555555555)"
	getMap := func(ctx context.Context, c *search.IndexClient) error {
		_, err := c.GetSynonymMap(ctx, "syn", nil)
		return err
	}
	for name, c := range map[string]struct {
		do     func(context.Context, *search.IndexClient) error
		status int
		body   string
		is     error
		text   string
	}{
		"no synonym map": {getMap, 404, `{"error":{"code":"","message":"No synonym map with the name 'syn' was found in service 'svc'."}}`, search.ErrSynonymMapNotFound,
			`No synonym map with the name 'syn' was found in service 'svc'. (GetSynonymMap: HTTP 404` + id + `: the synonym map "syn" does not exist on svc.search.windows.net: check its name and the endpoint`},
		"no alias": {func(ctx context.Context, c *search.IndexClient) error { return c.DeleteAlias(ctx, "al", nil) }, 404, "", search.ErrAliasNotFound,
			`the service answered 404 Not Found and did not say why (DeleteAlias: HTTP 404` + id + `: the alias "al" does not exist on svc.search.windows.net: check its name and the endpoint`},
		"no index to analyze with": {func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.AnalyzeText(ctx, "hotels", models.AnalyzeTextRequest{Analyzer: "simple"}, nil)
			return err
		}, 404, "", search.ErrIndexNotFound, ""},
		"a synonym map of another": {func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.CreateOrUpdateSynonymMap(ctx, models.SynonymMap{Name: "syn", ETag: `"x"`}, nil)
			return err
		}, 412, "", search.ErrPreconditionFailed,
			`the service answered 412 Precondition Failed and did not say why (CreateOrUpdateSynonymMap: HTTP 412` + id + `: the synonym map was changed, created or deleted meanwhile: read it again and repeat the change with the new ETag`},
		"another server": {getMap, 404, "<h1>nginx</h1>", nil, ""},
		"no list":        {listMaps, 200, `{"value":null}`, models.ErrMalformedReply, ""},
		"no tokens": {func(ctx context.Context, c *search.IndexClient) error {
			_, err := c.AnalyzeText(ctx, "hotels", models.AnalyzeTextRequest{Analyzer: "simple"}, nil)
			return err
		}, 200, `{}`, models.ErrMalformedReply, ""},
		"no JSON":      {getMap, 200, `{"name":`, models.ErrMalformedReply, ""},
		"not its JSON": {getMap, 200, `{"name":7}`, models.ErrMalformedReply, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.do(t.Context(), newIndexClient(t, reply(c.status, c.body)))
			require.Error(t, err)
			for _, sentinel := range []error{search.ErrSynonymMapNotFound, search.ErrAliasNotFound, search.ErrIndexNotFound, search.ErrPreconditionFailed, models.ErrMalformedReply} {
				assert.Equal(t, sentinel == c.is, errors.Is(err, sentinel), "%v: %v", sentinel, err) //nolint:errorlint // exactly the expected sentinel matches
			}
			if c.text != "" {
				assert.Equal(t, c.text, err.Error())
			}
		})
	}
}

func listMaps(ctx context.Context, c *search.IndexClient) (err error) {
	for _, err = range c.ListSynonymMaps(ctx, nil) {
	}
	return err
}

// One error reports all problems, and nothing is sent.
func TestWhatCannotBeSentIsSaidBefore(t *testing.T) {
	w := reply(500, "")
	client := newIndexClient(t, w)
	old := options(w)
	old.APIVersion = "2025-09-01"
	oldClient, err := search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), old)
	require.NoError(t, err)
	older := options(w)
	older.APIVersion = "2024-07-01"
	olderClient, err := search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), older)
	require.NoError(t, err)
	ctx, empty := t.Context(), azcore.ETag("")
	analyze := func(c *search.IndexClient, request models.AnalyzeTextRequest) error {
		_, err := c.AnalyzeText(ctx, "hotels", request, nil)
		return err
	}
	for name, c := range map[string]struct {
		do   func() error
		want []string
	}{
		"an alias of an old version": {func() error {
			_, err := oldClient.CreateAlias(ctx, models.Alias{Name: "A"}, nil)
			return err
		}, []string{`search: CreateAlias of alias "A": `, "an alias is named like an index", "alias: api-version 2025-09-01 does not have it; set ClientOptions.APIVersion to 2026-04-01 or newer, or 2021-04-30-preview or a newer preview"}},
		"aliases of an old version": {func() (err error) {
			for _, err = range oldClient.ListAliases(ctx, nil) {
			}
			return err
		}, []string{"search: ListAliases: ", "set ClientOptions.APIVersion to 2026-04-01 or newer"}},
		"deleting an alias of an old version": {func() error { return oldClient.DeleteAlias(ctx, "al", nil) }, []string{"set ClientOptions.APIVersion to 2026-04-01 or newer"}},
		"getting one": {func() error {
			_, err := oldClient.GetAlias(ctx, "al", nil)
			return err
		}, []string{"set ClientOptions.APIVersion to 2026-04-01 or newer"}},
		"changing one": {func() error {
			_, err := oldClient.CreateOrUpdateAlias(ctx, models.Alias{Name: "al"}, nil)
			return err
		}, []string{"set ClientOptions.APIVersion to 2026-04-01 or newer"}},
		"a normalizer of an old version": {func() error {
			return analyze(olderClient, models.AnalyzeTextRequest{Normalizer: "lowercase"})
		}, []string{"normalizer: api-version 2024-07-01 does not have it; set ClientOptions.APIVersion to 2025-09-01 or newer"}},
		"nothing to analyze with": {func() error { return analyze(client, models.AnalyzeTextRequest{}) }, []string{"nothing to analyze the text with"}},
		"too much to analyze with": {func() error {
			return analyze(client, models.AnalyzeTextRequest{Text: "\xff", Analyzer: "a", Normalizer: "n", CharFilters: []models.CharFilterName{"c"}})
		}, []string{"Analyzer and Normalizer are set: set one of them", "need a Tokenizer", "the text is not valid UTF-8"}},
		"no name": {func() error {
			_, err := client.CreateOrUpdateSynonymMap(ctx, models.SynonymMap{}, &search.CreateOrUpdateSynonymMapOptions{IfMatch: &empty})
			return err
		}, []string{"the name of the synonym map is empty", "the ETag for If-Match is empty"}},
		"no name to delete": {func() error { return client.DeleteSynonymMap(ctx, "", nil) }, []string{"the name of the synonym map is empty"}},
		"no change": {func() error {
			_, err := client.UpdateIndex(ctx, "hotels", nil, nil)
			return err
		}, []string{`search: UpdateIndex of index "hotels": the function that changes it is nil`}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.do()
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	assert.Empty(t, w.requests)

	// Previews have had aliases and normalizers for longer than stable versions.
	preview := options(reply(200, alias))
	preview.APIVersion = "2021-04-30-Preview"
	previewClient, err := search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), preview)
	require.NoError(t, err)
	_, err = previewClient.GetAlias(ctx, "al", nil)
	require.NoError(t, err)
}

// Concurrent updates each add a field; the final index has all of them.
func TestUpdateIndexLosesNoUpdateConcurrentSafe(t *testing.T) {
	const writers = 8
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	client, err := search.NewIndexClientWithKey(srv.URL(), credential, options(srv))
	require.NoError(t, err)
	_, err = client.CreateIndex(t.Context(), diffBase(), nil)
	require.NoError(t, err)
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		wg.Go(func() {
			_, errs[i] = client.UpdateIndex(t.Context(), "hotels", func(x *models.SearchIndex) error {
				x.Fields = append(x.Fields, models.SearchField{Name: fmt.Sprint("field", i), Type: models.DataTypeInt32})
				return nil
			}, &search.UpdateIndexOptions{MaxAttempts: 1000})
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	index, err := client.GetIndex(t.Context(), "hotels", nil)
	require.NoError(t, err)
	assert.Len(t, index.Fields, len(diffBase().Fields)+writers)
}

func TestUpdateIndexGivesUpInTheEnd(t *testing.T) {
	w := &wire{answer: func(_ int, req *http.Request) (*http.Response, error) {
		if req.Method == http.MethodGet {
			return response(200, definition), nil
		}
		return response(412, ""), nil
	}}
	for attempts, want := range map[int]int{0: 5, -1: 1, 2: 2} {
		w.requests = nil
		calls := 0
		_, err := newIndexClient(t, w).UpdateIndex(t.Context(), "hotels", func(x *models.SearchIndex) error {
			calls++
			x.Description = "new"
			return nil
		}, &search.UpdateIndexOptions{MaxAttempts: attempts, AllowIndexDowntime: true})
		require.ErrorIs(t, err, search.ErrPreconditionFailed)
		assert.Equal(t, want, calls)
		require.Len(t, w.requests, 2*want)
		assert.Equal(t, `"0x8D1"`, w.requests[1].Header.Get("If-Match"))
		assert.Equal(t, "true", w.requests[1].URL.Query().Get("allowIndexDowntime"))
	}
}

func TestUpdateIndexKnowsItsOwnChangeAgain(t *testing.T) {
	changed := `{"@odata.etag":"\"0x8D2\"","name":"hotels","description":"new","fields":[{"name":"hotelId","type":"Edm.String","key":true,"retrievable":true}],"suggesters":[]}`
	w := replies(response(200, definition), response(503, ""), response(412, ""), response(200, changed))
	calls := 0
	index, err := newIndexClient(t, w).UpdateIndex(t.Context(), "hotels", func(x *models.SearchIndex) error {
		calls++
		x.Description = "new"
		return nil
	}, nil)
	require.NoError(t, err)
	assert.Equal(t, `"0x8D2"`, index.ETag)
	assert.Equal(t, 1, calls)
	require.Len(t, w.requests, 4)
}

func TestUpdatesThatChangeNothingWriteNothing(t *testing.T) {
	w := reply(200, definition)
	index, err := newIndexClient(t, w).UpdateIndex(t.Context(), "hotels", func(*models.SearchIndex) error { return nil }, nil)
	require.NoError(t, err)
	assert.Equal(t, `"0x8D1"`, index.ETag)
	assert.Len(t, w.requests, 1)

	refusal := errors.New("not today")
	_, err = newIndexClient(t, w).UpdateIndex(t.Context(), "hotels", func(*models.SearchIndex) error { return refusal }, nil)
	require.ErrorIs(t, err, refusal)
	require.ErrorContains(t, err, `search: UpdateIndex of index "hotels": `)
	_, err = newIndexClient(t, w).UpdateIndex(t.Context(), "hotels", func(x *models.SearchIndex) error { x.Name = "motels"; return nil }, nil)
	require.ErrorContains(t, err, `renames it to "motels"`)
	assert.Len(t, w.requests, 3)
	_, err = newIndexClient(t, reply(404, "")).UpdateIndex(t.Context(), "hotels", func(*models.SearchIndex) error { return nil }, nil)
	require.ErrorIs(t, err, search.ErrIndexNotFound)
}

func TestUpdateSynonymMapBeginsAgain(t *testing.T) {
	theirs := `{"@odata.etag":"\"0x8D2\"","name":"syn","format":"solr","synonyms":"theirs"}`
	ours := `{"@odata.etag":"\"0x8D3\"","name":"syn","format":"solr","synonyms":"theirs\nours"}`
	w := replies(response(200, synonymMap), response(412, ""), response(200, theirs), response(200, ours))
	got, err := newIndexClient(t, w).UpdateSynonymMap(t.Context(), "syn", func(x *models.SynonymMap) error {
		x.Synonyms = append(x.Synonyms, "ours")
		return nil
	}, nil)
	require.NoError(t, err)
	assert.Equal(t, models.SynonymRules{"theirs", "ours"}, got.Synonyms)
	assert.Equal(t, `"0x8D1"`, w.requests[1].Header.Get("If-Match"))
	assert.Equal(t, `"0x8D2"`, w.requests[3].Header.Get("If-Match"))
	assert.Equal(t, `{"name":"syn","format":"solr","synonyms":"theirs\nours","@odata.etag":"\"0x8D2\""}`, w.bodies[3])

	w = replies(response(200, synonymMap), response(503, ""), response(412, ""), response(200, `{"@odata.etag":"\"0x8D9\"","name":"syn","format":"solr","synonyms":"all"}`))
	got, err = newIndexClient(t, w).UpdateSynonymMap(t.Context(), "syn", func(x *models.SynonymMap) error { x.Synonyms = []string{"all"}; return nil }, nil)
	require.NoError(t, err)
	assert.Equal(t, `"0x8D9"`, got.ETag)

	_, err = newIndexClient(t, reply(404, "")).UpdateSynonymMap(t.Context(), "syn", func(*models.SynonymMap) error { return nil }, nil)
	require.ErrorIs(t, err, search.ErrSynonymMapNotFound)
}

// The update sets no condition itself.
func TestDefinitionsThatWereReadAreNotWrittenOverOthers(t *testing.T) {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	client, err := search.NewIndexClientWithKey(srv.URL(), credential, options(srv))
	require.NoError(t, err)
	first, err := client.CreateIndex(t.Context(), diffBase(), nil)
	require.NoError(t, err)
	second := first
	first.Description = "first"
	_, err = client.CreateOrUpdateIndex(t.Context(), first, nil)
	require.NoError(t, err)
	second.Description = "second"
	_, err = client.CreateOrUpdateIndex(t.Context(), second, nil)
	require.ErrorIs(t, err, search.ErrPreconditionFailed)
	second.ETag = ""
	_, err = client.CreateOrUpdateIndex(t.Context(), second, nil)
	require.NoError(t, err, "a definition without an ETag overwrites any version")
}

func TestEachManagementCallIsOneSpan(t *testing.T) {
	var s spans
	opts := options(replies(response(200, definition), response(412, ""), response(200, definition), response(200, definition)))
	opts.TracingProvider = s.provider()
	client, err := search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = client.UpdateIndex(t.Context(), "hotels", func(x *models.SearchIndex) error { x.Description = "new"; return nil }, nil)
	require.NoError(t, err)
	var names []string
	for _, sp := range s.list {
		assert.True(t, sp.ended, sp.name)
		names = append(names, sp.parent+" > "+sp.name)
	}
	const call = "IndexClient.UpdateIndex"
	assert.Equal(t, []string{" > " + call, call + " > HTTP GET", call + " > HTTP PUT", call + " > HTTP GET", call + " > HTTP PUT"}, names)
}
