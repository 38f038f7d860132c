// Package harmless is for logs and pages: it describes refusals of the service without any content of a document, which
// the service's own explanation quotes.
package harmless

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// Lacks matches a refusal because the index lacks a property.
var Lacks = regexp.MustCompile(`The property '([^']+)' does not exist on type|Cannot find nested property '([^']+)' on the resource type`)

// ofType matches the expected type of a value in a message of the service.
var ofType = regexp.MustCompile(`expected type '((?:Collection\()?Edm\.\w+\)?)(?:\[Nullable=False\])?'`)

// MissingProperty returns the property that the index lacks according to a message of the service, or "" if the message
// is not about one.
func MissingProperty(message string) string {
	match := Lacks.FindStringSubmatch(message)
	if match == nil {
		return ""
	}
	return match[1] + match[2] // one of them is empty
}

// Reason returns why the service refused a document, without any content of it, or "" if that is not possible.
func Reason(status int, message string) string {
	if status != http.StatusBadRequest {
		return ""
	}
	if name := MissingProperty(message); name != "" {
		return "the index has no property " + name
	}
	if match := ofType.FindStringSubmatch(message); match != nil {
		return "a value is not of the type " + match[1]
	}
	return ""
}

// Words describes the error of a request with this status without any content of a document. Without a status (0) it is
// the error's own text, which comes from the network or this module.
func Words(status int, err error) string {
	if err == nil {
		return ""
	}
	malformed := errors.Is(err, models.ErrMalformedReply)
	if !malformed && status < 300 {
		return err.Error()
	}
	text := "malformed_reply"
	if !malformed {
		text = strconv.Itoa(status)
		if name := http.StatusText(status); name != "" {
			text += " " + name
		}
	}
	message := err.Error()
	said := models.ServiceError(nil)
	if errors.As(err, &said) {
		message = said.ServiceMessage()
	}
	if reason := Reason(status, message); reason != "" {
		return text + ": " + reason
	}
	if said != nil && said.LogReason() != "" {
		text += ": " + said.LogReason()
	}
	if said != nil && aboutNoDocument(status) {
		text += ": " + unquoted(message)
	}
	return text
}

// mostSaid limits the service's own words, in bytes.
const mostSaid = 200

// quoted matches what a message quotes, also if its end is cut off.
var quoted = regexp.MustCompile(`'[^']*('|$)|"[^"]*("|$)`)

// shortened matches the apostrophe of a word such as don't.
var shortened = regexp.MustCompile(`(\w)'(s|t|re|ve|ll|d|m)\b`)

// unquoted returns the beginning of a message without what it quotes.
func unquoted(message string) string {
	message = shortened.ReplaceAllString(strings.Join(strings.Fields(message), " "), "$1’$2")
	message = quoted.ReplaceAllString(message, "…")
	if len(message) > mostSaid {
		message = strings.ToValidUTF8(message[:mostSaid], "") + "…"
	}
	return message
}

// aboutNoDocument reports whether the service's words about a request with this status are about the credentials, the
// index or the service.
func aboutNoDocument(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable:
		return true
	}
	return false
}
