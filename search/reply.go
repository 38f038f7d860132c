package search

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
)

const (
	// maxReplyBytes bounds the body of a successful reply. The largest honest
	// ones are a document of 16 MB or the list of 3000 index definitions.
	maxReplyBytes = 256 << 20
	// maxBatchReplyBytes bounds the reply to a batch: 32000 results, the most
	// there can be, with keys of 1024 bytes come to half of it.
	maxBatchReplyBytes = 64 << 20
	// maxErrorBytes bounds how much of an error's body is looked at. The service names each bad action of a batch:
	// 32000 of them come to 3 MB, and a body that is cut off would not be taken for the service's own.
	maxErrorBytes = 4 << 20
)

// replyGuard stands between the pipeline and the transport and makes replies
// safe to read: from where the request went, bounded, and unzipped if a transport
// left that to us. The body of an error is read here and its own errors are
// dropped, because the status is worth more than an explanation that broke off.
type replyGuard struct {
	next    policy.Transporter
	strict  bool // the reply must name the place that the request was sent to
	watched bool // next may have an http.Client inside that follows redirects
}

func (g replyGuard) Do(req *http.Request) (*http.Response, error) {
	resp, err := g.send(req)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		resp.Body = &gunzip{body: resp.Body}
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Uncompressed = true
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		resp.Body = bound(resp.Body, maxReplyBytes)
		return resp, nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(unquoted(body, req.Header)))
	return resp, nil
}

// unquoted returns the body of an error without the credentials of its request, whose headers some gateways quote. One
// that is shorter than any of the service's may be a word of the explanation.
func unquoted(body []byte, sent http.Header) []byte {
	const short = 16
	for name, values := range sent {
		for _, value := range values {
			if scheme, token, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "bearer") {
				value = token
			}
			if secret(name) && len(value) >= short {
				body = bytes.ReplaceAll(body, []byte(value), []byte("REDACTED"))
			}
		}
	}
	return body
}

// send sends req and returns a reply that the place of req gave. Its Body, Header
// and Request are not nil.
func (g replyGuard) send(req *http.Request) (*http.Response, error) {
	method, want := req.Method, place(req.URL) // before anybody can change them
	var t *trail
	if g.watched {
		req, t = follow(req)
	}
	if lent, ok := req.Body.(*lentBody); ok { // a policy has read the body and put it back
		view, err := lent.view()
		if err != nil {
			return nil, err
		}
		req.Body = view
	}
	resp, err := g.next.Do(req)
	var elsewhere *redirectError
	if err == nil && resp != nil {
		elsewhere = moved(resp, method, want, g.strict)
	}
	if t != nil && elsewhere == nil && (err != nil || !own(resp, method, want)) {
		elsewhere = t.left()
	}
	if elsewhere != nil {
		err = elsewhere
	}
	if resp, err = complete(resp, err); err != nil {
		return nil, err
	}
	if resp.Request == nil {
		resp.Request = req
	}
	return resp, nil
}

