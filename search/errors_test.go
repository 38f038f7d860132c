package search_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// The test compares whole error texts, one row for each kind of refusal, because users rely on them.
func TestErrorSaysWhatTheServiceSaidAndWhatHelps(t *testing.T) {
	const id = ", request id 11111111-2222-3333-4444-555555555555)"
	getDocument := func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
		_, err := search.GetDocument[hotel](ctx, c, "1", nil)
		return err
	}
	raw := func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
		_, err := c.IndexDocumentsRaw(ctx, newBody("x"))
		return err
	}
	getIndex := func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
		_, err := c.GetIndex(ctx, "hotels", nil)
		return err
	}
	keyField := func(ctx context.Context, c *search.Client, _ *search.IndexClient) error {
		_, err := c.KeyFieldName(ctx)
		return err
	}
	statistics := func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
		_, err := c.GetServiceStatistics(ctx, nil)
		return err
	}
	update := func(ctx context.Context, _ *search.Client, c *search.IndexClient) error {
		_, err := c.CreateOrUpdateIndex(ctx, models.SearchIndex{Name: "hotels"}, nil)
		return err
	}
	const noIndex = `{"error":{"code":"ResourceNotFound","message":"No index with the name 'hotels' was found in the service 'svc'."}}`
	const noIndexText = `No index with the name 'hotels' was found in the service 'svc'. `
	const noIndexHint = `: the index "hotels" does not exist on svc.search.windows.net: check its name and the endpoint, or create it with IndexClient.CreateIndex`

	for name, c := range map[string]struct {
		do     func(context.Context, *search.Client, *search.IndexClient) error
		status int
		body   string
		text   string
		is     error
	}{
		"missing document: empty body": {getDocument, 404, "",
			`the service answered 404 Not Found and did not say why (GetDocument of index "hotels": HTTP 404` + id + `: the index exists, the document does not; a document just written may take a few seconds to appear`,
			search.ErrDocumentNotFound},
		"missing document: in words": {getDocument, 404, `{"error":{"code":"","message":"Document not found."}}`,
			`Document not found. (GetDocument of index "hotels": HTTP 404` + id + `: the index exists, the document does not; a document just written may take a few seconds to appear`,
			search.ErrDocumentNotFound},
		"missing index: lookup": {getDocument, 404, noIndex,
			noIndexText + `(GetDocument of index "hotels": HTTP 404 ResourceNotFound` + id + noIndexHint, search.ErrIndexNotFound},
		"missing index: its name is misleading": {getDocument, 404, `{"error":{"message":"No index with the name 'documents' was found in the service 'svc'."}}`,
			`No index with the name 'documents' was found in the service 'svc'. (GetDocument of index "hotels": HTTP 404` + id + noIndexHint, search.ErrIndexNotFound},
		"missing index: batch": {raw, 404, noIndex,
			noIndexText + `(IndexDocuments of index "hotels": HTTP 404 ResourceNotFound` + id + noIndexHint, search.ErrIndexNotFound},
		"missing index: definition, empty body": {getIndex, 404, "",
			`the service answered 404 Not Found and did not say why (GetIndex of index "hotels": HTTP 404` + id + noIndexHint, search.ErrIndexNotFound},
		"404 of something else": {statistics, 404, "",
			`the service answered 404 Not Found and did not say why (GetServiceStatistics: HTTP 404` + id + `: check the endpoint https://svc.search.windows.net and the api-version 2026-10-01`, nil},
		"404 of another server": {getIndex, 404, "<html>\r\n<title>nginx</title><body>Not <b>here</b></body></html>",
			`nginx Not here (GetIndex of index "hotels": HTTP 404` + id + `: this reply does not come from a search service: check the endpoint https://svc.search.windows.net and any proxy on the way`, nil},
		"401": {raw, 401, "",
			`the service answered 401 Unauthorized and did not say why (IndexDocuments of index "hotels": HTTP 401` + id + `: IndexDocuments needs an admin key (query keys only read documents) of this service`, nil},
		"403 for a write": {raw, 403, `{"error":{"code":"","message":"Invalid api-key."}}`,
			`Invalid api-key. (IndexDocuments of index "hotels": HTTP 403` + id + `: IndexDocuments needs an admin key (query keys only read documents) of this service; the key may also have been rolled since, or the service may accept roles only`, nil},
		"403 for the quota of storage": {raw, 403, `{"error":{"code":"","message":"Storage quota has been exceeded for this service."}}`,
			`Storage quota has been exceeded for this service. (IndexDocuments of index "hotels": HTTP 403` + id + `: a quota of the service is used up: delete documents or indexes, or choose a larger tier`, nil},
		"403 for a lookup": {getDocument, 403, "",
			`the service answered 403 Forbidden and did not say why (GetDocument of index "hotels": HTTP 403` + id + `: GetDocument needs a query key or an admin key of this service; the key may also have been rolled since, or the service may accept roles only`, nil},
		"403 for the key field": {keyField, 403, "",
			`the service answered 403 Forbidden and did not say why (KeyFieldName of index "hotels": HTTP 403` + id + `: KeyFieldName needs an admin key (query keys only read documents) of this service; the key may also have been rolled since, or the service may accept roles only; or name the key field with the struct tag search:"key" or a key accessor, and the definition need not be read`, nil},
		"412": {update, 412, `{"error":{"code":"","message":"The precondition given in one of the request headers evaluated to false. No change was made to the resource from this request."}}`,
			`The precondition given in one of the request headers evaluated to false. No change was made to the resource from this request. (CreateOrUpdateIndex of index "hotels": HTTP 412` + id + `: the index was changed, created or deleted meanwhile: read it again and repeat the change with the new ETag`,
			search.ErrPreconditionFailed},
		"413 of a gateway": {raw, 413, "<h1>413 Request Entity Too Large</h1>",
			`413 Request Entity Too Large (IndexDocuments of index "hotels": HTTP 413` + id + `: send fewer documents in one request, or use a bufferedsender, which splits its batches`, nil},
		"413 without a word": {raw, 413, "",
			`the service answered 413 Request Entity Too Large and did not say why (IndexDocuments of index "hotels": HTTP 413` + id + `: send fewer documents in one request, or use a bufferedsender, which splits its batches`, nil},
		"400 with line ends and byte order mark": {raw, 400, "\ufeff" + `{"error":{"code":"","message":"The request is invalid. Details: actions : 0: Document key cannot be missing or empty.\r\n"}}`,
			`The request is invalid. Details: actions : 0: Document key cannot be missing or empty. (IndexDocuments of index "hotels": HTTP 400` + id, nil},
		"400 with many details, and a code of two lines": {raw, 400, `{"error":{"code":"A\nB","message":"No.","details":[{"message":"one."},{"message":"No."},{"message":"three."},{"message":"four."},{"message":"five."}]}}`,
			`No. one. three. (IndexDocuments of index "hotels": HTTP 400 A B` + id, nil},
		"400 with a detail that repeats it": {raw, 400, `{"error":{"code":"","message":"The request is invalid. Details: actions : 0: No key.","details":[{"code":"MissingKeyField","message":"0: No key. Parameters: actions"}]}}`,
			`The request is invalid. Details: actions : 0: No key. (IndexDocuments of index "hotels": HTTP 400` + id, nil},
		"400 with details": {update, 400, `{"error":{"code":"OperationNotAllowed","message":"The request is invalid.","details":[{"code":"CannotChangeExistingField","message":"Existing field 'x' cannot be changed.","target":"x"},{"code":"Same","message":"The request is invalid."},7]}}`,
			`The request is invalid. Existing field 'x' cannot be changed. (CreateOrUpdateIndex of index "hotels": HTTP 400 OperationNotAllowed` + id, nil},
		"400 for the version": {statistics, 400, `{"error":{"message":"The version indicated by the api-version query string parameter does not exist."}}`,
			`The version indicated by the api-version query string parameter does not exist. (GetServiceStatistics: HTTP 400` + id + `: this client asked for api-version 2026-10-01; set ClientOptions.APIVersion to one that the service has, see DefaultAPIVersion`, nil},
		"old OData wrapping": {statistics, 400, `{"odata.error":{"code":"X","message":{"lang":"en","value":"Old."}}}`,
			`Old. (GetServiceStatistics: HTTP 400 X` + id, nil},
		"message of an API gateway": {statistics, 400, `{"statusCode":400,"message":"Bad subscription."}`,
			`Bad subscription. (GetServiceStatistics: HTTP 400` + id, nil},
		"error that is a string": {statistics, 400, `{"error":"just text"}`,
			`just text (GetServiceStatistics: HTTP 400` + id, nil},
		"error without members": {statistics, 409, `{"error":{}}`,
			`the service answered 409 Conflict and did not say why (GetServiceStatistics: HTTP 409` + id, nil},
		"body that breaks off": {statistics, 409, `{"error":{"code":"A","mess`,
			`{"error":{"code":"A","mess (GetServiceStatistics: HTTP 409` + id + `: this reply does not come from a search service: check the endpoint https://svc.search.windows.net and any proxy on the way`, nil},
		"redirect": {statistics, 302, "",
			`the service answered 302 Found and did not say why (GetServiceStatistics: HTTP 302` + id + `: a search service never redirects: check the endpoint https://svc.search.windows.net`, nil},
		"a malformed success": {raw, 204, "",
			`the service answered 204 No Content and did not say why (IndexDocuments of index "hotels": HTTP 204` + id, nil},
		"503 of a load balancer": {raw, 503, "upstream connect error",
			`upstream connect error (IndexDocuments of index "hotels": HTTP 503` + id + `: the service is too busy, or being updated: try again later, or with fewer requests at once`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := reply(c.status, c.body)
			err := c.do(t.Context(), newClient(t, w), newIndexClient(t, w))
			var e *search.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.text, err.Error())
			assert.Equal(t, c.status, e.HTTPStatus())
			var azure *azcore.ResponseError
			require.ErrorAs(t, err, &azure)
			assert.Equal(t, c.status, azure.StatusCode)
			assert.Equal(t, e.Code, azure.ErrorCode)
			for _, sentinel := range []error{search.ErrIndexNotFound, search.ErrDocumentNotFound, search.ErrPreconditionFailed} {
				assert.Equal(t, errors.Is(c.is, sentinel), errors.Is(err, sentinel), "errors.Is %v", sentinel)
			}
			var status retry.StatusError
			require.ErrorAs(t, err, &status)
			assert.Len(t, w.requests, map[bool]int{true: 1, false: len(w.requests)}[c.status < 500])
		})
	}
}

