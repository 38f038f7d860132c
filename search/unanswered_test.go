package search_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// failing answers no request.
func failing(err error) *wire {
	return &wire{answer: func(int, *http.Request) (*http.Response, error) { return nil, err }}
}

// breaking answers with the beginning of a reply.
func breaking(err error) *wire {
	return &wire{answer: func(int, *http.Request) (*http.Response, error) {
		resp := response(200, "")
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"value":[`), failingReader{err}))
		return resp, nil
	}}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

var (
	connectionRefused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	connectionReset   = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
)

// The test compares whole error texts because users rely on them.
func TestErrorWithoutAnAnswerSaysItsCauseOnceAndWhatHelps(t *testing.T) {
	count := func(t *testing.T, w policy.Transporter) error {
		_, err := newClient(t, w).DocumentCount(t.Context(), nil)
		return err
	}
	upload := func(t *testing.T, w policy.Transporter) error {
		_, err := search.UploadDocuments(t.Context(), newClient(t, w), []hotel{{ID: "1"}}, nil)
		return err
	}
	create := func(t *testing.T, w policy.Transporter) error {
		_, err := newIndexClient(t, w).CreateIndex(t.Context(), models.SearchIndex{Name: "hotels"}, nil)
		return err
	}
	getIndex := func(t *testing.T, w policy.Transporter) error {
		_, err := newIndexClient(t, w).GetIndex(t.Context(), "hotels", nil)
		return err
	}
	query := func(t *testing.T, w policy.Transporter) (err error) {
		for _, err = range search.Search[hotel](t.Context(), newClient(t, w), "x", nil) {
		}
		return err
	}
	byToken := func(cause error) func(*testing.T, policy.Transporter) error {
		return func(t *testing.T, w policy.Transporter) error {
			client, err := search.NewClient(testEndpoint, "hotels", failingCredential{cause}, options(w))
			require.NoError(t, err)
			_, err = client.DocumentCount(t.Context(), nil)
			return err
		}
	}
	const (
		ofCount = `search: DocumentCount of index "hotels": `
		foreign = `: this reply does not come from a search service: check the endpoint https://svc.search.windows.net and any proxy on the way`
		id      = `(HTTP 200, request id 11111111-2222-3333-4444-555555555555)`
	)
	html := func() *wire { return reply(200, "<html>", "Content-Type", "text/html; charset=utf-8") }
	for name, c := range map[string]struct {
		do   func(*testing.T, policy.Transporter) error
		w    *wire
		text string
	}{
		"refused": {count, failing(connectionRefused),
			ofCount + `dial tcp: connect: connection refused: nothing listens there: check the host and the port of the endpoint https://svc.search.windows.net`},
		"not reachable": {count, failing(&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("i/o timeout")}),
			ofCount + `dial tcp: i/o timeout: no connection to https://svc.search.windows.net: check the endpoint, the network and any firewall`},
		"no such host": {count, failing(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "svc.search.windows.net", IsNotFound: true}}),
			ofCount + `dial tcp: lookup svc.search.windows.net: no such host: check the name of the service in the endpoint https://svc.search.windows.net (a private endpoint is known in its own network only)`},
		"no name server": {count, failing(&net.DNSError{Err: "server misbehaving", Name: "svc.search.windows.net", IsTemporary: true}),
			ofCount + `lookup svc.search.windows.net: server misbehaving: the name server did not answer: check the network`},
		"no TLS": {count, failing(http.ErrSchemeMismatch),
			ofCount + `http: server gave HTTP response to HTTPS client: what listens at https://svc.search.windows.net does not speak https: check the port, and any proxy on the way`},
		"something else than TLS": {count, failing(tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}),
			ofCount + `tls: first record does not look like a TLS handshake: no TLS connection to https://svc.search.windows.net: check the port, and any proxy on the way`},
		"a certificate that is not trusted": {count, failing(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}),
			ofCount + `tls: failed to verify certificate: x509: certificate signed by unknown authority: the certificate of https://svc.search.windows.net is not trusted: check the endpoint, the clock, and the root certificates of this machine, to which a proxy that inspects TLS adds its own`},
		"a proxy that does not answer": {count, failing(&net.OpError{Op: "proxyconnect", Net: "tcp", Err: connectionRefused}),
			ofCount + `proxyconnect tcp: dial tcp: connect: connection refused: check the proxy that HTTPS_PROXY names, or add the service to NO_PROXY`},
		"cut before the reply": {count, failing(io.EOF),
			ofCount + `EOF: the connection broke before the reply was complete`},
		"cut after a batch": {upload, failing(connectionReset),
			`search: UploadDocuments of index "hotels": read tcp: read: connection reset by peer: the connection broke before the reply was complete: the service may have carried the request out`},
		"cut in a reply": {getIndex, breaking(connectionReset),
			`search: GetIndex of index "hotels": read tcp: read: connection reset by peer: the connection broke before the reply was complete`},
		"cut in the reply to a change": {create, breaking(connectionReset),
			`search: CreateIndex of index "hotels": read tcp: read: connection reset by peer: the connection broke before the reply was complete: the service may have carried the request out`},
		"cut in the reply to a query": {query, breaking(connectionReset),
			`search: Search of index "hotels": malformed reply: it breaks off after 10 bytes: read tcp: read: connection reset by peer: the connection broke before the reply was complete`},
		"no token": {byToken(errors.New("ClientSecretCredential authentication failed. \nPOST https://login.example/token\n" + strings.Repeat("-", 80) + "\nRESPONSE 401: 401 Unauthorized\n" + strings.Repeat("-", 80) + "\n{\n  \"error\": \"invalid_client\"\n}\n" + strings.Repeat("-", 80) + "\nTo troubleshoot, visit https://aka.ms/azsdk\n")), reply(200, "1"),
			ofCount + `no credential to send: ClientSecretCredential authentication failed. POST https://login.example/token RESPONSE 401: 401 Unauthorized { "error": "invalid_client" } To troubleshoot, visit https://aka.ms/azsdk`},
		"no token, because of the network": {byToken(&url.Error{Op: "Post", URL: "https://login.example/token", Err: connectionRefused}), reply(200, "1"),
			ofCount + `no credential to send: Post "https://login.example/token": dial tcp: connect: connection refused`},
		"a page of a proxy": {count, html(),
			ofCount + `malformed reply: it is a page of HTML ` + id + foreign},
		"a page instead of a definition": {getIndex, html(),
			`search: GetIndex of index "hotels": malformed reply: it is a page of HTML ` + id + foreign},
		"a page after a batch": {upload, html(),
			`search: UploadDocuments of index "hotels": malformed reply: it is a page of HTML ` + id + foreign},
		"not a count": {count, reply(200, "many"),
			ofCount + `malformed reply: it is not a number ` + id},
		"not JSON": {getIndex, reply(200, "{"),
			`search: GetIndex of index "hotels": malformed reply: it is not JSON, or breaks off ` + id},
		"a transport without an answer": {count, failing(errors.New("out of order")),
			ofCount + `out of order`},
		"too busy": {count, reply(503, `{"error":{"message":"You are sending too many requests."}}`, "Retry-After", "0"),
			`You are sending too many requests. (DocumentCount of index "hotels": HTTP 503, request id 11111111-2222-3333-4444-555555555555): the service is too busy, or being updated: try again later, or with fewer requests at once`},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, c.do(t, c.w), c.text)
		})
	}
}

