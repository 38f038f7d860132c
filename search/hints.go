package search

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/retry"
)

// hint returns the likely fix for an error, or "".
func hint(e *Error, reply errorReply, call call, conn *connection) string {
	host := conn.endpoint.Host
	switch e.StatusCode {
	case http.StatusForbidden, http.StatusInsufficientStorage:
		if strings.Contains(strings.ToLower(e.Message), "quota") {
			return "a quota of the service is used up: delete documents or indexes, or choose a larger tier"
		}
	}
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return credentialHint(e.StatusCode, call, conn)
	case http.StatusRequestEntityTooLarge:
		return "send fewer documents in one request, or use a bufferedsender, which splits its batches"
	}
	if retry.Throttles(e.StatusCode) {
		return busyHint(e)
	}
	if e.StatusCode >= 300 && e.StatusCode < 400 {
		return fmt.Sprintf("a search service never redirects%s: check the endpoint %s", reply.location, conn.root)
	}
	if reply.foreign && e.StatusCode < http.StatusInternalServerError {
		// At the statuses above, the service's own front end may send such replies too, so only the remaining statuses
		// prove that the reply is foreign.
		return foreignHint(conn)
	}
	switch e.StatusCode {
	case http.StatusNotFound:
		switch {
		case errors.Is(e, ErrIndexNotFound):
			return fmt.Sprintf("the index %q does not exist on %s: check its name and the endpoint, or create it with IndexClient.CreateIndex", call.index, host)
		case errors.Is(e, ErrDocumentNotFound):
			return "the index exists, the document does not; a document just written may take a few seconds to appear"
		case call.other.name != "":
			return fmt.Sprintf("the %s %q does not exist on %s: check its name and the endpoint", call.other.noun, call.other.name, host)
		}
		return fmt.Sprintf("check the endpoint %s and the api-version %s", conn.root, conn.apiVersion)
	case http.StatusPreconditionFailed:
		noun := "index"
		if call.other.name != "" {
			noun = call.other.noun
		}
		return "the " + noun + " was changed, created or deleted meanwhile: read it again and repeat the change with the new ETag"
	case http.StatusBadRequest:
		if strings.Contains(e.Message, "api-version") {
			return fmt.Sprintf("this client asked for api-version %s; set ClientOptions.APIVersion to one that the service has, see DefaultAPIVersion", conn.apiVersion)
		}
	}
	return ""
}

// busyHint returns the hint for a throttled request, with the wait that the service asks for.
func busyHint(e *Error) string {
	text := "the service is too busy, or being updated"
	if e.StatusCode == http.StatusTooManyRequests {
		text = "too many requests at once, or a quota of the service is used up"
	}
	if e.hinted && e.retryAfter > 0 {
		return fmt.Sprintf("%s: it asks to wait %v", text, e.retryAfter.Round(time.Millisecond))
	}
	return text + ": try again later, or with fewer requests at once"
}

// foreignHint returns the hint for a foreign reply.
func foreignHint(conn *connection) string {
	return fmt.Sprintf("this reply does not come from a search service: check the endpoint %s and any proxy on the way", conn.root)
}

// credentialHint names the missing role or key.
func credentialHint(status int, call call, conn *connection) string {
	var b strings.Builder
	switch {
	case conn.auth.withKey:
		fmt.Fprintf(&b, "%s needs %s of this service", call.operation, call.needs.key())
		if status == http.StatusForbidden {
			b.WriteString("; the key may also have been rolled since, or the service may accept roles only")
		}
	case status == http.StatusUnauthorized:
		fmt.Fprintf(&b, "the token for %s was refused: check that the service allows role-based access and that the identity has the role %q",
			strings.TrimSuffix(conn.auth.scope, "/.default"), call.needs.role())
	default:
		fmt.Fprintf(&b, "the identity needs the role %q on this service (a new assignment takes some minutes)", call.needs.role())
	}
	if call.needs == readKeyField {
		b.WriteString(`; or name the key field with the struct tag search:"key" or a key accessor, and the definition need not be read`)
	}
	return b.String()
}