// Some gateways quote request headers in their error pages.
func TestErrorHasNoCredentialThatAGatewayQuotes(t *testing.T) {
	const key = "0123456789abcdefABCDEF"
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(key), options(&wire{answer: func(_ int, req *http.Request) (*http.Response, error) {
		return response(http.StatusUnauthorized, "refused: Api-Key: "+req.Header.Get("Api-Key")+", X-Request: "+req.URL.Path), nil
	}}))
	require.NoError(t, err)
	_, err = client.DocumentCount(t.Context(), nil)
	assert.ErrorContains(t, err, "refused: Api-Key: ***, X-Request: /indexes")
	var azure *azcore.ResponseError
	require.ErrorAs(t, err, &azure)
	assert.NotContains(t, err.Error()+azure.Error(), key)
}

func TestErrorWithoutRequestIDNamesOurs(t *testing.T) {
	w := &wire{answer: func(int, *http.Request) (*http.Response, error) {
		resp := response(400, "")
		resp.Header.Del("request-id")
		return resp, nil
	}}
	ctx := models.WithClientRequestID(t.Context(), "mine")
	_, err := newClient(t, w).DocumentCount(ctx, nil)
	assert.ErrorContains(t, err, "HTTP 400, client request id mine)")
	w.answer = reply(400, "", "request-id", "", "x-ms-request-id", "gateway").answer
	_, err = newClient(t, w).DocumentCount(ctx, nil)
	assert.ErrorContains(t, err, "HTTP 400, request id gateway)")
}

