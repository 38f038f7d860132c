package search_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

const (
	none       = "application/json;odata.metadata=none"
	minimal    = "application/json;odata.metadata=minimal"
	version    = "?api-version=2026-10-01"
	okOne      = `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":201}]}`
	definition = `{"@odata.etag":"\"0x8D1\"","name":"hotels","fields":[{"name":"hotelId","type":"Edm.String","key":true}]}`
)

// The test compares method, address, headers and body of every operation with those of the official SDKs.
func TestRequestsAreWhatTheServiceExpects(t *testing.T) {
	index := models.SearchIndex{Name: "hotels"}
	etag := azcore.ETag(`"0x8D1"`)
	anyETag := azcore.ETagAny
	docs := "/indexes('hotels')/docs"
	batch := docs + "/search.index" + version

	cases := map[string]struct {
		answer  *wire
		do      func(context.Context, *search.Client, *search.IndexClient) error
		method  string
		uri     string
		accept  string
		body    string // "" is not checked for definitions
		headers map[string]string
	}{
		"raw batch": {
			reply(200, okOne), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := c.IndexDocumentsRaw(ctx, newBody(`{"value":[{"@search.action":"upload","hotelId":"1"}]}`))
				return err
			}, "POST", batch, none, `{"value":[{"@search.action":"upload","hotelId":"1"}]}`, nil,
		},
		"mixed batch": {
			reply(200, emptyOKFor("1", "2", "3")), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.IndexDocuments(ctx, c, models.NewIndexDocumentsBatch(
					models.UploadAction(hotel{"1", "a<b"}), models.MergeAction(hotel{"2", "x"}), models.DeleteAction(hotel{"3", "gone"})), nil)
				return err
			}, "POST", batch, none,
			`{"value":[{"@search.action":"upload","hotelId":"1","hotelName":"a<b"},{"@search.action":"merge","hotelId":"2","hotelName":"x"},{"@search.action":"delete","hotelId":"3"}]}`, nil,
		},
		"upload": {
			reply(200, okOne), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.UploadDocuments(ctx, c, []hotel{{ID: "1"}}, nil)
				return err
			}, "POST", batch, none, `{"value":[{"@search.action":"upload","hotelId":"1"}]}`, nil,
		},
		"merge": {
			reply(200, okOne), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.MergeDocuments(ctx, c, []hotel{{ID: "1"}}, nil)
				return err
			}, "POST", batch, none, `{"value":[{"@search.action":"merge","hotelId":"1"}]}`, nil,
		},
		"merge or upload": {
			reply(200, okOne), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.MergeOrUploadDocuments(ctx, c, []map[string]any{{"hotelId": "1"}}, &search.IndexDocumentsOptions{KeyField: "hotelId"})
				return err
			}, "POST", batch, none, `{"value":[{"@search.action":"mergeOrUpload","hotelId":"1"}]}`, nil,
		},
		"delete of a document without a known key": {
			reply(200, okOne), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.DeleteDocuments(ctx, c, []map[string]any{{"hotelId": "1"}}, nil)
				return err
			}, "POST", batch, none, `{"value":[{"@search.action":"delete","hotelId":"1"}]}`, nil,
		},
		"delete by key": {
			reply(200, okOne), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.DeleteDocumentsByKey(ctx, c, "hotelId", []string{"1"}, nil)
				return err
			}, "POST", batch, none, `{"value":[{"@search.action":"delete","hotelId":"1"}]}`, nil,
		},
		"lookup": {
			reply(200, `{"hotelId":"1"}`), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.GetDocument[hotel](ctx, c, "1", nil)
				return err
			}, "GET", docs + "('1')" + version, none, "", nil,
		},
		"lookup with select": {
			reply(200, `{"hotelId":"1"}`), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.GetDocument[hotel](ctx, c, "1", &search.GetDocumentOptions{Select: []string{"hotelId", "address/city"}})
				return err
			}, "GET", docs + "('1')" + version + "&%24select=hotelId%2Caddress%2Fcity", none, "", nil,
		},
		"lookup of an odd key": {
			reply(200, `{"hotelId":"1"}`), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := search.GetDocument[hotel](ctx, c, "a=b_c-d'/?#% é", nil)
				return err
			}, "GET", docs + "('a%3Db_c-d%27%27%2F%3F%23%25%20%C3%A9')" + version, none, "", nil,
		},
		"count": {
			reply(200, "\ufeff42"), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := c.DocumentCount(ctx, nil)
				return err
			}, "GET", docs + "/$count" + version, none, "", nil,
		},
		"key field": {
			reply(200, definition), func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
				_, err := c.KeyFieldName(ctx)
				return err
			}, "GET", "/indexes('hotels')" + version, minimal, "", nil,
		},
		"create index": {
			reply(201, definition), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				_, err := c.CreateIndex(ctx, index, nil)
				return err
			}, "POST", "/indexes" + version, minimal, "", map[string]string{"Prefer": "", "If-Match": "", "Content-Type": "application/json"},
		},
		"create or update index": {
			reply(200, definition), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				_, err := c.CreateOrUpdateIndex(ctx, index, nil)
				return err
			}, "PUT", "/indexes('hotels')" + version, minimal, "", map[string]string{"Prefer": "return=representation", "If-Match": "", "If-None-Match": ""},
		},
		"update index if unchanged, offline if need be": {
			reply(200, definition), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				_, err := c.CreateOrUpdateIndex(ctx, index, &search.CreateOrUpdateIndexOptions{IfMatch: &etag, AllowIndexDowntime: true})
				return err
			}, "PUT", "/indexes('hotels')" + version + "&allowIndexDowntime=true", minimal, "", map[string]string{"If-Match": `"0x8D1"`, "Prefer": "return=representation"},
		},
		"create index if there is none": {
			reply(201, definition), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				_, err := c.CreateOrUpdateIndex(ctx, index, &search.CreateOrUpdateIndexOptions{IfNoneMatch: &anyETag})
				return err
			}, "PUT", "/indexes('hotels')" + version, minimal, "", map[string]string{"If-None-Match": "*", "If-Match": ""},
		},
		"get index": {
			reply(200, definition), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				_, err := c.GetIndex(ctx, "hotels", nil)
				return err
			}, "GET", "/indexes('hotels')" + version, minimal, "", nil,
		},
		"list indexes": {
			reply(200, `{"value":[`+definition+`]}`), func(ctx context.Context, _ *search.Client, c *search.IndexClient) (err error) {
				for _, err = range c.ListIndexes(ctx, nil) {
				}
				return err
			}, "GET", "/indexes" + version, minimal, "", nil,
		},
		"list index names": {
			reply(200, `{"value":[{"name":"hotels"}]}`), func(ctx context.Context, _ *search.Client, c *search.IndexClient) (err error) {
				for _, err = range c.ListIndexNames(ctx, nil) {
				}
				return err
			}, "GET", "/indexes" + version + "&%24select=name", minimal, "", nil,
		},
		"delete index": {
			reply(204, ""), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				return c.DeleteIndex(ctx, "hotels", nil)
			}, "DELETE", "/indexes('hotels')" + version, minimal, "", map[string]string{"If-Match": "", "Prefer": ""},
		},
		"delete index if unchanged": {
			reply(204, ""), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				return c.DeleteIndex(ctx, "hotels", &search.DeleteIndexOptions{IfMatch: &etag})
			}, "DELETE", "/indexes('hotels')" + version, minimal, "", map[string]string{"If-Match": `"0x8D1"`},
		},
		"index statistics": {
			reply(200, `{"documentCount":1}`), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				_, err := c.GetIndexStatistics(ctx, "hotels", nil)
				return err
			}, "GET", "/indexes('hotels')/search.stats" + version, minimal, "", nil,
		},
		"service statistics": {
			reply(200, `{"counters":{},"limits":{}}`), func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
				_, err := c.GetServiceStatistics(ctx, nil)
				return err
			}, "GET", "/servicestats" + version, minimal, "", nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.do(t.Context(), newClient(t, c.answer), newIndexClient(t, c.answer)))
			require.Len(t, c.answer.requests, 1)
			req := c.answer.requests[0]
			assert.Equal(t, c.method, req.Method)
			assert.Equal(t, testEndpoint+c.uri, req.URL.String())
			assert.Equal(t, c.accept, req.Header.Get("Accept"))
			assert.Equal(t, testKey, req.Header.Get("api-key"))
			assert.Empty(t, req.Header.Get("Authorization"))
			assert.Regexp(t, uuidPattern, req.Header.Get("x-ms-client-request-id"))
			assert.Regexp(t, `^azsdk-go-azsearch/v\d+\.\d+\.\d+ \(go`, req.UserAgent())
			if c.body != "" {
				assert.Equal(t, c.body, c.answer.bodies[0])
			}
			if c.answer.bodies[0] != "" {
				assert.EqualValues(t, len(c.answer.bodies[0]), req.ContentLength, "bodies are never chunked")
				assert.Equal(t, "application/json", req.Header.Get("Content-Type"))
			}
			for header, value := range c.headers {
				assert.Equal(t, value, req.Header.Get(header), header)
			}
		})
	}
}

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// emptyOKFor returns the reply that confirms an upload of the keys.
func emptyOKFor(keys ...string) string {
	s := `{"value":[`
	for i, key := range keys {
		if i > 0 {
			s += ","
		}
		s += `{"key":"` + key + `","status":true,"errorMessage":null,"statusCode":200}`
	}
	return s + `]}`
}

