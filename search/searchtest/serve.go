package searchtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/faults"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

// exchange is one request on its way through the server.
type exchange struct {
	origin  *store.Origin
	header  http.Header    // of the reply
	body    []byte         // of the request, decompressed; valid until the reply is ready
	fault   *faults.Firing // nil without a fault
	actions int            // in the batch, if it is one

	buffer    *bytes.Buffer // holds body, nil for none
	bodyBytes int64         // size of the body, even if it was discarded as too large
}

// recorder builds a reply. It is an http.ResponseWriter, so handlers have the usual form.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newRecorder() *recorder { return &recorder{header: make(http.Header, 16)} }

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// errReset is the error of a client whose connection was cut.
func errReset() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
}

// errRefused is the error of a client of a closed server.
func errRefused() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// serve answers r in the calling goroutine. It returns an error if there is no reply: the
// connection broke, or the context of r ended. It reads the body of r but does not close it.
func (s *Server) serve(r *http.Request) (*http.Response, error) {
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return nil, errRefused()
	}
	start := time.Now()
	seq := s.serial.Add(1)
	w := newRecorder()
	x := &exchange{
		origin: &store.Origin{
			Seq: seq, RequestID: requestID(seq), Time: start,
			ClientID: firstOf(r.Header, "X-Ms-Client-Request-Id", "Client-Request-Id"),
		},
		header: w.header,
	}
	s.commonHeaders(w.header, r, x)
	rt, err := s.handle(w, r, x)
	if rt.Version.Has(apiversion.RenewedHeaders) {
		w.renewHeaders()
	}
	w.header.Set("Elapsed-Time", strconv.FormatInt(time.Since(start).Milliseconds(), 10))
	var resp *http.Response
	if err == nil {
		resp, err = w.response(r, x)
	}
	if err == nil && s.opts.Latency > 0 {
		err = wait(r.Context(), s.opts.Latency)
	}
	if err == nil {
		err = context.Cause(r.Context())
	}
	s.record(r, rt, x, w, start, err)
	releaseBody(x)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// commonHeaders sets the headers of every reply.
func (s *Server) commonHeaders(h http.Header, r *http.Request, x *exchange) {
	h.Set("Cache-Control", "no-cache")
	h.Set("Pragma", "no-cache")
	h.Set("Expires", "-1")
	h.Set("Date", x.origin.Time.UTC().Format(http.TimeFormat))
	h.Set("Request-Id", x.origin.RequestID)
	h.Set("Strict-Transport-Security", "max-age=15724800; includeSubDomains")
	for _, name := range []string{"Client-Request-Id", "X-Ms-Client-Request-Id"} {
		if id := r.Header.Get(name); id != "" {
			h.Set(name, id)
		}
	}
}

// requestID makes a GUID from the number of a request. It is repeatable, so the logs of two
// runs can be compared line by line.
func requestID(seq uint64) string {
	return fmt.Sprintf("5ea7c4e5-7e57-4000-8000-%012x", seq&0xffffffffffff)
}

func firstOf(h http.Header, names ...string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// handle carries the request out and applies the fault that matches it. Damage to the body
// of the reply is left to response.
func (s *Server) handle(w *recorder, r *http.Request, x *exchange) (routing.Route, error) {
	rt, refusal := operations.Find(r)
	s.warnOfVersion(w.header, rt.Version)
	if refusal == nil {
		refusal = s.authorize(r, rt)
	}
	tooLarge, err := s.readBody(r, x)
	if err != nil {
		return rt, err
	}
	if refusal == nil {
		refusal = tooLarge
	}
	if refusal != nil {
		if refusal.Status == http.StatusUnauthorized {
			w.header.Set("WWW-Authenticate", "Bearer")
		}
		reply.WriteError(w, r, refusal)
		return rt, nil
	}
	r.Body = io.NopCloser(bytes.NewReader(x.body))
	x.fault = s.faults.Load().Choose(r, rt, x.body)
	if f := x.fault; f != nil {
		if err := wait(r.Context(), f.Delay); err != nil {
			return rt, err
		}
		if Cut(f.Cut) == CutBeforeCommit {
			return rt, errReset()
		}
		if f.Status == 0 || f.Commit {
			handlers[Operation(rt.Operation)](s, w, r, rt, x)
		}
		if Cut(f.Cut) == CutAfterCommit {
			return rt, errReset()
		}
		if f.Status != 0 {
			s.overwrite(w, r, f)
		}
		return rt, wait(r.Context(), f.ReplyDelay)
	}
	handlers[Operation(rt.Operation)](s, w, r, rt, x)
	return rt, nil
}

// overwrite replaces the reply by the answer of a fault.
func (s *Server) overwrite(w *recorder, r *http.Request, f *faults.Firing) {
	w.status = 0
	w.body.Reset()
	for _, name := range []string{"Etag", "Location", "Content-Length", "Content-Type"} {
		w.header.Del(name)
	}
	f.Answer(w, r)
}

// wait waits for d, or until ctx ends and then returns an error.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
