package searchtest

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// overNetwork sends one request with a new client.
func overNetwork(t *testing.T, p probe, method, path, body string) (answered, error) {
	t.Helper()
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: p.CertPool(), MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	req := p.request(method, path, body)
	resp, err := client.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, resp.Header, string(text)}, err
}

// listeners runs a test over plain HTTP and over TLS with HTTP/2.
func listeners(t *testing.T, test func(t *testing.T, p probe)) {
	for name, listen := range map[string]func(*Server, string) error{"plain": (*Server).Listen, "tls": (*Server).ListenTLS} {
		t.Run(name, func(t *testing.T) {
			p := newProbe(t, nil)
			defer func() { assert.NoError(t, p.Close()) }()
			require.NoError(t, listen(p.Server, "127.0.0.1:0"))
			test(t, p)
		})
	}
}

func TestListenersServeTheSameService(t *testing.T) {
	listeners(t, func(t *testing.T, p probe) {
		a, err := overNetwork(t, p, "POST", indexPath, batchOf(3))
		require.NoError(t, err)
		assert.Equal(t, 200, a.status, a.body)
		assert.Equal(t, "3", p.count())
		a, err = overNetwork(t, p, "GET", "/indexes('types')", "")
		require.NoError(t, err)
		assert.Contains(t, a.body, `"name":"types"`, "a client of net/http decompresses replies that it requested compressed")
		a, err = overNetwork(t, p, "GET", "/indexes('types')/docs('none')", "")
		require.NoError(t, err)
		assert.Equal(t, 404, a.status)
		assert.Empty(t, a.body)
	})
}

func TestListenerSaysItsAddressInContexts(t *testing.T) {
	listeners(t, func(t *testing.T, p probe) {
		req := p.request("GET", "/indexes", "", "Accept", "application/json")
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.CertPool(), MinVersion: tls.VersionTLS12}}
		defer transport.CloseIdleConnections()
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		assert.Contains(t, string(text), `{"@odata.context":"`+p.URL()+`/$metadata#indexes"`)
	})
}

func TestListenersBreakConnections(t *testing.T) {
	listeners(t, func(t *testing.T, p probe) {
		p.rules(Fault{Cut: CutBeforeCommit})
		_, err := overNetwork(t, p, "POST", indexPath, batchOf(2))
		assert.Error(t, err)
		assert.Zero(t, p.DocumentCount("types"))
		p.rules(Fault{Cut: CutAfterCommit})
		_, err = overNetwork(t, p, "POST", indexPath, batchOf(2))
		assert.Error(t, err)
		assert.EqualValues(t, 2, p.DocumentCount("types"))
		p.rules(Fault{Body: BodyTruncated})
		a, err := overNetwork(t, p, "GET", "/indexes('types')", "")
		assert.Error(t, err, "the body breaks off")
		assert.Equal(t, 200, a.status)
	})
}

func TestListenerAnswersBodiesThatAreTooLarge(t *testing.T) {
	listeners(t, func(t *testing.T, p probe) {
		a, err := overNetwork(t, p, "POST", indexPath, `{"value":[{"id":"1","plain":"`+strings.Repeat("x", 17<<20)+`"}]}`)
		require.NoError(t, err, "a client that is still writing must see the answer")
		assert.Equal(t, 413, a.status)
	})
}

func TestListeningAnswersOneAddressAtATime(t *testing.T) {
	s := NewServer(nil)
	assert.Equal(t, "https://searchtest.search.windows.net", s.URL())
	assert.Equal(t, "https://mine.search.windows.net", NewServer(&Options{ServiceName: "mine"}).URL())
	assert.Nil(t, s.CertPool())
	require.NoError(t, s.Listen("127.0.0.1:0"))
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+$`, s.URL())
	assert.ErrorContains(t, s.Listen("127.0.0.1:0"), "already")
	other := NewServer(nil)
	assert.Error(t, other.Listen(strings.TrimPrefix(s.URL(), "http://")), "the port is taken")
	assert.Error(t, other.ListenTLS("not an address"))
	require.NoError(t, other.ListenTLS("localhost:0"))
	assert.NotNil(t, other.CertPool())
	require.NoError(t, other.Close())
	require.NoError(t, s.Close())
}

func TestCloseWaitsForRequestsAndFreesThePort(t *testing.T) {
	p := newProbe(t, nil)
	require.NoError(t, p.Listen("127.0.0.1:0"))
	addr := strings.TrimPrefix(p.URL(), "http://")
	entered, leave := make(chan struct{}), make(chan struct{})
	p.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		resp, err := next(r)
		close(entered)
		<-leave
		return resp, err
	})
	done := make(chan error, 1)
	go func() {
		_, err := overNetwork(t, p, "POST", indexPath, batchOf(1))
		done <- err
	}()
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- p.Close() }()
	close(leave)
	require.NoError(t, <-closed)
	assert.NoError(t, <-done, "a request under way gets its answer")
	l, err := net.Listen("tcp", addr)
	require.NoError(t, err, "the port is free again")
	_ = l.Close()
}

// Close does not wait for a request that waits, and the request has ended when Close returns.
func TestCloseBreaksRequestsThatTakeTooLong(t *testing.T) {
	p := newProbe(t, nil)
	require.NoError(t, p.Listen("127.0.0.1:0"))
	p.listening.grace = 10 * time.Millisecond
	entered, left := make(chan struct{}), make(chan struct{})
	p.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		close(entered)
		defer close(left)
		defer time.Sleep(20 * time.Millisecond) // makes it visible if Close does not wait
		return next(r)
	})
	p.rules(Fault{Delay: Duration(time.Hour)})
	done := make(chan error, 1)
	url, client := p.URL(), keepingClient(t, p)
	client.Timeout = 0 // so that the client does not give up
	go func() {
		_, err := p.uploadTo(client, url, "1")
		done <- err
	}()
	<-entered
	require.NoError(t, p.Close())
	select {
	case <-left:
	default:
		t.Error("the request outlived the server")
	}
	assert.Error(t, <-done)
	assert.Zero(t, p.DocumentCount("types"))
}
