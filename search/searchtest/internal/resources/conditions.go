package resources

import (
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// appendETag appends the member with an entity tag. Its quotes are part of the value, so that
// clients can send it unchanged as If-Match.
func appendETag(dst []byte, etag string) []byte {
	dst = append(dst, `"@odata.etag":`...)
	dst = reply.AppendString(dst, `"`+etag+`"`)
	return append(dst, ',')
}

// prefersMinimal reports whether the client asks for a reply without a body.
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

// conditionsHold reports whether If-Match and If-None-Match in h allow a change. etag is the
// current entity tag, "" if the definition does not exist.
func conditionsHold(h http.Header, etag string) bool {
	if match := h.Values("If-Match"); len(match) > 0 && !matches(match, etag) {
		return false
	}
	if none := h.Values("If-None-Match"); len(none) > 0 && matches(none, etag) {
		return false
	}
	return true
}

// matches reports whether one of the tags of a header is etag. It ignores the difference of
// weak and strong tags, because the service sends weak ones in headers and strong ones in
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
