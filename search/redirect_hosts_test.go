package search_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

// TestATransportMayWriteTheDefaultPort: https://host and https://host:443 are the same place.
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

// TestNoSecretLeavesTLSOfADialerOfItsOwn: the connections of both schemes have the same type.
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
			assert.ErrorContains(t, do(), "http://example.com, want", "%s, HTTP %d", name, status)
		}
	}
	clear.assertUnharmed(t)
}
