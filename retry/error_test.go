package retry_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry"
)

// replyError is an error that stands for a reply.
type replyError int

func (e replyError) Error() string   { return fmt.Sprintf("the service answered %d", int(e)) }
func (e replyError) HTTPStatus() int { return int(e) }

var _ retry.StatusError = replyError(0)

func TestErrorJudgesAReplyByItsStatus(t *testing.T) {
	for _, r := range requestRows {
		if r.status == 0 || r.status/100 == 2 {
			continue // not a reply; success: see below
		}
		for how, err := range map[string]error{
			"itself":                       replyError(r.status),
			"wrapped":                      fmt.Errorf("index hotels: %w", replyError(r.status)),
			"joined with another":          errors.Join(errors.New("and more"), replyError(r.status)),
			"together with a dial error":   errors.Join(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, replyError(r.status)),
			"in an url.Error":              &url.Error{Op: "Post", URL: "https://x", Err: replyError(r.status)},
			"together with the end of ctx": fmt.Errorf("%w: %w", context.DeadlineExceeded, replyError(r.status)),
			"wrapped, then joined":         errors.Join(fmt.Errorf("a: %w", replyError(r.status))),
		} {
			decision, status := retry.ForError(err)
			assert.Equal(t, r.want, decision, "%d %s", r.status, how)
			assert.Equal(t, r.status, status, "%d %s", r.status, how)
		}
	}
}

// An Indexer that returns an error for a 200 could not use the reply. With Done the sender would report documents as
// written without an answer about them.
func TestErrorIsNeverDone(t *testing.T) {
	for code := -10; code < 1100; code++ {
		for _, err := range []error{replyError(code), backoff.Permanent(replyError(code))} {
			decision, _ := retry.ForError(err)
			assert.NotEqual(t, retry.Done, decision.Verdict, "%d %T", code, err)
		}
	}
	for code := 200; code < 300; code++ {
		decision, status := retry.ForError(fmt.Errorf("half a reply: %w", replyError(code)))
		assert.Equal(t, holdUnsure, decision)
		assert.Equal(t, code, status)
	}
}

func TestErrorOfNilIsDone(t *testing.T) {
	decision, status := retry.ForError(nil)
	assert.Equal(t, done, decision)
	assert.Zero(t, status)
}

func TestPermanentIsNeverRetriedWhateverItsStatus(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		want   retry.Decision
		status int
	}{
		{"a custom cause", errors.New("no"), retry.Decision{Unknown: true, NoAnswer: true}, 0},
		{"a connection that was cut", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, retry.Decision{Unknown: true, NoAnswer: true}, 0},
		{"a connection that never was", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, fail, 0},
		{"429", replyError(429), fail, 429},
		{"503 may have been applied in part", replyError(503), retry.Decision{Unknown: true}, 503},
		{"504 may still be worked on", replyError(504), retry.Decision{Unknown: true, NoAnswer: true}, 504},
		{"500 may have been applied", replyError(500), retry.Decision{Unknown: true}, 500},
		{"400 is not cut in halves", replyError(400), fail, 400},
		{"413 teaches no size", replyError(413), fail, 413},
		{"403 is permanent as usual", replyError(403), permanent, 403},
		{"an unusable 200", replyError(200), retry.Decision{Unknown: true}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, err := range []error{backoff.Permanent(c.err), fmt.Errorf("sending: %w", backoff.Permanent(fmt.Errorf("here: %w", c.err)))} {
				decision, status := retry.ForError(err)
				assert.Equal(t, c.want, decision)
				assert.Equal(t, c.status, status)
			}
		})
	}
}

// The errors are artificial, because the real ones are rare or come from other packages.
func TestErrorWithoutAReplyIsRetried(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		sent bool // may have been sent
	}{
		{"a status of 0 is not a reply", replyError(0), true},
		{"a name that does not resolve, in a dial error", &url.Error{Op: "Post", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}}, false},
		{"a name that does not resolve, from a credential", fmt.Errorf("no token: %w", &net.DNSError{Err: "i/o timeout", IsTimeout: true}), false},
		{"a certificate for another host, from a tls.Config that verifies by itself", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}, false},
		{"an unknown authority, from a tls.Config that verifies by itself", fmt.Errorf("tls: %w", x509.UnknownAuthorityError{}), false},
		{"an expired certificate", &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, false},
		{"an unknown reason against a certificate", &tls.CertificateVerificationError{Err: errors.New("no")}, false},
		{"an expired certificate, from a tls.Config that verifies by itself", x509.CertificateInvalidError{Reason: x509.Expired}, false},
		{"a broken TLS record in the middle", tls.RecordHeaderError{Msg: "received record with version 0 when expecting version 303"}, true},
		{"a first record that is not TLS", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake", Conn: new(net.TCPConn)}, false},
		{"a write that failed", &net.OpError{Op: "write", Err: syscall.EPIPE}, true},
		{"a TLS alert", &net.OpError{Op: "remote error", Err: tls.AlertError(40)}, true},
		{"the end of the connection", io.ErrUnexpectedEOF, true},
		{"a canceled context", context.Canceled, true},
		{"a deadline", context.DeadlineExceeded, true},
		{"anything else", errors.New("something"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			decision, status := retry.ForError(c.err)
			assert.Equal(t, retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: c.sent, NoAnswer: c.sent}, decision)
			assert.Zero(t, status)
		})
	}
}

