package outages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// sends is a policy.Transporter other than *http.Client.
type sends func(*http.Request) (*http.Response, error)

func (s sends) Do(req *http.Request) (*http.Response, error) { return s(req) }

// TestDocumentsAreHeldWhileTheEndpointRedirects checks that no document fails or is reported as applied, and that all
// are applied after the endpoint stops redirecting.
func TestDocumentsAreHeldWhileTheEndpointRedirects(t *testing.T) {
	var visits atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		visits.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"value":[`+strings.Join(results(5), ",")+`]}`)
	}))
	defer elsewhere.Close()
	inner := &http.Client{Transport: &http.Transport{}}
	defer inner.CloseIdleConnections()
	for name, c := range map[string]struct {
		transport policy.Transporter
		visits    bool // the Transporter follows redirects regardless
	}{
		"an http.Client":        {transport: inner},
		"a wrapped http.Client": {transport: sends(inner.Do)},
		"a Transporter that hides its http.Client": {visits: true, transport: sends(func(req *http.Request) (*http.Response, error) {
			again, err := http.NewRequestWithContext(context.Background(), req.Method, req.URL.String(), req.Body) //nolint:contextcheck // on purpose
			if err != nil {
				return nil, err
			}
			again.Header, again.GetBody = req.Header, req.GetBody
			return inner.Do(again)
		})},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				visits.Store(0)
				service := searchtest.NewServer(nil)
				require.NoError(t, service.CreateIndex(sendertest.HotelIndex))
				require.NoError(t, service.Listen("127.0.0.1:0"))
				defer service.Close()
				var redirected atomic.Int64
				var over atomic.Bool
				service.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
					if over.Load() {
						return next(req)
					}
					redirected.Add(1)
					return &http.Response{StatusCode: status, Header: http.Header{"Location": {elsewhere.URL}}, Body: http.NoBody}, nil
				})
				client, err := search.NewClientWithKey(service.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: c.transport}})
				require.NoError(t, err)
				s, err := bufferedsender.New(client, &sendertest.Options{
					Outage: bufferedsender.Hold{Breaker: sendertest.NewBreaker(t, &breaker.Options{OpenFor: 5 * time.Millisecond, MaxOpenFor: 5 * time.Millisecond, Jitter: -1})},
					Retry:  sendertest.RetryAtOnce, Logger: sendertest.NoLog,
				})
				require.NoError(t, err)
				sendertest.CloseAtEnd(t, s)
				require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotels("k", 5)...))
				flushed := make(chan error, 1)
				ctx := sendertest.Within(t, time.Minute)
				go func() { flushed <- s.Flush(ctx, nil) }()
				testkit.Eventually(t, func() bool { return redirected.Load() >= 5 || len(flushed) > 0 })
				assert.Zero(t, s.Stats().Completed)
				assert.Zero(t, s.Stats().Failed)
				assert.Equal(t, c.visits, visits.Load() > 0)
				over.Store(true)
				require.NoError(t, <-flushed)
				assert.EqualValues(t, 5, s.Stats().Completed)
				count, err := client.DocumentCount(t.Context(), nil)
				require.NoError(t, err)
				assert.EqualValues(t, 5, count)
			})
		}
	}
}

// results returns the results of documents k-0, k-1, …: all created.
func results(n int) (list []string) {
	for _, id := range sendertest.IDs(sendertest.Hotels("k", n)) {
		list = append(list, `{"key":"`+id+`","status":true,"errorMessage":null,"statusCode":201}`)
	}
	return list
}
