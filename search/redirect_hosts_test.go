package search_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

// https://host and https://host:443 are the same address.
func TestATransportMayWriteTheDefaultPort(t *testing.T) {
	e := startElsewhere(t, func(s *httptest.Server) { s.Start() })
	for endpoint, other := range map[string]string{
		"http://localhost":           "localhost:80",
		"http://localhost:80":        "localhost",
		"https://svc.test":           "svc.test:443",
		"https://svc.test:443":       "svc.test",
		"https://[2001:db8::80]:443": "[2001:db8::80]",
	} {
		opts := options(doer{func(req *http.Request) (*http.Response, error) {
			recorder := httptest.NewRecorder()
			e.Config.Handler.ServeHTTP(recorder, req)
			resp := recorder.Result()
			resp.Request = req.Clone(req.Context())
			resp.Request.URL.Host = other
			return resp, nil
		}})
		client, err := search.NewClientWithKey(endpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
		require.NoError(t, err)
		_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1", Name: "fancy"}}, nil)
		assert.NoError(t, err, "%s, sent to %s", endpoint, other)
	}
}

// With a custom dialer the connections of both schemes have the same type.
func TestNoSecretLeavesTLSOfADialerOfItsOwn(t *testing.T) {
	type conn struct{ net.Conn }
	clear := startElsewhere(t, func(s *httptest.Server) { s.Start() })
	for _, status := range redirects {
		server := startRedirect(t, status, "http://example.com/", func(s *httptest.Server) { s.StartTLS() })
		transport := pool(t)
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			c, err := net.Dial("tcp", clear.Listener.Addr().String())
			return conn{c}, err
		}
		transport.DialTLSContext = func(context.Context, string, string) (net.Conn, error) {
			settings := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			settings.ServerName = "example.com"
			c, err := tls.Dial("tcp", server.Listener.Addr().String(), settings)
			return conn{c}, err
		}
		inner := &http.Client{Transport: transport}
		for name, do := range operations(t, "https://example.com", options(doer{inner.Do}), false) {
			assert.ErrorContains(t, do(), "to a second host http://example.com after a reply of https://example.com, want one host", "%s, HTTP %d", name, status)
		}
	}
	clear.assertUnharmed(t)
}

// copyTo returns a copy of req and its body for another address.
func copyTo(t testing.TB, req *http.Request, address string) *http.Request {
	other := req.Clone(req.Context())
	target, err := url.Parse(address)
	require.NoError(t, err)
	other.URL.Scheme, other.URL.Host, other.Host = target.Scheme, target.Host, ""
	if req.GetBody != nil {
		other.Body, err = req.GetBody()
		require.NoError(t, err)
	}
	return other
}

func upload(t testing.TB, endpoint string, opts *search.ClientOptions) error {
	client, err := search.NewClientWithKey(endpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{ID: "1", Name: "fancy"}}, nil)
	return err
}

// startDown starts a region that answers 503.
func startDown(t testing.TB) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(s.Close)
	return s
}

// net/http reports the host of the headers, not the previous status.
func TestAFailoverThatIsStoppedIsNotCalledARedirect(t *testing.T) {
	down, up := startDown(t), startElsewhere(t, func(s *httptest.Server) { s.Start() })
	inner := pool(t)
	err := upload(t, down.URL, options(&http.Client{Transport: doer{func(req *http.Request) (*http.Response, error) {
		resp, err := inner.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
			return resp, err
		}
		_ = resp.Body.Close()
		return inner.RoundTrip(copyTo(t, req, up.URL))
	}}}))
	require.ErrorContains(t, err, "got our credential on its way to a second host "+up.URL+" after a reply of "+down.URL+", want one host")
	require.ErrorContains(t, err, "to fail over or to mirror, use ClientOptions.PerRetryPolicies")
	assert.NotContains(t, err.Error(), "got a redirect")
	up.assertUnharmed(t)
}

// The documents have been applied.
func TestAReplyOfTheEndpointCountsAlthoughAMirrorWasStopped(t *testing.T) {
	plain := func(s *httptest.Server) { s.Start() }
	endpoint, shadow := startElsewhere(t, plain), startElsewhere(t, plain)
	inner := pool(t)
	mirror := doer{func(req *http.Request) (*http.Response, error) {
		resp, err := inner.RoundTrip(req)
		_, refused := inner.RoundTrip(copyTo(t, req, shadow.URL))
		assert.Error(t, refused)
		return resp, err
	}}
	for name, transport := range map[string]policy.Transporter{"a RoundTripper": &http.Client{Transport: mirror}, "a Transporter": mirror} {
		require.NoError(t, upload(t, endpoint.URL, options(transport)), name)
	}
	shadow.assertUnharmed(t)
}

type perRetry func(*policy.Request) (*http.Response, error)

func (p perRetry) Do(req *policy.Request) (*http.Response, error) { return p(req) }

// The Transport is guarded here as well.
func TestAPerRetryPolicyMayFailOverAndMirror(t *testing.T) {
	plain := func(s *httptest.Server) { s.Start() }
	down, up, shadow := startDown(t), startElsewhere(t, plain), startElsewhere(t, plain)
	to := func(req *policy.Request, address string) (*http.Response, error) {
		again := req.Clone(req.Raw().Context())
		target, err := url.Parse(address)
		require.NoError(t, err)
		again.Raw().URL.Host, again.Raw().Host = target.Host, ""
		require.NoError(t, again.RewindBody())
		return again.Next()
	}
	inner := &http.Client{Transport: pool(t)}
	for name, transport := range map[string]policy.Transporter{
		"a client":        inner,
		"a RoundTripper":  &http.Client{Transport: doer{inner.Transport.RoundTrip}},
		"a Transporter":   doer{inner.Do},
		"the default one": nil,
	} {
		opts := options(transport)
		opts.PerRetryPolicies = []policy.Policy{perRetry(func(req *policy.Request) (*http.Response, error) {
			resp, err := to(req, shadow.URL)
			if assert.NoError(t, err) {
				_ = resp.Body.Close()
			}
			resp, err = to(req, down.URL)
			if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
				return resp, err
			}
			_ = resp.Body.Close()
			return to(req, up.URL)
		})}
		require.NoError(t, upload(t, down.URL, opts), name)
	}
	assert.Equal(t, 4, up.requests())
	assert.Equal(t, 4, shadow.requests())
}
