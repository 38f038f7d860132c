package searchtest

import (
	"context"
	"errors"
	"io"
	"net/http"
)

type interceptor = func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error)

// Intercept wraps the server in f; the last f added sees a request first. f may change the
// request, answer it, fail it, or call next and change the reply. An error appears to the
// client as a broken connection. f runs in the goroutine of the request, concurrently with
// other requests, and should return when the context of the request ends. A nil f removes
// all interceptors.
func (s *Server) Intercept(f func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f == nil {
		s.interceptors = nil
		return
	}
	// A new slice, because running requests read the old one.
	s.interceptors = append(s.interceptors[:len(s.interceptors):len(s.interceptors)], f)
}

// intercepted reports whether there are interceptors.
func (s *Server) intercepted() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.interceptors) > 0
}

// answer serves r through the interceptors.
func (s *Server) answer(r *http.Request) (*http.Response, error) {
	s.mu.RLock()
	around := s.interceptors
	s.mu.RUnlock()
	next := s.serve
	for _, f := range around {
		inner := next
		next = func(r *http.Request) (*http.Response, error) { return f(r, inner) }
	}
	return next(r)
}

// Transport returns a transport that answers requests inside the process, for an http.Client.
// The options of an azcore client take the Server itself: see Do. Only the path of a request
// is used, so any host works.
// There is no network and no goroutine: a request is served by the calling goroutine and
// works in a testing/synctest bubble. If the context of a request ends, the request ends too,
// both while it waits for a delay and while its reply is read.
//
// Unlike http.Transport it does not ask for compression: a reply is compressed only if the
// request has an Accept-Encoding header, and is not decompressed.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Server }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.s.Do(r) }

// Do is Transport as a method, for the Transport of azcore's policy.ClientOptions.
func (s *Server) Do(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if err := context.Cause(ctx); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	// The server may change its request, but must not change that of the caller.
	mine := r.Clone(ctx)
	if r.Body != nil {
		body := r.Body
		closed := make(chan struct{})
		// Closing a body unblocks its reader, as in http.Transport.
		stop := context.AfterFunc(ctx, func() {
			defer close(closed)
			_ = body.Close()
		})
		defer func() {
			if stop() {
				_ = body.Close()
			} else {
				<-closed
			}
		}()
	}
	resp, err := s.answer(mine)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	if resp == nil {
		return nil, errors.New("searchtest: an interceptor returned neither a response nor an error")
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	resp.Request = r
	return resp, nil
}

// replyBody returns the body of a reply until the context of the request ends. A cut body
// ends with a broken connection.
type replyBody struct {
	ctx    context.Context
	data   []byte
	cut    bool
	closed bool
}

func (b *replyBody) Read(p []byte) (int, error) {
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.ctx.Err() != nil:
		return 0, context.Cause(b.ctx)
	case len(b.data) == 0 && b.cut:
		return 0, io.ErrUnexpectedEOF
	case len(b.data) == 0:
		return 0, io.EOF
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

func (b *replyBody) Close() error {
	b.closed = true
	return nil
}