func TestZippedErrorIsRead(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(`{"error":{"code":"C","message":"Zipped."}}`))
	_ = z.Close()
	w := reply(400, b.String(), "Content-Encoding", "gzip")
	_, err := newClient(t, w).DocumentCount(t.Context(), nil)
	assert.ErrorContains(t, err, "Zipped. (DocumentCount of index")

	// The proxy decompresses the body and keeps the header.
	w = reply(400, `{"error":{"code":"C","message":"Not zipped."}}`, "Content-Encoding", "gzip")
	_, err = newClient(t, w).DocumentCount(t.Context(), nil)
	assert.ErrorContains(t, err, "Not zipped. (DocumentCount of index")

	// A truncated body has no message, so the status decides.
	w = reply(400, b.String()[:12], "Content-Encoding", "gzip")
	_, err = newClient(t, w).DocumentCount(t.Context(), nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 400, e.StatusCode)
}

func TestRetryAfterReachesTheCaller(t *testing.T) {
	for name, c := range map[string]struct {
		header, value string
		wait          time.Duration
		ok            bool
	}{
		"seconds":                   {"Retry-After", "7", 7 * time.Second, true},
		"milliseconds":              {"retry-after-ms", "250", 250 * time.Millisecond, true},
		"azure's":                   {"x-ms-retry-after-ms", "40", 40 * time.Millisecond, true},
		"date in the past":          {"Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT", 0, true},
		"none":                      {"X-Other", "1", 0, false},
		"not understandable":        {"Retry-After", "soon", 0, false},
		"zero is an answer":         {"Retry-After", "0", 0, true},
		"negative is not a setting": {"Retry-After", "-1", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newClient(t, reply(503, "", c.header, c.value)).IndexDocumentsRaw(t.Context(), newBody("x"))
			var hinted retry.RetryAfterError
			require.ErrorAs(t, err, &hinted)
			wait, ok := hinted.RetryAfter()
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.wait, wait)
		})
	}
}