func TestBusyServiceSaysWhenToComeBack(t *testing.T) {
	for status, text := range map[int]string{
		429: ": too many requests at once, or a quota of the service is used up: it asks to wait 7s",
		503: ": the service is too busy, or being updated: it asks to wait 7s",
	} {
		_, err := newClient(t, reply(status, "", "Retry-After", "7")).IndexDocumentsRaw(t.Context(), newBody("x"))
		require.ErrorContains(t, err, text)
	}
}

// errors.As and package retry must find the cause.
func TestCauseStaysReachableBelowItsText(t *testing.T) {
	_, err := newClient(t, failing(connectionReset)).IndexDocumentsRaw(t.Context(), newBody("x"))
	var (
		address *url.Error
		op      *net.OpError
	)
	require.ErrorAs(t, err, &address)
	require.ErrorAs(t, err, &op)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	decision, _ := retry.ForError(err)
	assert.Equal(t, retry.Retry, decision.Verdict)
	assert.True(t, decision.Unknown)

	result, err := newClient(t, reply(200, "<html>", "Content-Type", "text/html")).IndexDocumentsRaw(t.Context(), newBody("x"))
	require.ErrorIs(t, err, models.ErrMalformedReply)
	assert.Equal(t, 200, result.StatusCode)
	assert.Equal(t, "11111111-2222-3333-4444-555555555555", result.RequestID)
}

// "context deadline exceeded" alone does not explain the failure.
func TestTimeThatRunsOutBetweenAttemptsKeepsTheirCause(t *testing.T) {
	for text, w := range map[string]*wire{
		`search: DocumentCount of index "hotels": context deadline exceeded, after an attempt that failed: dial tcp: connect: connection refused: nothing listens there: check the host and the port of the endpoint https://svc.search.windows.net`: failing(connectionRefused),
		`search: DocumentCount of index "hotels": context deadline exceeded, after an attempt that failed: the service answered 503 Service Unavailable`:                                                                                             reply(503, ""),
	} {
		synctest.Test(t, func(t *testing.T) {
			client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{
				Transport: w, Retry: policy.RetryOptions{RetryDelay: time.Minute, MaxRetryDelay: time.Hour},
			}})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err = client.DocumentCount(ctx, nil)
			require.EqualError(t, err, text)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Len(t, w.requests, 1)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newClient(t, failing(context.Canceled)).DocumentCount(ctx, nil)
	require.EqualError(t, err, `search: DocumentCount of index "hotels": context canceled`)
}
