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

// The service never redirects. A redirect that is followed takes the documents and
// the api-key header to the host that it names (net/http drops Authorization for
// another domain, but cannot know about ours), and after a 301, 302 or 303 it asks
// for something else than was asked for. Therefore no request of this package
// follows one, whatever sends it:
//
//   - An *http.Client is used as a copy that returns redirects. Nothing is followed.
//   - Another Transporter, or a client inside of one, is watched: see trail. What it
//     follows unseen ends as a redirectError, except that the RoundTripper of an
//     *http.Client may have sent a request of its own: it looks like a rewrite.

// refuseRedirects returns a copy of client that returns a redirect as the reply.
// Jar, Timeout and Transport stay.
func refuseRedirects(client *http.Client) *http.Client {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// redirectError is the error of a request that left for another address than its
// own. What became of it is not known.
type redirectError struct{ text string }

func (e *redirectError) Error() string { return models.ErrMalformedReply.Error() + ": " + e.text }

// Unwrap makes the outcome unknown: the reply is not the service's own.
func (e *redirectError) Unwrap() error { return models.ErrMalformedReply }

// NonRetriable keeps azcore from sending the key and the documents again.
func (e *redirectError) NonRetriable() {}

const fixRedirect = "; check the endpoint, and make the http.Client inside of ClientOptions.Transport return redirects (CheckRedirect, http.ErrUseLastResponse)"

// place is the address of a request's host as text, without the port that the scheme implies.
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

// moved returns the error for a reply that another request got than the one that was
// sent, by method, to want. net/http notes a redirect that it follows. Of a
// Transporter that follows by itself only the place can be seen; an *http.Client may
// send to another one than it was asked to, because its RoundTripper says so.
func moved(resp *http.Response, method, want string, strict bool) *redirectError {
	from := resp.Request
	if from == nil || from.URL == nil { // not made by net/http: a fake
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

// own reports whether resp names the request that was sent as the one it answers, not
// one that a redirect asked for. Such a reply counts although a copy was stopped.
func own(resp *http.Response, method, want string) bool {
	if resp == nil {
		return false
	}
	from := resp.Request
	return from != nil && from.URL != nil && from.Response == nil && from.Method == method && place(from.URL) == want
}

// trail watches where the headers of one request go, through proxies too, and stops
// them from going to a second host: it closes the connection while they are in its
// write buffer. net/http gives no other moment to say no that is before the headers
// leave and after their host is known. It does not give the status of the first reply
// before: failover and mirrors inside of a Transporter look like a redirect, and stop.
// It is used by the goroutines of a connection.
type trail struct {
	ours http.Header // by whose values a request is recognized

	mu       sync.Mutex
	target   string // host:port that a connection is wanted to: of the request, or of its proxy
	conn     net.Conn
	host     string // of the headers that are written now
	first    string // where the request went
	answered bool   // so that it is not only sent again
	stopped  string // where it was stopped from going
}

// follow returns req with a trail.
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
		if t.conn != nil { // net/http has one
			_ = t.conn.Close()
		}
	}
}

// at returns the place of a Host header. A connection of a DialTLSContext may have any
// type, so the default port decides where host has none: net/http dials 443 for https.
func (t *trail) at(host string) string {
	u := &url.URL{Scheme: "http", Host: host}
	name, port, _ := net.SplitHostPort(t.target)
	_, secure := t.conn.(*tls.Conn)
	if secure || u.Port() == "" && port == "443" && strings.EqualFold(name, u.Hostname()) {
		u.Scheme = "https"
	}
	return place(u)
}

// left returns the error of a request that was stopped, or nil.
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
