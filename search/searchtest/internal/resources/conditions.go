package resources

import (
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// appendETag appends the member that carries an entity tag. Its quotes are part
// of the value, so that it can be sent as an If-Match as it is.
func appendETag(dst []byte, etag string) []byte {
	dst = append(dst, `"@odata.etag":`...)
	dst = reply.AppendString(dst, `"`+etag+`"`)
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

func preconditionFailed() *reply.Error {
	return &reply.Error{
		Status:  http.StatusPreconditionFailed,
		Message: "The precondition given in one of the request headers evaluated to false. No change was made to the resource from this request.",
	}
}
