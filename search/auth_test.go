package search_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azlog "github.com/Azure/azure-sdk-for-go/sdk/azcore/log"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
)

// tokens is a credential that returns numbered tokens.
type tokens struct {
	scopes  []string
	expires time.Duration
	err     error
}

func (c *tokens) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	c.scopes = append(c.scopes, strings.Join(o.Scopes, " "))
	if c.err != nil {
		return azcore.AccessToken{}, c.err
	}
	return azcore.AccessToken{Token: "token-" + strings.Repeat("i", len(c.scopes)), ExpiresOn: time.Now().Add(c.expires)}, nil
}

// The table covers each cloud, and the precedence of endpoint, Cloud and audience.
func TestTokensAreForTheCloudOfTheService(t *testing.T) {
	const public, china, government = "https://search.azure.com/.default", "https://search.azure.cn/.default", "https://search.azure.us/.default"
	for name, c := range map[string]struct {
		endpoint string
		audience string
		cloud    cloud.Configuration
		scope    string
	}{
		"public":                    {"https://svc.search.windows.net", "", cloud.Configuration{}, public},
		"China":                     {"https://svc.search.azure.cn", "", cloud.Configuration{}, china},
		"US Government":             {"https://svc.search.azure.us", "", cloud.Configuration{}, government},
		"capitals and a dot":        {"https://SVC.Search.Azure.US.", "", cloud.Configuration{}, government},
		"private name":              {"https://search.corp.example", "", cloud.Configuration{}, public},
		"look-alike":                {"https://azure.us.example.com", "", cloud.Configuration{}, public},
		"emulator":                  {"http://127.0.0.1:8080", "", cloud.Configuration{}, public},
		"given":                     {"https://svc.search.azure.us", "https://mine.example", cloud.AzureChina, "https://mine.example/.default"},
		"given with a slash":        {"https://svc.search.windows.net", "https://mine.example/", cloud.Configuration{}, "https://mine.example/.default"},
		"given as a scope":          {"https://svc.search.windows.net", "https://mine.example/.default", cloud.Configuration{}, "https://mine.example/.default"},
		"given as an id":            {"https://svc.search.windows.net", "api://11111111-2222", cloud.Configuration{}, "api://11111111-2222/.default"},
		"cloud public":              {"https://svc.search.azure.us", "", cloud.AzurePublic, public},
		"cloud China":               {"https://gateway.example", "", cloud.AzureChina, china},
		"cloud US Government":       {"https://gateway.example", "", cloud.AzureGovernment, government},
		"custom cloud":              {"https://gateway.example", "", cloud.Configuration{ActiveDirectoryAuthorityHost: "https://login.example", Services: map[cloud.ServiceName]cloud.ServiceConfiguration{search.ServiceName: {Audience: "https://search.example"}}}, "https://search.example/.default"},
		"cloud without an audience": {"https://svc.search.azure.cn", "", cloud.Configuration{ActiveDirectoryAuthorityHost: "https://login.example"}, china},
	} {
		t.Run(name, func(t *testing.T) {
			w, cred := reply(200, "1"), &tokens{expires: time.Hour}
			opts := options(w)
			opts.Audience, opts.Cloud = c.audience, c.cloud
			client, err := search.NewClient(c.endpoint, "hotels", cred, opts)
			require.NoError(t, err)
			_, err = client.DocumentCount(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, []string{c.scope}, cred.scopes)
			assert.Equal(t, "Bearer token-i", w.requests[0].Header.Get("Authorization"))
			assert.Empty(t, w.requests[0].Header.Get("api-key"))
		})
	}
}

