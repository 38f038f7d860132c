package search_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

const (
	testEndpoint = "https://svc.search.windows.net"
	testKey      = "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123"
)

// wire is a service that records requests and answers them by a function.
type wire struct {
	requests []*http.Request
	bodies   []string
	answer   func(n int, req *http.Request) (*http.Response, error) // n counts from 0
}

func (w *wire) Do(req *http.Request) (*http.Response, error) {
	transport := httpmock.NewMockTransport()
	transport.RegisterNoResponder(func(req *http.Request) (*http.Response, error) {
		body := ""
		if req.Body != nil {
			b, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			body = string(b)
		}
		w.requests = append(w.requests, req)
		w.bodies = append(w.bodies, body)
		return w.answer(len(w.requests)-1, req)
	})
	return (&http.Client{Transport: transport}).Do(req)
}

// reply returns a wire that always answers with this status, body and headers (name and value pairs).
func reply(status int, body string, headers ...string) *wire {
	return &wire{answer: func(int, *http.Request) (*http.Response, error) {
		return response(status, body, headers...), nil
	}}
}

// replies answers the n-th request with the n-th response.
func replies(list ...*http.Response) *wire {
	return &wire{answer: func(n int, _ *http.Request) (*http.Response, error) { return list[n], nil }}
}

func response(status int, body string, headers ...string) *http.Response {
	resp := httpmock.NewStringResponse(status, body)
	resp.Header.Set("request-id", "11111111-2222-3333-4444-555555555555")
	for i := 0; i+1 < len(headers); i += 2 {
		resp.Header.Set(headers[i], headers[i+1])
	}
	return resp
}

// options returns client options that send to w and retry without delay.
func options(w policy.Transporter) *search.ClientOptions {
	return &search.ClientOptions{AssumeWholeView: true, ClientOptions: azcore.ClientOptions{
		Transport: w,
		Retry:     policy.RetryOptions{RetryDelay: -1, MaxRetryDelay: time.Millisecond},
	}}
}

func newClient(t testing.TB, w policy.Transporter) *search.Client {
	t.Helper()
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), options(w))
	require.NoError(t, err)
	return client
}

func newIndexClient(t testing.TB, w policy.Transporter) *search.IndexClient {
	t.Helper()
	client, err := search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), options(w))
	require.NoError(t, err)
	return client
}

// body is a raw batch that records whether it was closed.
type body struct {
	*strings.Reader
	closed int
}

func newBody(s string) *body { return &body{Reader: strings.NewReader(s)} }

func (b *body) Close() error { b.closed++; return nil }

type hotel struct {
	ID   string `json:"hotelId" search:"key"`
	Name string `json:"hotelName,omitempty"`
}

// emptyOK is a reply without results.
const emptyOK = `{"value":[]}`

func newIndexerClient(t testing.TB, w policy.Transporter) *search.IndexerClient {
	t.Helper()
	client, err := search.NewIndexerClientWithKey(testEndpoint, azcore.NewKeyCredential(testKey), options(w))
	require.NoError(t, err)
	return client
}