func TestClientRequestIDOfTheContextIsSentAndReported(t *testing.T) {
	w := reply(500, "")
	ctx := models.WithClientRequestID(t.Context(), "abababab-0000-0000-0000-000000000000")
	_, err := newClient(t, w).DocumentCount(ctx, nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "abababab-0000-0000-0000-000000000000", e.ClientRequestID)
	require.Len(t, w.requests, 4, "azcore makes three retries by default")
	for _, req := range w.requests {
		assert.Equal(t, "abababab-0000-0000-0000-000000000000", req.Header.Get("x-ms-client-request-id"), "each attempt has the same request id")
	}
}

func TestPerCallOptionsTravelInTheContext(t *testing.T) {
	w := reply(503, "")
	ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: -1})
	ctx = policy.WithHTTPHeader(ctx, http.Header{"X-Mine": {"yes"}})
	var captured *http.Response
	ctx = policy.WithCaptureResponse(ctx, &captured)
	_, err := newClient(t, w).DocumentCount(ctx, nil)
	require.Error(t, err)
	require.Len(t, w.requests, 1)
	assert.Equal(t, "yes", w.requests[0].Header.Get("X-Mine"))
	require.NotNil(t, captured)
	assert.Equal(t, 503, captured.StatusCode)
}

func TestCapturedRepliesCanBeRead(t *testing.T) {
	const results = `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":200}]}`
	for name, c := range map[string]struct {
		reply string
		do    func(context.Context, *search.Client) error
	}{
		"a batch": {results, func(ctx context.Context, c *search.Client) error {
			return second(search.UploadDocuments(ctx, c, []hotel{{ID: "1"}}, nil))
		}},
		"a document": {`{"id":"1"}`, func(ctx context.Context, c *search.Client) error {
			return second(search.GetDocument[hotel](ctx, c, "1", nil))
		}},
		"a page": {`{"value":[]}`, func(ctx context.Context, c *search.Client) error {
			return second(search.NewSearchPager[hotel](c, "", nil).NextPage(ctx))
		}},
		"a count": {`7`, func(ctx context.Context, c *search.Client) error { return second(c.DocumentCount(ctx, nil)) }},
		"a raw batch, whose memory is reused": {results, func(ctx context.Context, c *search.Client) error {
			return second(c.IndexDocumentsRaw(ctx, streaming.NopCloser(strings.NewReader(`{}`))))
		}},
	} {
		var captured *http.Response
		require.NoError(t, c.do(policy.WithCaptureResponse(t.Context(), &captured), newClient(t, reply(200, c.reply))), name)
		body, err := io.ReadAll(captured.Body)
		require.NoError(t, err)
		want := c.reply
		if strings.HasPrefix(name, "a raw") {
			want = ""
		}
		assert.Equal(t, want, string(body), name)
	}
}

