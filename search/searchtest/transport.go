package searchtest

import (
	"context"
	"errors"
	"io"
	"net/http"
)

type interceptor = func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error)

// Intercept puts f around the server; the one that was added last sees a request
// first. f may change it, answer it, fail it, or pass it on with next, and change
// what comes back. An error is a broken connection to the client. f runs in the
// goroutine of the request, many at once if requests are, and should give up when
// the context of the request ends. nil removes all
// interceptors.
func (s *Server) Intercept(f func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f == nil {
		s.interceptors = nil
		return
	}
	// A new slice: requests that are under way walk the old one.
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

// Transport returns a transport that answers requests inside the process, for
// an http.Client or the options of an azcore client. It looks at the path of a
// request and not at its host, so any address will do. There is no network and
// no goroutine: a request is served by the goroutine that makes it, which makes
// it fit for testing/synctest. It ends when its context does, while waiting for
// a delay as well as while reading the reply.
//
// Unlike http.Transport it adds no headers: a reply is compressed only if the
// request says Accept-Encoding itself, and comes compressed then.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Server }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.s.Do(r) }

// Do is Transport for those who want a Do method, such as the Transport of
// azcore's policy.ClientOptions.
func (s *Server) Do(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if err := context.Cause(ctx); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	// The server may change what it gets, the caller's request must not change.
	mine := r.Clone(ctx)
	if r.Body != nil {
		body := r.Body
		closed := make(chan struct{})
		// A body that blocks is unblocked by closing it, as http.Transport does.
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

// replyBody delivers the body of a reply until the context of the request ends,
// and a broken connection after it if the body was cut.
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
