package searchtest

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// metadata is how many annotations a reply carries, chosen by the Accept header.
type metadata uint8

const (
	metadataMinimal metadata = iota // the service's default
	metadataNone
	metadataFull
)

func (m metadata) String() string {
	switch m {
	case metadataNone:
		return "none"
	case metadataFull:
		return "full"
	default:
		return "minimal"
	}
}

// metadataOf reads the level from the Accept header of r.
func metadataOf(r *http.Request) metadata {
	for _, accept := range r.Header.Values("Accept") {
		switch accept = strings.ReplaceAll(strings.ToLower(accept), " ", ""); {
		case strings.Contains(accept, "odata.metadata=none"):
			return metadataNone
		case strings.Contains(accept, "odata.metadata=full"):
			return metadataFull
		case strings.Contains(accept, "odata.metadata=minimal"):
			return metadataMinimal
		}
	}
	return metadataMinimal
}

// writeJSON answers with body and the headers that every JSON reply of the
// service has.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; odata.metadata="+metadataOf(r).String())
	h.Set("OData-Version", "4.0")
	h.Set("Preference-Applied", `odata.include-annotations="*"`)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away is not an error of ours
}

// renewHeaders turns the headers of a reply, which are those recorded until 2021,
// into those recorded since 2023. What a fault answers instead stays as it is.
func (w *recorder) renewHeaders() {
	h := w.header
	contentType := h.Get("Content-Type")
	ours := strings.HasPrefix(contentType, "application/json; odata.metadata=")
	switch {
	case w.status >= http.StatusBadRequest && ours:
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Cache-Control", "no-store, no-cache")
		h.Del("OData-Version")
		h.Del("Preference-Applied")
		h.Del("Vary")
		return
	case w.status == http.StatusNotFound && w.body.Len() == 0:
		h.Set("Content-Language", "en")
		h.Set("Preference-Applied", `odata.include-annotations="*"`)
	case w.status >= http.StatusBadRequest:
		return
	case ours:
		h.Set("Content-Type", contentType+"; odata.streaming=true; charset=utf-8")
	case contentType == "text/plain":
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	for _, name := range []string{"Cache-Control", "Pragma", "Expires"} {
		h.Del(name)
	}
	if etag := h.Get("ETag"); etag != "" {
		h.Set("ETag", strings.TrimPrefix(etag, "W/"))
	}
}

// baseURL is the address of the service as the client of r wrote it, without a
// slash at the end; contexts and locations start with it.
func baseURL(r *http.Request) string {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	scheme := r.URL.Scheme
	if scheme == "" {
		if scheme = "http"; r.TLS != nil {
			scheme = "https"
		}
	}
	return scheme + "://" + host
}

// appendContext appends the `"@odata.context":"…",` member that minimal and
// full metadata begin with, and nothing for none. path is what follows the
// address of the service, for example `/$metadata#indexes/$entity`.
func appendContext(dst []byte, r *http.Request, path string) []byte {
	if metadataOf(r) == metadataNone {
		return dst
	}
	dst = append(dst, `"@odata.context":`...)
	dst = reply.AppendString(dst, baseURL(r)+path)
	return append(dst, ',')
}

// writeError answers with e, with the headers that the service gives errors.
func writeError(w http.ResponseWriter, r *http.Request, e *reply.Error) {
	if e.Empty {
		w.WriteHeader(e.Status)
		return
	}
	w.Header().Set("Content-Language", "en")
	writeJSON(w, r, e.Status, reply.AppendError(nil, e))
}
