package search

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/models"
)

// The service never redirects. A followed redirect would take the documents and the api-key header to another host:
// net/http drops Authorization for another domain, but does not know api-key. After a 301, 302 or 303 it would also
// send a different request. Therefore no request of this package follows a redirect, whatever the Transporter:
//
//   - An *http.Client is used as a copy that returns redirects.
//   - Any other Transporter, or a client within one, is watched: see trail. A redirect that it follows undetected
//     ends as a redirectError. The exception is a new request made by the RoundTripper of an *http.Client, which
//     looks like a rewrite of the address.

// refuseRedirects returns a copy of client that returns a redirect as the reply. Jar, Timeout and Transport stay.
func refuseRedirects(client *http.Client) *http.Client {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// redirectError is the error of a request that was redirected to another address. Its outcome is unknown.
type redirectError struct{ text string }

func (e *redirectError) Error() string { return models.ErrMalformedReply.Error() + ": " + e.text }

// Unwrap returns ErrMalformedReply, because the reply is not the service's own and the outcome is unknown.
func (e *redirectError) Unwrap() error { return models.ErrMalformedReply }

// NonRetriable keeps azcore from sending the key and the documents again.
func (e *redirectError) NonRetriable() {}

const fixRedirect = "; check the endpoint, and make the http.Client inside of ClientOptions.Transport return redirects (CheckRedirect, http.ErrUseLastResponse)"

// place returns the scheme and host of a URL, without the scheme's default port.
func place(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host
}

// moved returns an error if resp is not the reply to the request that was sent, which has the given method and the
// place want. net/http records a redirect that it follows. A Transporter may follow redirects without net/http. Then
// only the address shows it (strict). The RoundTripper of an *http.Client may send to another address, so strict is
// false for it.
func moved(resp *http.Response, method, want string, strict bool) *redirectError {
	from := resp.Request
	if from == nil || from.URL == nil { // a fake, not net/http, made the reply
		return nil
	}
	got, text := place(from.URL), ""
	switch {
	case from.Response != nil:
		text = fmt.Sprintf("got the reply to a redirect (HTTP %d) to %s, want one of %s%s", from.Response.StatusCode, got, want, fixRedirect)
	case strict && (got != want || from.Method != method):
		text = fmt.Sprintf("got the reply to %s %s, want one to %s %s; make ClientOptions.Transport send to the endpoint, or give that as the endpoint which it sends to",
			from.Method, got, method, want)
	default:
		return nil
	}
	if got != want {
		text += "; replace the credential if " + got + " must not know it"
	}
	return &redirectError{text}
}

// own reports whether resp is the reply to the request that was sent, not to a redirect. Such a reply counts even if
// a copy of the request was stopped.
func own(resp *http.Response, method, want string) bool {
	if resp == nil {
		return false
	}
	from := resp.Request
	return from != nil && from.URL != nil && from.Response == nil && from.Method == method && place(from.URL) == want
}

// trail records the hosts to which the headers of one request go, also through proxies. It stops headers for a second
// host by closing the connection while they are in its write buffer: only then does net/http report the host before
// the headers leave. At that time the status of the first reply is unknown, so failover and mirrors within a
// Transporter look like a redirect and are stopped too. The goroutines of a connection use it concurrently.
type trail struct {
	ours http.Header // header values that identify the request

	mu       sync.Mutex
	target   string // the last requested connection: host:port of the request, or of its proxy
	conn     net.Conn
	host     string // of the headers that are being written
	first    string // the first host of the request
	answered bool   // a reply has begun; before it, another host is a retry
	stopped  string // the host for which the request was stopped
}

// follow returns req with a trail in its context.
func follow(req *http.Request) (*http.Request, *trail) {
	t := &trail{ours: http.Header{}}
	for _, name := range append(slices.Clone(secretHeaders), clientRequestIDHeader) {
		t.ours.Set(name, req.Header.Get(name))
	}
	return req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn: func(hostPort string) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.target = hostPort
		},
		GotConn: func(info httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.conn = info.Conn
		},
		GotFirstResponseByte: func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.answered = t.first != ""
		},
		WroteHeaderField: t.wrote,
	})), t
}

func (t *trail) wrote(name string, values []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	value := strings.Join(values, ",")
	if name == "Host" || name == ":authority" {
		t.host = t.at(value)
		return
	}
	switch mine := t.ours.Get(name); {
	case mine == "" || mine != value:
	case t.first == "" || !t.answered:
		t.first = t.host
	case t.first != t.host:
		t.stopped = t.host
		if t.conn != nil { // net/http always sets it
			_ = t.conn.Close()
		}
	}
}

// at returns the place of a Host header. A connection from a DialTLSContext may have any type. If host has no port,
// the dialled port decides, because net/http dials 443 for https.
func (t *trail) at(host string) string {
	u := &url.URL{Scheme: "http", Host: host}
	name, port, _ := net.SplitHostPort(t.target)
	_, secure := t.conn.(*tls.Conn)
	if secure || u.Port() == "" && port == "443" && strings.EqualFold(name, u.Hostname()) {
		u.Scheme = "https"
	}
	return place(u)
}

// left returns the error of a stopped request, or nil.
func (t *trail) left() *redirectError {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped == "" {
		return nil
	}
	return &redirectError{fmt.Sprintf("got our credential on its way to a second host %s after a reply of %s, want one host; the connection was closed%s%s",
		t.stopped, t.first, fixRedirect, "; to fail over or to mirror, use ClientOptions.PerRetryPolicies")}
}

// newReplyGuard returns the guard of a Transporter.
func newReplyGuard(transport policy.Transporter) replyGuard {
	client, ok := transport.(*http.Client)
	if !ok {
		return replyGuard{next: transport, strict: true, watched: true}
	}
	_, plain := client.Transport.(*http.Transport)
	return replyGuard{next: refuseRedirects(client), watched: !plain && client.Transport != nil}
}
