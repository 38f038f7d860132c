package searchtest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keepingClient is a network client that keeps its connections.
func keepingClient(t testing.TB, p probe) *http.Client {
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: p.CertPool(), MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

// uploadTo sends one document to url and returns the status.
func (p probe) uploadTo(client *http.Client, url, key string) (int, error) {
	req := p.request("POST", indexPath, `{"value":[{"id":"`+key+`"}]}`)
	req.URL.Host = strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://")
	req.URL.Scheme, _, _ = strings.Cut(url, ":")
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// restartable runs a test over plain HTTP and over TLS. listen listens on the first address again.
func restartable(t *testing.T, test func(t *testing.T, p probe, listen func())) {
	for name, start := range map[string]func(*Server, string) error{"plain": (*Server).Listen, "tls": (*Server).ListenTLS} {
		t.Run(name, func(t *testing.T) {
			p := newProbe(t, nil)
			defer func() {
				assert.NoError(t, p.StopListening()) // Close would close HTTP/2 connections gracefully
				assert.NoError(t, p.Close())
			}()
			addr := "127.0.0.1:0"
			listen := func() {
				require.NoError(t, start(p.Server, addr))
				_, addr, _ = strings.Cut(p.URL(), "://")
			}
			listen()
			test(t, p, listen)
		})
	}
}

func TestStopListeningIsLikeTheDeathOfAProcess(t *testing.T) {
	restartable(t, func(t *testing.T, p probe, _ func()) {
		url, client := p.URL(), keepingClient(t, p)
		status, err := p.uploadTo(client, url, "1") // leaves an idle connection
		require.NoError(t, err)
		require.Equal(t, 200, status)
		entered := make(chan struct{})
		ended := make(chan error, 1)
		p.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			close(entered)
			resp, err := next(r)
			ended <- err
			return resp, err
		})
		p.rules(Fault{Delay: Duration(time.Hour)})
		answered := make(chan error, 1)
		go func() {
			_, err := p.uploadTo(client, url, "2")
			answered <- err
		}()
		<-entered
		require.NoError(t, p.StopListening())
		select {
		case err := <-ended:
			assert.Error(t, err, "the context has ended")
		default:
			t.Error("a request outlived StopListening")
		}
		err = <-answered
		require.Error(t, err)
		if strings.HasPrefix(url, "http:") {
			assert.ErrorIs(t, err, syscall.ECONNRESET, "the connection is reset, so that no client takes it for the end of a reply")
		}
		p.Intercept(nil)
		p.SetFaults(nil)
		_, err = p.uploadTo(client, url, "3")
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.Nil(t, p.CertPool())
		assert.Equal(t, "https://searchtest.search.windows.net", p.URL())
		assert.Equal(t, "1", p.count(), "requests within the process continue")
	})
}

func TestServerThatStoppedListeningComesBackAsItWas(t *testing.T) {
	restartable(t, func(t *testing.T, p probe, listen func()) {
		url, client := p.URL(), keepingClient(t, p)
		for i := range 3 {
			status, err := p.uploadTo(client, url, fmt.Sprint(i))
			require.NoError(t, err, "a client that knew the server before")
			require.Equal(t, 200, status)
			p.rules(Fault{Operation: OpIndexDocuments, Status: 503, After: 1})
			require.NoError(t, p.StopListening())
			client.CloseIdleConnections() // or it may use a connection whose end it has not seen
			listen()
			require.Equal(t, url, p.URL())
			status, err = p.uploadTo(client, url, "a")
			require.NoError(t, err)
			assert.Equal(t, 200, status)
			status, err = p.uploadTo(client, url, "a")
			require.NoError(t, err)
			assert.Equal(t, 503, status, "a script continues where it was")
			p.SetFaults(nil)
		}
		assert.EqualValues(t, 4, p.DocumentCount("types"))
		assert.Len(t, p.Changes("types"), 6)
		assert.Len(t, p.Requests(), 9)
	})
}

func TestOnlyCloseIsForGood(t *testing.T) {
	s := NewServer(nil)
	require.NoError(t, s.StopListening(), "StopListening without a listener succeeds")
	require.NoError(t, s.Listen("127.0.0.1:0"))
	require.NoError(t, s.StopListening())
	require.NoError(t, s.StopListening())
	require.NoError(t, s.Listen("127.0.0.1:0"))
	require.NoError(t, s.Close())
	require.NoError(t, s.StopListening())
	assert.ErrorContains(t, s.Listen("127.0.0.1:0"), "closed")
}

func TestCertificateIsOfTheHostThatIsListenedOn(t *testing.T) {
	s := NewServer(nil)
	defer s.Close()
	listen := func(addr string) *tls.Certificate {
		require.NoError(t, s.ListenTLS(addr))
		defer func() { assert.NoError(t, s.StopListening()) }()
		conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL(), "https://"), &tls.Config{RootCAs: s.CertPool(), ServerName: "localhost", MinVersion: tls.VersionTLS12})
		require.NoError(t, err)
		defer conn.Close()
		return &tls.Certificate{Leaf: conn.ConnectionState().PeerCertificates[0]}
	}
	first := listen("127.0.0.1:0").Leaf
	assert.True(t, first.Equal(listen("127.0.0.1:0").Leaf))
	other := listen("127.0.0.2:0").Leaf
	assert.False(t, first.Equal(other))
	assert.NoError(t, other.VerifyHostname("127.0.0.2"))
	assert.Error(t, first.VerifyHostname("127.0.0.2"))
}

// Documents confirmed before the listener stopped are present, and clients that retry complete after its restart.
func TestListenerDiesAndComesBackUnderLoadConcurrentSafe(t *testing.T) {
	restartable(t, func(t *testing.T, p probe, listen func()) {
		url := p.URL()
		const workers, each = 4, 60
		var answered, failed atomic.Int64
		var wg sync.WaitGroup
		for worker := range workers {
			client := keepingClient(t, p)
			wg.Go(func() {
				for i := 0; i < each; {
					status, err := p.uploadTo(client, url, fmt.Sprintf("%d-%d", worker, i))
					if err != nil {
						failed.Add(1)
						time.Sleep(time.Millisecond) // saves ports while the listener is down
						continue
					}
					assert.Equal(t, 200, status)
					answered.Add(1)
					i++
				}
			})
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			wg.Wait()
		}()
		for kills := int64(1); kills <= 3; kills++ {
			for answered.Load() < kills*workers*each/5 {
				time.Sleep(time.Millisecond)
			}
			before := failed.Load()
			require.NoError(t, p.StopListening())
			// On a busy machine the workers may finish before the listener stops.
			for failed.Load() < before+workers && answered.Load() < workers*each {
				time.Sleep(time.Millisecond)
			}
			listen()
		}
		<-done
		assert.EqualValues(t, workers*each, p.DocumentCount("types"))
		created := 0
		for _, c := range p.Changes("types") {
			require.True(t, c.Applied())
			if c.Status == http.StatusCreated {
				created++
			}
		}
		assert.Equal(t, workers*each, created)
		assert.GreaterOrEqual(t, len(p.Changes("types")), workers*each, "an answer may have been lost, a document not")
	})
}