func TestRefusedTokenNamesAudienceAndRole(t *testing.T) {
	for status, text := range map[int]string{
		401: `: the token for https://search.azure.com was refused: check that the service allows role-based access and that the identity has the role "Search Index Data Contributor"`,
		403: `: the identity needs the role "Search Index Data Contributor" on this service (a new assignment takes some minutes)`,
	} {
		client, err := search.NewClient(testEndpoint, "hotels", &tokens{expires: time.Hour}, options(reply(status, "")))
		require.NoError(t, err)
		_, err = client.IndexDocumentsRaw(t.Context(), newBody("x"))
		assert.ErrorContains(t, err, text)
		_, err = client.DocumentCount(t.Context(), nil)
		assert.ErrorContains(t, err, "Search Index Data Reader")
		indexes, err := search.NewIndexClient(testEndpoint, &tokens{expires: time.Hour}, options(reply(status, "")))
		require.NoError(t, err)
		_, err = indexes.GetIndex(t.Context(), "hotels", nil)
		assert.ErrorContains(t, err, "Search Service Contributor")
	}
}

func TestExpiredTokenIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, cred := reply(200, "1"), &tokens{expires: time.Hour}
		client, err := search.NewClient(testEndpoint, "hotels", cred, options(w))
		require.NoError(t, err)
		for _, token := range []string{"Bearer token-i", "Bearer token-i", "Bearer token-ii"} {
			_, err = client.DocumentCount(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, token, w.requests[len(w.requests)-1].Header.Get("Authorization"))
			time.Sleep(40 * time.Minute) // virtual time of the synctest bubble
		}
		assert.Len(t, cred.scopes, 2)
	})
}

func TestFailureToGetATokenIsNotRetried(t *testing.T) {
	noLogin := errors.New("no login")
	w, cred := reply(200, "1"), &tokens{err: noLogin}
	client, err := search.NewClient(testEndpoint, "hotels", cred, options(w))
	require.NoError(t, err)
	_, err = client.DocumentCount(t.Context(), nil)
	require.ErrorIs(t, err, noLogin)
	assert.Len(t, cred.scopes, 1)
	assert.Empty(t, w.requests)
}

func TestKeyCanBeRotated(t *testing.T) {
	w, cred := reply(200, "1"), azcore.NewKeyCredential("first")
	client, err := search.NewClientWithKey(testEndpoint, "hotels", cred, options(w))
	require.NoError(t, err)
	for _, key := range []string{"first", "second"} {
		cred.Update(key)
		_, err = client.DocumentCount(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, []string{key}, w.requests[len(w.requests)-1].Header.Values("api-key"))
	}
}

// A key that cannot be a header value is an error of the constructor, and after a rotation of the next request.
func TestImpossibleKeyIsOneClearError(t *testing.T) {
	for key, text := range map[string]string{
		"":             "the API key is empty",
		" \n":          "the API key is nothing but white space",
		"secret\n":     "the API key ends with a line end, as keys do that were read from a file: pass strings.TrimSpace(key)",
		"secret\r\n":   "the API key ends with a line end",
		" secret":      "the API key has white space around it: pass strings.TrimSpace(key)",
		"secret \n":    "the API key has white space around it",
		"sec\nret":     "the API key has several lines",
		"sec\x00ret":   "the API key contains characters that no key has",
		"sec ret":      "the API key contains characters that no key has",
		"s\u00e9cret":  "the API key contains characters that no key has",
		"secret\u200b": "the API key contains characters that no key has",
	} {
		w := reply(200, "1")
		_, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(key), options(w))
		require.ErrorContains(t, err, "search: new client: "+text)
		assert.NotContains(t, err.Error(), "cret")
		_, err = search.NewIndexClientWithKey(testEndpoint, azcore.NewKeyCredential(key), options(w))
		require.ErrorContains(t, err, "search: new index client: "+text)

		cred := azcore.NewKeyCredential(testKey)
		client, err := search.NewClientWithKey(testEndpoint, "hotels", cred, options(w))
		require.NoError(t, err)
		cred.Update(key)
		_, err = client.DocumentCount(t.Context(), nil)
		require.ErrorContains(t, err, text)
		var bad *search.CredentialError
		require.ErrorAs(t, err, &bad)
		assert.True(t, bad.Permanent())
		assert.NotContains(t, err.Error(), "cret")
		assert.Empty(t, w.requests)
	}
}

