package search_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// elsewhere is a server that records every request and answers it as a search service might.
type elsewhere struct {
	*httptest.Server
	mu   sync.Mutex
	got  []*http.Request
	sent []string
}

// secrets must not reach any other host.
var secrets = []string{testKey, "token-", "fancy"}

// startElsewhere starts the server. Its reply is valid for a query, for a batch with document 1, and for a
// definition.
func startElsewhere(t testing.TB, start func(*httptest.Server)) *elsewhere {
	e := &elsewhere{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.got, e.sent = append(e.got, r), append(e.sent, fmt.Sprint(r.Header)+string(body))
		e.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"hotels","hotelId":"1","fields":[],"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":201}]}`)
	}))
	start(e.Server)
	t.Cleanup(e.Close)
	return e
}

// startRedirect starts an endpoint that redirects every request to other.
func startRedirect(t testing.TB, status int, other string, start func(*httptest.Server)) *httptest.Server {
	s := httptest.NewUnstartedServer(http.RedirectHandler(other, status))
	start(s)
	t.Cleanup(s.Close)
	return s
}

// assertUnharmed fails the test if a secret reached the server.
func (e *elsewhere) assertUnharmed(t testing.TB) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, r := range e.got {
		for _, secret := range secrets {
			assert.NotContains(t, e.sent[i], secret, "%s %s", r.Method, r.URL)
		}
	}
}

func (e *elsewhere) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.got)
}

// doer is a policy.Transporter that is not an *http.Client.
type doer struct {
	do func(*http.Request) (*http.Response, error)
}

func (d doer) Do(req *http.Request) (*http.Response, error)        { return d.do(req) }
func (d doer) RoundTrip(req *http.Request) (*http.Response, error) { return d.do(req) }

// pool returns a transport for one test.
func pool(t testing.TB) *http.Transport {
	own := &http.Transport{}
	t.Cleanup(own.CloseIdleConnections)
	return own
}

// followers returns Transporters that would follow a redirect. The pipeline can prevent this completely only for the
// direct ones.
func followers(t testing.TB) (direct, wrapped map[string]policy.Transporter) {
	plain := &http.Client{Transport: pool(t)}
	return map[string]policy.Transporter{
			"a client without options": &http.Client{},
			"the default client":       http.DefaultClient,
			"a client that checks redirects": &http.Client{Transport: pool(t), CheckRedirect: func(req *http.Request, via []*http.Request) error {
				req.Header.Set("api-key", via[0].Header.Get("api-key"))
				return nil
			}},
		}, map[string]policy.Transporter{
			"a wrapped client": doer{plain.Do},
			"a wrapper that clones": doer{func(req *http.Request) (*http.Response, error) {
				return plain.Do(req.Clone(req.Context()))
			}},
			"a client inside of a client": &http.Client{Transport: doer{func(req *http.Request) (*http.Response, error) {
				inner := req.Clone(req.Context())
				inner.RequestURI = ""
				return plain.Do(inner)
			}}},
			"a custom follower": doer{func(req *http.Request) (*http.Response, error) {
				resp, err := plain.Transport.RoundTrip(req)
				if err != nil {
					return nil, err
				}
				_ = resp.Body.Close()
				again := req.Clone(req.Context())
				again.URL, _ = resp.Location()
				again.Host = ""
				if req.GetBody != nil {
					again.Body, _ = req.GetBody()
				}
				return plain.Transport.RoundTrip(again)
			}},
		}
}

// operations has one operation of each kind, and whether net/http would redirect it without its body.
func operations(t testing.TB, endpoint string, opts *search.ClientOptions, token bool) map[string]func() error {
	var (
		client *search.Client
		admin  *search.IndexClient
		err    error
	)
	if token {
		cred := &tokens{expires: 1e15}
		client, err = search.NewClient(endpoint, "hotels", cred, opts)
		require.NoError(t, err)
		admin, err = search.NewIndexClient(endpoint, cred, opts)
	} else {
		client, err = search.NewClientWithKey(endpoint, "hotels", azcore.NewKeyCredential(testKey), opts)
		require.NoError(t, err)
		admin, err = search.NewIndexClientWithKey(endpoint, azcore.NewKeyCredential(testKey), opts)
	}
	require.NoError(t, err)
	ctx := t.Context()
	return map[string]func() error{
		"query": func() error {
			for _, err := range search.Search[hotel](ctx, client, "fancy", nil) {
				return err
			}
			return nil
		},
		"lookup": func() error {
			_, err := search.GetDocument[hotel](ctx, client, "1", nil)
			return err
		},
		"batch": func() error {
			_, err := search.UploadDocuments(ctx, client, []hotel{{ID: "1", Name: "fancy"}}, nil)
			return err
		},
		"raw batch": func() error {
			_, err := client.IndexDocumentsRaw(ctx, newBody(`{"value":[{"hotelId":"1","hotelName":"fancy"}]}`))
			return err
		},
		"definition": func() error {
			_, err := admin.CreateOrUpdateIndex(ctx, models.SearchIndex{Name: "hotels", Fields: []models.SearchField{{Name: "fancy"}}}, nil)
			return err
		},
		"delete": func() error { return admin.DeleteIndex(ctx, "hotels", nil) },
	}
}

var redirects = []int{301, 302, 303, 307, 308}

// eachRedirect runs every operation with both credentials against an endpoint that redirects.
func eachRedirect(t *testing.T, transport policy.Transporter, check func(t *testing.T, e *elsewhere, status int, err error)) {
	t.Helper()
	plain := func(s *httptest.Server) { s.Start() }
	for _, status := range redirects {
		e := startElsewhere(t, plain)
		other := strings.Replace(e.URL, "127.0.0.1", "localhost", 1)
		for place, address := range map[string]string{"port": e.URL, "name": other} {
			endpoint := startRedirect(t, status, address, plain).URL
			for _, token := range []bool{false, true} {
				for name, do := range operations(t, endpoint, options(transport), token) {
					t.Run(fmt.Sprintf("%d to another %s/%s/token %v", status, place, name, token), func(t *testing.T) {
						check(t, e, status, do())
					})
				}
			}
		}
	}
}

func TestNoRequestFollowsARedirectOfAnHTTPClient(t *testing.T) {
	direct, _ := followers(t)
	for name, transport := range direct {
		t.Run(name, func(t *testing.T) {
			eachRedirect(t, transport, func(t *testing.T, e *elsewhere, status int, err error) {
				assert.Zero(t, e.requests())
				var refused *search.Error
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, status, refused.StatusCode)
				assert.ErrorContains(t, err, "never redirects")
			})
		})
	}
}

func TestNoSecretFollowsARedirectOfAnyTransport(t *testing.T) {
	_, wrapped := followers(t)
	for name, transport := range wrapped {
		t.Run(name, func(t *testing.T) {
			eachRedirect(t, transport, func(t *testing.T, e *elsewhere, _ int, err error) {
				e.assertUnharmed(t)
				require.Error(t, err, "nothing was confirmed")
			})
		})
	}
}

// The owner of the client may rely on redirects for other requests.
func TestTheGivenClientIsNotChanged(t *testing.T) {
	before := *http.DefaultClient
	_ = newClient(t, http.DefaultClient)
	assert.Nil(t, http.DefaultClient.CheckRedirect)
	assert.Equal(t, before, *http.DefaultClient)
}

// secure starts a server with TLS and HTTP/2.
func secure(s *httptest.Server) {
	s.EnableHTTP2 = true
	s.StartTLS()
}

// A connection to the other host is already open, over HTTP/2 or HTTP/1, so there is no handshake to stop.
func TestAWrappedClientStopsAtAConnectionThatIsOpen(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, status := range redirects {
			e := startElsewhere(t, secure)
			endpoint := startRedirect(t, status, e.URL, secure)
			inner := e.Client()
			inner.Transport.(*http.Transport).ForceAttemptHTTP2 = http2
			if !http2 {
				inner.Transport.(*http.Transport).Protocols = new(http.Protocols)
				inner.Transport.(*http.Transport).Protocols.SetHTTP1(true)
			}
			for name, do := range operations(t, endpoint.URL, options(doer{inner.Do}), false) {
				for range 3 {
					resp, err := inner.Get(e.URL)
					require.NoError(t, err)
					assert.Equal(t, http2, resp.ProtoMajor == 2)
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
					require.Error(t, do(), "%s, HTTP %d", name, status)
				}
			}
			e.assertUnharmed(t)
		}
	}
}

// Behind a proxy all connections have the same address.
func TestAWrappedClientStopsBehindAProxy(t *testing.T) {
	e := startElsewhere(t, func(s *httptest.Server) { s.Start() })
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "svc.test" {
			http.Redirect(w, r, "http://other.test/", http.StatusTemporaryRedirect)
			return
		}
		e.Config.Handler.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	through := pool(t)
	through.Proxy = http.ProxyURL(address)
	opts := options(doer{(&http.Client{Transport: through}).Do})
	opts.InsecureAllowCredentialWithHTTP = true
	for name, do := range operations(t, "http://svc.test", opts, false) {
		require.Error(t, do(), name)
	}
	e.assertUnharmed(t)
}

// The host is the same, but the connection is not encrypted.
func TestNoSecretLeavesTLSForARedirect(t *testing.T) {
	proxy := startElsewhere(t, func(s *httptest.Server) { s.Start() })
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	server := startRedirect(t, 308, "http://example.com/", secure)
	inner := server.Client()
	transport := inner.Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	transport.Proxy = func(req *http.Request) (*url.URL, error) {
		if req.URL.Scheme == "http" {
			return address, nil
		}
		return nil, nil //nolint:nilnil // no proxy
	}
	for name, do := range operations(t, "https://example.com", options(doer{(&http.Client{Transport: transport}).Do}), false) {
		require.Error(t, do(), name)
	}
	proxy.assertUnharmed(t)
}
