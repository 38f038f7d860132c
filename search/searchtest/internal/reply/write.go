package reply

import (
	"net/http"
	"strconv"
	"strings"
)

// metadata is the number of annotations in a reply, chosen by the Accept header.
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

// WriteJSON answers with body and the headers of every JSON reply of the service.
func WriteJSON(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; odata.metadata="+metadataOf(r).String())
	h.Set("OData-Version", "4.0")
	h.Set("Preference-Applied", `odata.include-annotations="*"`)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone away
}

// BaseURL returns the address of the service as in the request of the client, without a
// trailing slash. Contexts and locations start with it.
func BaseURL(r *http.Request) string {
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

// AppendContext appends the `"@odata.context":"…",` member with which minimal and full
// metadata begin, and nothing for no metadata. path follows the address of the service, for
// example `/$metadata#indexes/$entity`.
func AppendContext(dst []byte, r *http.Request, path string) []byte {
	if metadataOf(r) == metadataNone {
		return dst
	}
	dst = append(dst, `"@odata.context":`...)
	dst = AppendString(dst, BaseURL(r)+path)
	return append(dst, ',')
}

// WriteError answers with e and the headers of the service's errors.
func WriteError(w http.ResponseWriter, r *http.Request, e *Error) {
	if e.Empty {
		w.WriteHeader(e.Status)
		return
	}
	w.Header().Set("Content-Language", "en")
	WriteJSON(w, r, e.Status, AppendError(nil, e))
}