type nilFunc func()

func (f nilFunc) Do(*policy.Request) (*http.Response, error) { f(); return nil, nil }

func (f nilFunc) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	f()
	return azcore.AccessToken{}, nil
}

// Each row has one mistake; all other arguments are valid.
func TestEveryWrongArgumentIsReportedByItself(t *testing.T) {
	withOptions := func(change func(*search.ClientOptions)) func() error {
		return func() error {
			opts := options(reply(200, "1"))
			change(opts)
			_, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
			return err
		}
	}
	at := func(endpoint, index string) func() error {
		return func() error {
			_, err := search.NewClientWithKey(endpoint, index, azcore.NewKeyCredential(testKey), nil)
			return err
		}
	}
	byToken := func(cred azcore.TokenCredential) func() error {
		return func() error {
			_, err := search.NewClient(testEndpoint, "hotels", cred, nil)
			return err
		}
	}
	byKey := func(cred *azcore.KeyCredential) func() error {
		return func() error {
			_, err := search.NewClientWithKey(testEndpoint, "hotels", cred, nil)
			return err
		}
	}
	for name, c := range map[string]struct {
		do   func() error
		text string
	}{
		"no endpoint":                   {at("", "hotels"), "the endpoint is empty"},
		"an endpoint of a file":         {at(testEndpoint+"\n", "hotels"), "the endpoint has white space around it"},
		"no scheme":                     {at("svc.search.windows.net", "hotels"), "does not start with https://"},
		"http":                          {at("http://svc.search.windows.net", "hotels"), "would send credentials unencrypted: use https"},
		"a query":                       {at(testEndpoint+"?api-version=2024-07-01", "hotels"), "has a query or a fragment"},
		"a path":                        {at(testEndpoint+"/indexes/hotels", "hotels"), "has the path /indexes/hotels: give the address of the service only"},
		"any path of a service":         {at(testEndpoint+"/hotels/", "hotels"), "has the path /hotels: give the address of the service only"},
		"a path behind a gateway":       {at("https://gateway.example/search/Indexes('hotels')", "hotels"), "give the address of the service only"},
		"no index":                      {at(testEndpoint, ""), "the index name is empty"},
		"an index that cannot be":       {at(testEndpoint, "Hotels\n"), `the index name "Hotels\n" has characters other than`},
		"no token credential":           {byToken(nil), "the credential is nil: pass an azcore.TokenCredential"},
		"a nil pointer as credential":   {byToken((*tokens)(nil)), "the credential is nil"},
		"a nil function as credential":  {byToken(nilFunc(nil)), "the credential is nil"},
		"no key credential":             {byKey(nil), "the credential is nil: pass the API key in azcore.NewKeyCredential(key)"},
		"a key credential without":      {byKey(&azcore.KeyCredential{}), "the credential holds no API key"},
		"an empty key":                  {byKey(azcore.NewKeyCredential("")), "the API key is empty"},
		"a nil client as transport":     {withOptions(func(o *search.ClientOptions) { o.Transport = (*http.Client)(nil) }), "the option Transport is a nil *http.Client"},
		"a nil meter provider":          {withOptions(func(o *search.ClientOptions) { o.MeterProvider = (*noted)(nil) }), "the option MeterProvider is a nil *search_test.noted"},
		"a nil policy for a call":       {withOptions(func(o *search.ClientOptions) { o.PerCallPolicies = []policy.Policy{nilFunc(nil)} }), "PerCallPolicies[0] is nil"},
		"a nil policy for each attempt": {withOptions(func(o *search.ClientOptions) { o.PerRetryPolicies = []policy.Policy{ownCredential{}, nil} }), "PerRetryPolicies[1] is nil"},
		"an invalid version":            {withOptions(func(o *search.ClientOptions) { o.APIVersion = "latest" }), `APIVersion "latest" is not a date`},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.do()
			require.ErrorContains(t, err, "search: new client: ")
			require.ErrorContains(t, err, c.text)
			assert.NotContains(t, err.Error(), "\n", "the error names only this problem")
		})
	}
}

