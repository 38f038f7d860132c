// Package harmless is for logs and pages: it says why the service has refused something without a word of a document,
// which the service's own explanation quotes.
package harmless

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"

	"github.com/go-azsearch/azsearch/models"
)

// Lacks matches a refusal because the index does not have a property.
var Lacks = regexp.MustCompile(`The property '([^']+)' does not exist on type|Cannot find nested property '([^']+)' on the resource type`)

// ofType finds the type that a value should have, in a message of the service.
var ofType = regexp.MustCompile(`expected type '((?:Collection\()?Edm\.\w+\)?)(?:\[Nullable=False\])?'`)

// MissingProperty returns the property that the index lacks according to a message of the service, "" if it is about
// something else.
func MissingProperty(message string) string {
	match := Lacks.FindStringSubmatch(message)
	if match == nil {
		return ""
	}
	return match[1] + match[2] // one of them
}

// Reason says why the service has refused a document, as far as that can be
// said without a word of the document; "" if it cannot.
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

// Words is Reason for the error of a request that got this status, or none (0): then it is the error's own text, which
// is that of a network or of this module.
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
		return text + ": " + said.LogReason()
	}
	return text
}
