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
	aboutContent = regexp.MustCompile(`^The request is invalid\. Details: |actions : \d|` + lacks.String())
	// aboutAddress is in those that are about something else, outside of what they quote.
	aboutAddress = regexp.MustCompile(`(?i)\bapi-version\b|\bquery string parameter\b|\brequest headers?\b|\bhost ?name\b`)
	// lacks says that the index does not have a property.
	lacks = regexp.MustCompile(`The property '([^']+)' does not exist on type|Cannot find nested property '([^']+)' on the resource type`)
	// actionPosition names an action.
	actionPosition = regexp.MustCompile(`actions : (\d{1,5}):`)
	// quotes is all between the first quote and the last one: a value that is quoted may hold some itself.
	quotes = regexp.MustCompile(`(?s)'.*'`)
)

// decide is what an error of a request with n actions means: what package retry says, but for two kinds of reply that say
// nothing about documents although their status does. They count as those of a service that does not work for now: the
// request is sent again; if that fails while others pass it is divided, and what fails alone for a minute fails.
//
// The first is a 400 that has the form of the service and is about the address, or has a wording that is not known here
// and nothing that shows that the service gave it. The second is a foreign 413 for one action. What it says of the size of
// many is believed, but the next one to answer may be another.
//
// A sender that holds nothing back goes by the status: without a second chance a whole request would fail for one document.
func decide(err error, n int, holds bool) (retry.Decision, int) {
	d, status := retry.ForError(err)
	switch {
	case !holds:
		if retry.IsForeign(err) && d.Verdict == retry.Retry {
			d = retry.ForRequest(status)
		}
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
	if aboutAddress.MatchString(quotes.ReplaceAllString(message, "")) {
		return false
	}
	signed := (interface{ Signed() bool })(nil)
	return aboutContent.MatchString(message) || errors.As(err, &signed) && signed.Signed()
}
