package bufferedsender

import (
	"errors"
	"net/http"
	"regexp"

	"github.com/go-azsearch/azsearch/retry"
)

// The wordings of the service in a 400 to a batch, as recorded in its replies and in reports of users:
//
//	The request is invalid. Details: actions : 0: Document key cannot be missing or empty.
//	The request is invalid. Details: The property 'x' does not exist on type 'search.documentFields' …
//	Cannot find nested property 'x' on the resource type 'search.documentFields'.    (its value is an array or an object)
//	The version indicated by the api-version query string parameter does not exist.  (about the address)
var (
	// aboutContent is in each that is about what is in the batch.
	aboutContent = regexp.MustCompile(`The request is invalid|actions : \d|` + lacks.String())
	// aboutAddress is in those that are about something else, whatever else they say.
	aboutAddress = regexp.MustCompile(`(?i)\bapi-version\b|\bquery string parameter\b|\brequest headers?\b|\bhost ?name\b`)
	// lacks says that the index does not have a property.
	lacks = regexp.MustCompile(`The property '([^']+)' does not exist on type|Cannot find nested property '([^']+)' on the resource type`)
	// actionPosition names an action.
	actionPosition = regexp.MustCompile(`actions : (\d{1,5}):`)
)

// decide is what an error of a request with n actions means: what package retry says, but for two kinds of reply that say
// nothing about documents although their status does. They count as those of a service that does not work for now: the
// request is sent again; if that fails while others pass it is divided, and what fails alone for a minute fails.
//
// The first is a 400 of the service that does not name what is in the request: it is about the address, or has a wording that
// is not known here. The second is a foreign 413 for one action. What it says of the size of many is believed, but the next
// one to answer may be another.
func decide(err error, n int) (retry.Decision, int) {
	d, status := retry.ForError(err)
	switch {
	case d.Verdict != retry.Split:
	case status == http.StatusBadRequest && !namesContent(err):
		d = retry.Decision{Verdict: retry.Retry, Pause: true}
	case d.TooLarge && n == 1 && retry.IsForeign(err):
		d = retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true}
	}
	return d, status
}

// namesContent reports whether a 400 is about what is in the request. One of an Indexer that does not say what the
// service said is.
func namesContent(err error) bool {
	said := (interface{ ServiceMessage() string })(nil)
	if !errors.As(err, &said) {
		return true
	}
	message := said.ServiceMessage()
	return aboutContent.MatchString(message) && !aboutAddress.MatchString(quoted.ReplaceAllString(message, ""))
}
