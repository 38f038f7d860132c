package searchtest

import (
	"net/http"
	"strings"
)

// renewHeaders replaces the headers recorded until 2021 by those recorded since 2023. It
// leaves the answers of faults alone.
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