// One error reports all problems.
func TestArgumentsAreAllCheckedBeforeAnythingStarts(t *testing.T) {
	bad := &search.ClientOptions{APIVersion: "latest", Audience: "no url"}
	bad.PerCallPolicies = []policy.Policy{nil}
	_, err := search.NewClient("", "Bad--Name", nil, bad)
	for _, text := range []string{
		"PerCallPolicies[0] is nil", `audience "no url" contains white space`,
		"search: new client: ", "the credential is nil", "the endpoint is empty", `APIVersion "latest" is not a date`,
		`the index name "Bad--Name" has characters other than lower-case letters, digits, dashes and underscores, and has consecutive dashes or underscores`,
	} {
		assert.ErrorContains(t, err, text)
	}
	_, err = search.NewClientWithKey("", "Bad--Name", azcore.NewKeyCredential("secret\n"), nil)
	for _, text := range []string{"the API key ends with a line end", "the endpoint is empty", "consecutive dashes"} {
		assert.ErrorContains(t, err, text)
	}
	_, err = search.NewClient("", "hotels", &tokens{}, &search.ClientOptions{Audience: "no url"})
	assert.ErrorContains(t, err, `audience "no url" contains white space`)
	_, err = search.NewIndexClient(testEndpoint, &tokens{}, &search.ClientOptions{Audience: "search.azure.com"})
	assert.ErrorContains(t, err, `audience "search.azure.com" is not a URL`)
	_, err = search.NewIndexClientWithKey("svc.search.windows.net", nil, nil)
	for _, text := range []string{"search: new index client: ", "the credential is nil", "does not start with https://"} {
		assert.ErrorContains(t, err, text)
	}
	var none *tokens
	_, err = search.NewIndexClient(testEndpoint, none, nil)
	assert.ErrorContains(t, err, "the credential is nil")
	opts := &search.ClientOptions{APIVersion: "2024-07-01"}
	opts.ClientOptions.APIVersion = "2025-09-01"
	_, err = search.NewIndexClient(testEndpoint, &tokens{}, opts)
	assert.ErrorContains(t, err, "set one of them")

	client := newIndexClient(t, reply(200, "1"))
	_, err = client.Client("UPPER")
	assert.ErrorContains(t, err, "the index name")
	docs, err := client.Client("hotels")
	require.NoError(t, err)
	assert.Equal(t, "hotels", docs.IndexName())
	n, err := docs.DocumentCount(t.Context(), nil)
	require.NoError(t, err)
	assert.EqualValues(t, 1, n)
}

// The test listens to everything that azcore logs.
func TestLogsHoldNoSecretsAndNoDocuments(t *testing.T) {
	var logged strings.Builder
	azlog.SetListener(func(_ azlog.Event, text string) { logged.WriteString(text) })
	defer azlog.SetListener(nil)

	opts := options(reply(200, `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":200}]}`))
	opts.Logging.AllowedHeaders = []string{"Api-Key", "AUTHORIZATION", "Accept-Language"}
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
	require.NoError(t, err)
	_, err = search.UploadDocuments(t.Context(), client, []hotel{{"1", "document content"}}, nil)
	require.NoError(t, err)
	client, err = search.NewClient(testEndpoint, "hotels", &tokens{expires: time.Hour}, &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: reply(403, ""), Logging: opts.Logging}})
	require.NoError(t, err)
	_, err = search.GetDocument[hotel](t.Context(), client, "1", nil)
	require.Error(t, err)

	assert.Contains(t, logged.String(), "/docs/search.index")
	assert.Contains(t, logged.String(), "11111111-2222-3333-4444-555555555555", "the service's id of the request is worth logging")
	assert.NotContains(t, logged.String(), testKey)
	assert.NotContains(t, logged.String(), "token-i")
	assert.NotContains(t, logged.String(), "document content")
}
