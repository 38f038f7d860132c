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
	// maxReplyBytes bounds the body of a successful reply. The largest genuine ones are a document of 16 MB and the list
	// of 3000 index definitions.
	maxReplyBytes = 256 << 20
	// maxBatchReplyBytes bounds the reply to a batch. The largest genuine one, 32000 results with keys of 1024 bytes,
	// takes half of it.
	maxBatchReplyBytes = 64 << 20
	// maxErrorBytes bounds the part of an error's body that is read. The service lists each bad action of a batch; 32000
	// of them take 3 MB, and a truncated body would look like a foreign reply.
	maxErrorBytes = 4 << 20
)

// replyGuard is between the pipeline and the transport and makes replies safe to read: it checks where the request
// went, limits the body, and decompresses it if the transport has not. It reads the body of an error completely and
// ignores read errors, because the status matters more than a truncated explanation.
type replyGuard struct {
	next    policy.Transporter
	strict  bool // the Request of the reply must have the place of the request that was sent
	watched bool // next may contain an http.Client that follows redirects
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
	readError(resp, sent(req))
	return resp, nil
}

// readError reads the body of an error, and hides secrets in it.
func readError(resp *http.Response, secrets []string) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	_ = resp.Body.Close()
	hidden := withoutSent
	if err != nil || len(body) == maxErrorBytes {
		hidden = withoutCutSent
	}
	resp.Body = io.NopCloser(strings.NewReader(hidden(string(body), secrets)))
}

// send sends req and returns a reply that comes from the place of req. Its Body, Header and Request are not nil.
func (g replyGuard) send(req *http.Request) (*http.Response, error) {
	method, want := req.Method, place(req.URL) // before the transport can change them
	var t *trail
	if g.watched {
		req, t = follow(req)
	}
	if lent, ok := req.Body.(*lentBody); ok { // a policy has read the body and restored it
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

// complete returns a reply with a Body and a Header, or an error, whatever a Transport or a policy of the caller
// returned.
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
	if err != nil { // close it here, because azcore drops it
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// wholeReply marks a request that is retried if its reply breaks off.
type wholeReply struct{}

// wholeReplies is the pipeline policy that reads the replies of marked requests within an attempt, so that a
// truncated reply is retried. azcore also reads replies, but retries a POST only if there was no reply, because it
// cannot know which POSTs change nothing. wholeReplies is the last policy before those of the caller, which may
// return replies without a Body, so it completes them.
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

// readReply is the body of a reply, already read by wholeReplies.
type readReply struct {
	*bytes.Reader
	all []byte
}

func (readReply) Close() error { return nil }

// payload is runtime.Payload, but does not copy a body that wholeReplies has read, nor consume it.
func payload(resp *http.Response) ([]byte, error) {
	if whole, ok := resp.Body.(readReply); ok {
		return whole.all, nil
	}
	return runtime.Payload(resp)
}

// bounded is a body that fails when it exceeds its limit.
type bounded struct {
	io.ReadCloser
	limit, left int64
}

// bound limits a body. It replaces an existing limit.
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
		// A body of exactly the limit is valid, so only one more byte is an error.
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

// gunzip decompresses a body. It passes on a body that is not compressed despite its header.
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

// malformed returns the error for a successful reply that cannot be decoded.
func malformed(cause error, resp *http.Response) error {
	if errors.Is(cause, models.ErrMalformedReply) {
		return fmt.Errorf("%w (HTTP %d, request id %s)", cause, resp.StatusCode, requestID(resp))
	}
	return fmt.Errorf("%w: %w (HTTP %d, request id %s)", models.ErrMalformedReply, cause, resp.StatusCode, requestID(resp))
}

// object returns the JSON object in a reply, or an error that describes the reply.
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

// decodeInto decodes a reply into v. The reply must be an object with the given members.
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

// trimBOM removes a byte order mark, which the service puts before the body of a count.
func trimBOM(body []byte) []byte {
	return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
}

// foreign returns the error for a successful reply that is not from a search service, but for example from a proxy or
// a network's login page.
func (c *connection) foreign(resp *http.Response, call call) error {
	return call.wrap(fmt.Errorf("%w: %s", malformed(errors.New("it is a page of HTML"), resp), foreignHint(c)))
}

// page reports whether a reply is HTML.
func page(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/html")
}
