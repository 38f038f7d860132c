package search_test

import (
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
