package searchtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// bodies is a pool of buffers for the bodies of requests.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// largestPooled is the capacity in bytes of the largest buffer that is pooled.
const largestPooled = 32 << 20

// readBody reads the body of r into x.body. Bytes beyond MaxBatchBytes are read and
// discarded, because a client that is still writing would not see the refusal. err is an
// error of the connection; every other problem is a refusal.
func (s *Server) readBody(r *http.Request, x *exchange) (refusal *reply.Error, err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength != 0 && !jsonContent(r.Header.Get("Content-Type")) {
		refusal = &reply.Error{Status: http.StatusUnsupportedMediaType, Message: "The request entity's media type is not supported for this resource."}
	}
	var source io.Reader = r.Body
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		zipped, zipErr := gzip.NewReader(source)
		if zipErr != nil {
			return badEncoding(), drain(r.Body)
		}
		source = zipped
	default:
		return &reply.Error{Status: http.StatusUnsupportedMediaType, Message: "The content encoding '" + encoding + "' is not supported."}, drain(r.Body)
	}
	limit := s.opts.MaxBatchBytes
	buffer := bodies.Get().(*bytes.Buffer)
	buffer.Reset()
	x.buffer = buffer
	if n := r.ContentLength; n > 0 && (limit < 0 || n <= limit) {
		buffer.Grow(int(n) + bytes.MinRead)
	}
	limited := source
	if limit >= 0 {
		limited = io.LimitReader(source, limit+1)
	}
	_, err = buffer.ReadFrom(limited)
	switch {
	case err != nil && source != r.Body:
		// The gzip or the connection below is broken. A broken connection fails again in drain.
		return badEncoding(), drain(r.Body)
	case err != nil:
		return nil, err
	case limit >= 0 && int64(buffer.Len()) > limit:
		x.bodyBytes = int64(buffer.Len())
		return &reply.Error{Status: http.StatusRequestEntityTooLarge, Code: "RequestEntityTooLarge", Message: reply.TooLarge}, drain(r.Body)
	}
	x.body = buffer.Bytes()
	x.bodyBytes = int64(len(x.body))
	return refusal, nil
}

func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func badEncoding() *reply.Error {
	return &reply.Error{Status: http.StatusBadRequest, Message: "The request body is not valid gzip."}
}

// releaseBody returns the buffer of the request's body to the pool.
func releaseBody(x *exchange) {
	if b := x.buffer; b != nil && b.Cap() <= largestPooled {
		bodies.Put(b)
	}
	x.buffer, x.body = nil, nil
}

// jsonContent reports whether a body of that type can be JSON. An empty type counts as JSON.
func jsonContent(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	return mediaType == "" || mediaType == "application/json" || mediaType == "text/json"
}

// compressAbove is the size in bytes from which bodies are compressed.
const compressAbove = 1024

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is a valid one
	return w
}}

// response makes the response from what the handlers wrote, with the damage of a fault and
// compression.
func (w *recorder) response(r *http.Request, x *exchange) (*http.Response, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	body := w.body.Bytes()
	damage := BodyFault("")
	if x.fault != nil {
		damage = BodyFault(x.fault.Body)
	}
	switch damage {
	case BodyMalformed:
		body = append([]byte(`<html><body>`), body...)
	case BodyEmpty:
		body = nil
		w.header.Del("Content-Type")
	}
	if w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		body, damage = nil, "" // replies with these statuses have no body, and net/http cannot send one
		w.header.Del("Content-Type")
		w.header.Del("Content-Length")
	}
	if len(body) >= compressAbove && acceptsGzip(r.Header) {
		var out bytes.Buffer
		zip := gzipWriters.Get().(*gzip.Writer)
		zip.Reset(&out)
		_, _ = zip.Write(body) // a bytes.Buffer does not fail
		_ = zip.Close()
		gzipWriters.Put(zip)
		body = out.Bytes()
		w.header.Set("Content-Encoding", "gzip")
	}
	if w.status != http.StatusNoContent && w.status != http.StatusNotModified {
		w.header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	resp := &http.Response{
		Status:        strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		ContentLength: int64(len(body)),
		Request:       r,
	}
	stream := &replyBody{ctx: r.Context(), data: body}
	if damage == BodyTruncated {
		stream.data = body[:len(body)/2]
		stream.cut = true
	}
	resp.Body = stream
	return resp, nil
}

// acceptsGzip reports whether a reply may be compressed.
func acceptsGzip(h http.Header) bool {
	for _, value := range h.Values("Accept-Encoding") {
		for encoding := range strings.SplitSeq(strings.ToLower(value), ",") {
			name, quality, _ := strings.Cut(strings.TrimSpace(encoding), ";")
			if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(quality, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