func TestAPIVersionCanBeChosenInEitherPlace(t *testing.T) {
	for name, set := range map[string]func(*search.ClientOptions){
		"ours":     func(o *search.ClientOptions) { o.APIVersion = "2024-07-01" },
		"azcore's": func(o *search.ClientOptions) { o.ClientOptions.APIVersion = "2024-07-01" },
		"both":     func(o *search.ClientOptions) { o.APIVersion, o.ClientOptions.APIVersion = "2024-07-01", "2024-07-01" },
	} {
		t.Run(name, func(t *testing.T) {
			w := reply(200, "1")
			opts := options(w)
			set(opts)
			client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
			require.NoError(t, err)
			_, err = client.DocumentCount(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, "api-version=2024-07-01", w.requests[0].URL.RawQuery)
		})
	}
}

func TestEndpointWithAPathIsKept(t *testing.T) {
	w := reply(200, "1")
	client, err := search.NewClientWithKey("https://gateway.example.com/search/", "hotels", azcore.NewKeyCredential(testKey), options(w))
	require.NoError(t, err)
	_, err = client.DocumentCount(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "https://gateway.example.com/search/indexes('hotels')/docs/$count"+version, w.requests[0].URL.String())
	assert.Equal(t, "https://gateway.example.com/search", client.Endpoint())
}