// complete returns a reply with a Body and a Header, or an error, whatever a Transport
// or a policy of the caller has returned.
func complete(resp *http.Response, err error) (*http.Response, error) {
	switch {
	case resp == nil && err == nil:
		return nil, errors.New("got neither a reply nor an error from ClientOptions.Transport or a policy, want one of them")
	case resp == nil:
		return nil, err
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if err != nil { // nobody else reads it: azcore drops it
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// wholeReply is the value of a request whose reply is worth another attempt when
// it breaks off.
type wholeReply struct{}

// wholeReplies is the pipeline policy that reads the replies of such requests
// inside of an attempt. azcore reads replies too, but tries a POST again only if
// there was none: it cannot know which POSTs change nothing. It is the last of ours
// before those of the caller, which may answer by themselves, so it completes replies.
type wholeReplies struct{}

func (wholeReplies) Do(req *policy.Request) (*http.Response, error) {
	resp, err := complete(req.Next())
	var whole wholeReply
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices || !req.OperationValue(&whole) {
		return resp, err
	}
	var body bytes.Buffer
	if n := resp.ContentLength; n > 0 && n < maxReplyBytes {
		body.Grow(int(n) + bytes.MinRead)
	}
	_, err = body.ReadFrom(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("%w: it breaks off after %d bytes: %w", models.ErrMalformedReply, body.Len(), err)
	}
	resp.Body = readReply{bytes.NewReader(body.Bytes()), body.Bytes()}
	return resp, nil
}

// readReply is the body of a reply that wholeReplies has read.
type readReply struct {
	*bytes.Reader
	all []byte
}

func (readReply) Close() error { return nil }

// payload is runtime.Payload without a copy of what wholeReplies has read, which stays as if nobody had read it.
func payload(resp *http.Response) ([]byte, error) {
	if whole, ok := resp.Body.(readReply); ok {
		return whole.all, nil
	}
	return runtime.Payload(resp)
}

// bounded is a body that fails instead of filling the memory.
type bounded struct {
	io.ReadCloser
	limit, left int64
}

// bound bounds a body, anew if it is bounded already.
func bound(body io.ReadCloser, limit int64) *bounded {
	if b, ok := body.(*bounded); ok {
		body = b.ReadCloser
		*b = bounded{ReadCloser: body, limit: limit, left: limit}
		return b
	}
	return &bounded{ReadCloser: body, limit: limit, left: limit}
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// Exactly the limit is fine, so only a byte more is an error.
		if n, err := b.ReadCloser.Read(p[:min(len(p), 1)]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("%w: it is longer than %d bytes", models.ErrMalformedReply, b.limit)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// gunzip unzips a body, or passes it on if it is not zipped after all.
type gunzip struct {
	body   io.ReadCloser
	reader io.Reader // nil before the first Read
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.reader == nil {
		plain := bufio.NewReader(g.body)
		g.reader = plain
		if magic, _ := plain.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
			zipped, err := gzip.NewReader(plain)
			if err != nil {
				return 0, err
			}
			g.reader = zipped
		}
	}
	return g.reader.Read(p)
}

func (g *gunzip) Close() error { return g.body.Close() }

// malformed returns the error for a successful reply that makes no sense.
func malformed(cause error, resp *http.Response) error {
	if errors.Is(cause, models.ErrMalformedReply) {
		return fmt.Errorf("%w (HTTP %d, request id %s)", cause, resp.StatusCode, requestID(resp))
	}
	return fmt.Errorf("%w: %w (HTTP %d, request id %s)", models.ErrMalformedReply, cause, resp.StatusCode, requestID(resp))
}

// object returns the JSON object that a reply is. The error says what it is instead.
func object(body []byte) ([]byte, error) {
	body = bytes.TrimSpace(trimBOM(body))
	problem := ""
	_, valid := wire.Check(body)
	switch {
	case len(body) == 0:
		problem = "it is empty"
	case body[0] == '<':
		problem = "it is a page of HTML"
	case string(body) == "null":
		problem = "it is null"
	case !valid:
		problem = "it is not JSON, or breaks off"
	case body[0] != '{':
		problem = "it is JSON, but not an object"
	default:
		return body, nil
	}
	return nil, fmt.Errorf("%w: %s", models.ErrMalformedReply, problem)
}

// decodeInto reads a reply that is an object with these members into v.
func decodeInto(v any, body []byte, members ...string) error {
	body, err := object(body)
	if err != nil {
		return err
	}
	for _, member := range members {
		if !has(body, member) {
			return fmt.Errorf("%w: it has no member %q", models.ErrMalformedReply, member)
		}
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %w", models.ErrMalformedReply, err)
	}
	return nil
}

// trimBOM removes a byte order mark, which the service puts before the reply
// to a count.
func trimBOM(body []byte) []byte {
	return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
}

// foreign returns the error for a success of something that is not a search
// service: a proxy, or the form to log in to a network.
func (c *connection) foreign(resp *http.Response, call call) error {
	return call.wrap(fmt.Errorf("%w: %s", malformed(errors.New("it is a page of HTML"), resp), foreignHint(c)))
}

// page reports whether a reply says that it is for a browser.
func page(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/html")
}
