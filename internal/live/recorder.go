package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// exchange is a line of the recording.
type exchange struct {
	Method, URL string
	Headers     map[string]string `json:",omitempty"`
	Body        json.RawMessage   `json:",omitempty"`
	Status      int
	Replied     map[string]string `json:",omitempty"`
	Reply       json.RawMessage   `json:",omitempty"`
}

// shownHeaders are the headers that matter for the protocol. All others are omitted, including credentials.
var shownHeaders = []string{"Accept", "Content-Type", "If-Match", "If-None-Match", "Prefer", "X-Ms-Enable-Elevated-Read", "Etag", "Retry-After", "Warning", "Preference-Applied"}

// recorder is a transport that records requests and replies.
type recorder struct {
	next    policy.Transporter
	secrets []string // redacted in every line: the key, the host, the quoted name of the service

	mu     sync.Mutex
	out    *json.Encoder
	paused bool // set while definitions of others are listed
}

func newRecorder(next policy.Transporter, endpoint, key string, out io.Writer) (*recorder, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	service, _, _ := strings.Cut(u.Hostname(), ".")
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &recorder{next: next, secrets: []string{key, u.Host, "'" + service + "'"}, out: enc}, nil
}

// Do implements policy.Transporter.
func (r *recorder) Do(req *http.Request) (*http.Response, error) {
	x := exchange{Method: req.Method, URL: r.redact(req.URL.RequestURI()), Headers: r.headers(req.Header)}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		x.Body = r.body(body)
	}
	resp, err := r.next.Do(req)
	if err != nil {
		return nil, err
	}
	reply, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(reply))
	x.Status, x.Replied, x.Reply = resp.StatusCode, r.headers(resp.Header), r.body(reply)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paused {
		return resp, nil
	}
	return resp, r.out.Encode(x)
}

// pause stops the recording for good.
func (r *recorder) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused = true
}

func (r *recorder) headers(h http.Header) map[string]string {
	shown := map[string]string{}
	for _, name := range shownHeaders {
		if value := h.Get(name); value != "" {
			shown[name] = r.redact(value)
		}
	}
	return shown
}

// body returns JSON without secrets. Any other text becomes a string.
func (r *recorder) body(b []byte) json.RawMessage {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	if len(b) == 0 {
		return nil
	}
	if !json.Valid(b) {
		b, _ = json.Marshal(string(b))
	}
	return json.RawMessage(r.redact(string(wire.Redact(b))))
}

// redact returns text without the key and the name of the service.
func (r *recorder) redact(text string) string {
	for _, secret := range r.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