// closedPort returns an address without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// post sends a request that must fail, and returns its error.
func post(t *testing.T, transport *http.Transport, target string) error {
	t.Helper()
	t.Cleanup(transport.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(`{"value":[]}`))
	require.NoError(t, err)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err == nil {
		resp.Body.Close()
	}
	require.Error(t, err)
	return err
}

// assertConnection checks the verdict about an error of net/http.
func assertConnection(t *testing.T, err error, mayBeSent bool) {
	t.Helper()
	decision, status := retry.ForError(err)
	assert.Equal(t, retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: mayBeSent, NoAnswer: mayBeSent}, decision, "%v", err)
	assert.Zero(t, status)
}

func TestRefusedConnectionWasNeverSent(t *testing.T) {
	err := post(t, &http.Transport{}, "http://"+closedPort(t))
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	assertConnection(t, err, false)
}

func TestUnreachableProxyWasNeverSent(t *testing.T) {
	proxy := &url.URL{Scheme: "http", Host: closedPort(t)}
	err := post(t, &http.Transport{Proxy: http.ProxyURL(proxy)}, "https://hotels.search.windows.net")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	assertConnection(t, err, false)
}

func TestUnknownNameWasNeverSent(t *testing.T) {
	dialer := &net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server here")
	}}}
	err := post(t, &http.Transport{DialContext: dialer.DialContext}, "http://hotels.search.windows.net")
	dns := (*net.DNSError)(nil)
	require.ErrorAs(t, err, &dns)
	assertConnection(t, err, false)
}

func quiet(s *httptest.Server) { s.Config.ErrorLog = log.New(io.Discard, "", 0) }

func TestUntrustedCertificateWasNeverSent(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	quiet(server)
	server.StartTLS()
	defer server.Close()

	err := post(t, &http.Transport{}, server.URL)
	require.ErrorAs(t, err, new(*tls.CertificateVerificationError))
	require.ErrorAs(t, err, new(x509.UnknownAuthorityError))
	assertConnection(t, err, false)

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	err = post(t, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "another.host"}}, server.URL)
	require.ErrorAs(t, err, new(x509.HostnameError))
	assertConnection(t, err, false)
}

func TestHTTPSToAPlainServerWasNeverSent(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	quiet(server)
	server.Start()
	defer server.Close()

	err := post(t, &http.Transport{}, strings.Replace(server.URL, "http:", "https:", 1))
	require.ErrorIs(t, err, http.ErrSchemeMismatch)
	assertConnection(t, err, false)
}

// serve accepts one connection and passes it to f.
func serve(t *testing.T, f func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return // the test is over
		}
		defer conn.Close()
		f(conn)
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return l.Addr().String()
}

func TestHTTPSToAServerThatTalksSomethingElseWasNeverSent(t *testing.T) {
	addr := serve(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
		_, _ = io.Copy(io.Discard, conn) // until the client gives up
	})
	err := post(t, &http.Transport{}, "https://"+addr)
	require.ErrorAs(t, err, new(tls.RecordHeaderError))
	assertConnection(t, err, false)
}

func TestConnectionCutAfterSendingIsUnknown(t *testing.T) {
	for name, linger := range map[string]int{"reset": 0, "closed": -1} {
		t.Run(name, func(t *testing.T) {
			addr := serve(t, func(conn net.Conn) {
				got := make([]byte, 4096)
				for read := 0; !strings.Contains(string(got[:read]), "[]}"); {
					n, err := conn.Read(got[read:])
					if err != nil {
						return
					}
					read += n
				}
				_ = conn.(*net.TCPConn).SetLinger(linger)
			})
			err := post(t, &http.Transport{}, "http://"+addr)
			if linger == 0 {
				require.ErrorIs(t, err, syscall.ECONNRESET)
			} else {
				require.ErrorIs(t, err, io.EOF)
			}
			assertConnection(t, err, true)
		})
	}
}

func TestDeadlineBeforeTheReplyIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
		go func() { _, _ = io.Copy(io.Discard, server) }() // reads everything, answers nothing

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hotels", strings.NewReader("{}"))
		require.NoError(t, err)
		resp, err := transport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assertConnection(t, err, true)
		transport.CloseIdleConnections()
		server.Close()
	})
}

func TestDeadlineWhileDialingWasNeverSent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	_, err := new(net.Dialer).DialContext(ctx, "tcp", closedPort(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assertConnection(t, &url.Error{Op: "Post", Err: err}, false)
}
