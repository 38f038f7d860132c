package ui

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/go-azsearch/azsearch/internal/webpage"
)

// number parses a query parameter, low if it is missing. If the value is not an integer in [low, high], it replies
// with status 400 and returns false.
func number(w http.ResponseWriter, r *http.Request, name string, low, high int64) (int64, bool) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return low, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		webpage.Refuse(w, http.StatusBadRequest, fmt.Sprintf("%s: %q is not a number from %d to %d", name, text, low, high))
		return 0, false
	}
	return n, true
}

// recorder is a ResponseWriter that keeps the reply.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newRecorder() *recorder { return &recorder{header: make(http.Header)} }

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

// response returns the reply to r. Call it after the handler has returned.
func (w *recorder) response(r *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	w.header.Set("Content-Length", strconv.Itoa(w.body.Len()))
	body := io.NopCloser(&w.body)
	if r.Method == http.MethodHead {
		body = http.NoBody
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: body, ContentLength: int64(w.body.Len()), Request: r,
	}
}
