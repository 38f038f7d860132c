package doctor

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// granting allows the requests that an identity's roles permit.
type granting struct {
	definitions, reads, writes bool
	next                       http.RoundTripper
}

func (g granting) RoundTrip(r *http.Request) (*http.Response, error) {
	may := g.definitions
	switch {
	case strings.Contains(r.URL.Path, "search.index"):
		may = g.writes
	case strings.Contains(r.URL.Path, "/docs"):
		may = g.reads
	}
	if !may {
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	return g.next.RoundTrip(r)
}

type signedIn struct{}

func (signedIn) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "t", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

type signedOut struct{}

func (signedOut) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, errors.New("not signed in")
}

func TestMissingCredentialNamesTheVariableOfTheKey(t *testing.T) {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	for _, index := range []string{"", "hotels"} {
		client, err := search.NewIndexClient(srv.URL(), signedOut{}, &search.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv, InsecureAllowCredentialWithHTTP: true}})
		require.NoError(t, err)
		var f Findings
		Service{Client: client, Index: index}.Check(t.Context(), &f)
		assert.Equal(t, "credential failure", states(f), f)
		assert.Contains(t, f[0].Do, "AZURE_SEARCH_API_KEY")
	}
}

func TestServiceSaysWhatAnIdentityMayDoAndWritesNothing(t *testing.T) {
	srv := searchtest.NewServer(&searchtest.Options{Token: func(string) bool { return true }})
	defer srv.Close()
	require.NoError(t, srv.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true}]}`))
	var before, after bytes.Buffer
	require.NoError(t, srv.Snapshot(&before))
	for _, c := range []struct {
		granting
		index, want, says string
	}{
		{granting{definitions: true, reads: true, writes: true}, "hotels", "credential ok, api-version ok, key field ok, fields ok, index ok", "may read definitions, query, write documents"},
		{granting{reads: true}, "hotels", "credential warning, api-version ok", "may query; may not read definitions, write documents"},
		{granting{definitions: true}, "hotels", "credential warning, api-version ok, key field ok, fields ok, index ok", "may read definitions; may not query, write documents"},
		{granting{}, "hotels", "credential failure", "may do nothing"},
		{granting{definitions: true}, "", "credential ok, api-version ok", "may read definitions"},
		{granting{reads: true}, "", "credential warning, api-version ok", "may not read statistics"},
		{granting{definitions: true, reads: true, writes: true}, "motels", "credential ok, index failure, api-version ok", "may read definitions"},
	} {
		c.next = srv.Transport()
		client, err := search.NewIndexClient(srv.URL(), signedIn{}, &search.ClientOptions{ClientOptions: policy.ClientOptions{Transport: &http.Client{Transport: c.granting}, InsecureAllowCredentialWithHTTP: true}})
		require.NoError(t, err)
		var f Findings
		Service{Client: client, APIVersion: "2026-04-01", Index: c.index}.Check(t.Context(), &f)
		assert.Equal(t, c.want, states(f), f)
		for _, one := range f {
			assert.True(t, one.Check != "api-version" || one.Says == "2026-04-01", one)
		}
		assert.Contains(t, f[0].Says, c.says)
	}
	require.NoError(t, srv.Snapshot(&after))
	assert.Equal(t, before.String(), after.String())
}
