package search_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

// The reply looks like the results of the batch but comes from another host.
func TestAReplyFromElsewhereConfirmsNothing(t *testing.T) {
	plain := func(s *httptest.Server) { s.Start() }
	e := startElsewhere(t, plain)
	requests := 0
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/here":
			e.Config.Handler.ServeHTTP(w, r)
		case strings.Contains(r.URL.RawQuery, "here"):
			requests++
			http.Redirect(w, r, "/here", http.StatusFound)
		default:
			requests++
			http.Redirect(w, r, e.URL, http.StatusFound)
		}
	}))
	defer endpoint.Close()
	inner := &http.Client{Transport: pool(t)}
	// anew copies only the headers to a new request; the pipeline's context and guards are lost.
	anew := func(req *http.Request, method, address string) *http.Request {
		again, err := http.NewRequestWithContext(context.Background(), method, address, req.Body) //nolint:contextcheck // on purpose
		assert.NoError(t, err)
		again.Header = req.Header
		return again
	}
	const fix = "; check the endpoint, and make the http.Client inside of ClientOptions.Transport return redirects (CheckRedirect, http.ErrUseLastResponse)"
	replace := "; replace the credential if " + e.URL + " must not know it"
	for name, c := range map[string]struct {
		transport policy.Transporter
		text      string
	}{
		"a redirect that was stopped": {doer{inner.Do}, "got our credential on its way to a second host " + e.URL + " after a reply of " + endpoint.URL + ", want one host; the connection was closed" + fix +
			"; to fail over or to mirror, use ClientOptions.PerRetryPolicies"},
		"a redirect to the same host": {doer{func(req *http.Request) (*http.Response, error) {
			req.URL.RawQuery += "&here"
			return inner.Do(req)
		}}, "got the reply to a redirect (HTTP 302) to " + endpoint.URL + ", want one of " + endpoint.URL + fix},
		"a redirect of a client inside of a client": {&http.Client{Transport: doer{func(req *http.Request) (*http.Response, error) {
			return inner.Do(anew(req, req.Method, req.URL.String()))
		}}}, "got the reply to a redirect (HTTP 302) to " + e.URL + ", want one of " + endpoint.URL + fix + replace},
		"an undetected redirect": {doer{func(req *http.Request) (*http.Response, error) {
			return inner.Do(anew(req, http.MethodGet, e.URL))
		}}, "got the reply to GET " + e.URL + ", want one to POST " + endpoint.URL + "; make ClientOptions.Transport send to the endpoint, or give that as the endpoint which it sends to" + replace},
		"another method": {doer{func(req *http.Request) (*http.Response, error) {
			return inner.Do(anew(req, http.MethodPut, endpoint.URL+"/here"))
		}}, "got the reply to PUT " + endpoint.URL + ", want one to POST " + endpoint.URL + "; make ClientOptions.Transport send to the endpoint, or give that as the endpoint which it sends to"},
		"another place, without a copy": {doer{func(req *http.Request) (*http.Response, error) {
			req.URL.Host = strings.TrimPrefix(e.URL, "http://")
			return inner.Do(req)
		}}, "got the reply to POST " + e.URL + ", want one to POST " + endpoint.URL + "; make ClientOptions.Transport send to the endpoint, or give that as the endpoint which it sends to" + replace},
	} {
		t.Run(name, func(t *testing.T) {
			requests = 0
			client, err := search.NewClientWithKey(endpoint.URL, "hotels", azcore.NewKeyCredential(testKey), options(c.transport))
			require.NoError(t, err)
			result, err := search.UploadDocuments(t.Context(), client, []hotel{{ID: "1", Name: "fancy"}}, nil)
			require.EqualError(t, err, `search: UploadDocuments of index "hotels": malformed reply: `+c.text)
			require.ErrorIs(t, err, models.ErrMalformedReply)
			assert.Empty(t, result.Results)
			assert.LessOrEqual(t, requests, 1, "the key and the documents are not sent again")
			decision, status := retry.ForError(err)
			assert.Equal(t, retry.Retry, decision.Verdict)
			assert.True(t, decision.Unknown)
			assert.Zero(t, status)
		})
	}
}

// Allowed are a token for a gateway, another attempt, and another address before the first reply.
func TestAWrappedClientMaySendElsewhereWhatIsNotOurs(t *testing.T) {
	plain := func(s *httptest.Server) { s.Start() }
	e := startElsewhere(t, plain)
	inner := &http.Client{Transport: pool(t)}
	status := 0
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != 0 {
			w.WriteHeader(status)
			status = 0
			return
		}
		e.Config.Handler.ServeHTTP(w, r)
	}))
	defer endpoint.Close()
	token := func(req *http.Request) {
		get, err := http.NewRequestWithContext(req.Context(), http.MethodGet, e.URL, nil)
		require.NoError(t, err)
		resp, err := inner.Do(get)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	again := func(req *http.Request) (*http.Response, error) {
		resp, err := inner.Do(req)
		if err != nil || resp.StatusCode == http.StatusOK {
			return resp, err
		}
		_ = resp.Body.Close()
		token(req)
		if req.GetBody != nil {
			req.Body, _ = req.GetBody()
		}
		return inner.Do(req)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, transport := range map[string]policy.Transporter{
		"a token first": doer{func(req *http.Request) (*http.Response, error) {
			token(req)
			return inner.Do(req)
		}},
		"another attempt with a new token": doer{again},
		"another attempt of a client":      &http.Client{Transport: doer{again}},
		"a client that sends through another address": &http.Client{Transport: doer{func(req *http.Request) (*http.Response, error) {
			moved := req.Clone(req.Context())
			moved.URL, _ = url.Parse(gone.URL)
			_, err := inner.Do(moved)
			assert.Error(t, err)
			moved.URL, _ = url.Parse(e.URL)
			if req.GetBody != nil {
				moved.Body, _ = req.GetBody()
			}
			return inner.Do(moved)
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			status = http.StatusUnauthorized
			client, err := search.NewClientWithKey(endpoint.URL, "hotels", azcore.NewKeyCredential(testKey), options(transport))
			require.NoError(t, err)
			if name == "a token first" {
				status = 0
			}
			_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1", Name: "fancy"}}, nil)
			require.NoError(t, err)
		})
	}
}