// The test dumps an error with everything it references.
func TestErrorsKeepNoSecretsAndNoDocuments(t *testing.T) {
	opts := options(reply(400, `{"error":{"message":"No."}}`))
	opts.PerCallPolicies = []policy.Policy{ownCredential{}} // for example of a gateway
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = client.IndexDocumentsRaw(t.Context(), newBody(`{"secret":"document content"}`))
	var azure *azcore.ResponseError
	require.ErrorAs(t, err, &azure)
	req := azure.RawResponse.Request
	require.NotNil(t, req, "the request is worth knowing")
	assert.Nil(t, req.Body)
	assert.Nil(t, req.GetBody)
	var dump bytes.Buffer
	require.NoError(t, req.Header.Write(&dump))
	text := err.Error() + azure.Error() + dump.String() + fmt.Sprintf("%+v", err)
	assert.NotContains(t, text, testKey)
	assert.NotContains(t, text, "gateway-secret")
	assert.NotContains(t, text, "document content")
	assert.Contains(t, dump.String(), "X-Ms-Client-Request-Id")
}

type ownCredential struct{}

func (ownCredential) Do(req *policy.Request) (*http.Response, error) {
	req.Raw().Header.Set("Authorization", "Basic gateway-secret")
	return req.Next()
}

// The buffered sender uses these errors to decide whether a request may have been applied.
func TestConnectionErrorsAreReachable(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	w := &wire{answer: func(int, *http.Request) (*http.Response, error) { return nil, refused }}
	_, err := newClient(t, w).IndexDocumentsRaw(t.Context(), newBody("x"))
	var op *net.OpError
	require.ErrorAs(t, err, &op)
	assert.Equal(t, "dial", op.Op)
	assert.Len(t, w.requests, 1)
	decision, status := retry.ForError(err)
	assert.Zero(t, status)
	assert.Equal(t, retry.Retry, decision.Verdict)
	assert.False(t, decision.Unknown, "nothing was sent")
	assert.ErrorContains(t, err, `search: IndexDocuments of index "hotels": `)

	_, err = newClient(t, w).DocumentCount(t.Context(), nil)
	require.ErrorAs(t, err, &op)
	assert.Len(t, w.requests, 1+4, "a lookup is retried")
}

func TestContextEndsARequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &wire{answer: func(_ int, req *http.Request) (*http.Response, error) {
		cancel()
		<-req.Context().Done()
		return nil, req.Context().Err()
	}}
	_, err := newClient(t, w).IndexDocumentsRaw(ctx, newBody("x"))
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, w.requests, 1)
	var e *search.Error
	assert.NotErrorAs(t, err, &e)
}

func TestHugeForeignBodyIsQuotedInPart(t *testing.T) {
	_, err := newClient(t, reply(400, strings.Repeat("é", 10_000_000))).DocumentCount(t.Context(), nil)
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, strings.Repeat("é", 100)+"…", e.Message)
}

func TestNilReplyIsAnError(t *testing.T) {
	transport := transporter(func(*http.Request) (*http.Response, error) { return nil, nil })
	_, err := newClient(t, transport).IndexDocumentsRaw(t.Context(), newBody("x"))
	require.Error(t, err)
	bare := transporter(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 403}, nil })
	_, err = newClient(t, bare).IndexDocumentsRaw(t.Context(), newBody("x"))
	var e *search.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 403, e.StatusCode)
}

type transporter func(*http.Request) (*http.Response, error)

func (f transporter) Do(req *http.Request) (*http.Response, error) { return f(req) }

var _ policy.Transporter = transporter(nil)
