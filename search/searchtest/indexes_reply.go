package searchtest

import (
	"net/http"
	"strings"
)

// writeIndex answers with the definition of an index.
func writeIndex(w http.ResponseWriter, r *http.Request, rt route, sc *schema, status int) {
	before := appendContext(nil, r, "/$metadata#indexes/$entity")
	before = appendETag(before, sc.etag)
	body := sc.appendDefinition(nil, rt.apiVersion, string(before))
	setIndexHeaders(w, r, sc, status)
	writeJSON(w, r, status, body)
}

// setIndexHeaders sets the headers that say where an index is and which version
// of its definition this is.
func setIndexHeaders(w http.ResponseWriter, r *http.Request, sc *schema, status int) {
	w.Header().Set("ETag", `W/"`+sc.etag+`"`)
	if status == http.StatusCreated {
		// Recorded: with the parameters of the request, as they were written.
		w.Header().Set("Location", baseURL(r)+"/indexes('"+sc.name+"')?"+r.URL.RawQuery)
	}
}

// appendETag appends the member that carries an entity tag. Its quotes are part
// of the value, so that it can be sent as an If-Match as it is.
func appendETag(dst []byte, etag string) []byte {
	dst = append(dst, `"@odata.etag":`...)
	dst = appendJSONString(dst, `"`+etag+`"`)
	return append(dst, ',')
}

// prefersMinimal reports whether the client wants no body back.
func prefersMinimal(h http.Header) bool {
	for _, value := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.ReplaceAll(preference, " ", ""), "return=minimal") {
				return true
			}
		}
	}
	return false
}

// conditionsHold reports whether If-Match and If-None-Match in h allow a change
// of what has the entity tag etag now; "" means that there is nothing.
func conditionsHold(h http.Header, etag string) bool {
	if match := h.Values("If-Match"); len(match) > 0 && !matches(match, etag) {
		return false
	}
	if none := h.Values("If-None-Match"); len(none) > 0 && matches(none, etag) {
		return false
	}
	return true
}

// matches reports whether one of the tags of a header is etag. Weak and strong
// tags are the same: the service sends weak ones in headers and strong ones in
// bodies.
func matches(values []string, etag string) bool {
	if etag == "" {
		return false
	}
	for _, value := range values {
		for tag := range strings.SplitSeq(value, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.Trim(strings.TrimPrefix(tag, "W/"), `"`) == etag {
				return true
			}
		}
	}
	return false
}

func preconditionFailed() *serviceError {
	return &serviceError{
		status:  http.StatusPreconditionFailed,
		message: "The precondition given in one of the request headers evaluated to false. No change was made to the resource from this request.",
	}
}
