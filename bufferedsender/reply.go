package bufferedsender

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/harmless"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// A reply to a request as a whole is judged in two steps. read finds out who replied and what about; that is
// independent of what the request was. refused draws the conclusion for the request: package retry knows the
// statuses, and statement.decision the replies whose status means something else than it says. (A reply with a result
// for each document needs the first step for none of them: see judgeDocument.)

// subject is what a reply is about.
type subject uint8

const (
	aboutStatus  subject = iota // nothing is known but the status
	aboutService                // the service, or something in front of it: no document is to blame
	aboutAddress                // the URL or the headers
	aboutIndex                  // a property that the index lacks
	aboutActions                // actions that the reply names by their positions
	aboutContent                // the documents, without a name
)

// wordings are the explanations of the service in a 400 to a batch. The first row that matches counts.
var wordings = []struct {
	about subject
	says  *regexp.Regexp
	seen  string // as recorded, or as users reported it
}{
	{aboutAddress, regexp.MustCompile(`(?i)\bapi-version\b|\bquery string parameter\b|\brequest headers?\b|\bhost ?name\b`),
		"The version indicated by the api-version query string parameter does not exist. (recorded)"},
	{aboutIndex, harmless.Lacks,
		"The property 'x' does not exist on type 'search.documentFields'. (Azure/azure-sdk-for-net#8780), " +
			"Cannot find nested property 'x' on the resource type 'search.documentFields'. (when its value is an array or an object)"},
	{aboutActions, named,
		"The request is invalid. Details: actions : 0: Document key cannot be missing or empty. (recorded; Azure/azure-sdk-for-net#24607 with details)"},
	{aboutContent, regexp.MustCompile(`^The request is invalid\. Details: `),
		"The request is invalid. Details: parameters : A resource without a type name was found, … (Azure/azure-sdk-for-net#18416)"},
}

var (
	// named names an action, alsoNamed others behind it.
	named     = regexp.MustCompile(`actions : (\d{1,5}):`)
	alsoNamed = regexp.MustCompile(`[.!] (\d{1,5}): `)
	// quotes is all between the first quote and the last one: a value that is quoted may hold some itself.
	quotes = regexp.MustCompile(`(?s)'.*'`)
)

// statement is what the error of a request says.
type statement struct {
	general retry.Decision // what package retry makes of it
	status  int            // 0 if there was no reply
	foreign bool
	about   subject
	message string         // the service's own words, or the error's
	actions map[int]string // what it says of single actions, by position
}

// read reads the error of a request.
func read(err error) statement {
	general, status := retry.ForError(err)
	s := statement{general: general, status: status, foreign: retry.IsForeign(err), message: messageOf(err)}
	said := models.ServiceError(nil)
	if !errors.As(err, &said) {
		return s
	}
	s.actions = said.ActionMessages()
	if s.about = aboutService; said.Signed() {
		s.about = aboutContent // in words that are not known here
	}
	unquoted := quotes.ReplaceAllString(s.message, "")
	for _, w := range wordings {
		text := s.message
		if w.about == aboutAddress { // a document may quote one
			text = unquoted
		}
		if w.says.MatchString(text) {
			s.about = w.about
			break
		}
	}
	return s
}

// messageOf returns what the service says about a failed request, or the error's own words.
func messageOf(err error) string {
	if said := models.ServiceError(nil); errors.As(err, &said) {
		return said.ServiceMessage()
	}
	return err.Error()
}

// decision is what an error of a request with n actions means: what package retry says, but for two kinds of reply
// that say nothing about documents although their status does. They count as those of a service that does not work
// for now: the request is sent again; if that fails while others pass it is divided, and what fails alone for a
// minute fails.
//
// The first is a 400 that has the form of the service and is about the address, or has a wording that is not known
// here and nothing that shows that the service gave it. The second is a foreign 413 for one action. What it says of
// the size of many is believed, but the next one to answer may be another.
//
// A sender that holds nothing back goes by the status: without a second chance a whole request would fail for one
// document.
func (s statement) decision(n int, holds bool) retry.Decision {
	d := s.general
	switch {
	case !holds && s.foreign && d.Verdict == retry.Retry:
		return retry.ForRequest(s.status)
	case !holds, d.Verdict != retry.Split:
		return d
	case s.status == http.StatusBadRequest && (s.about == aboutAddress || s.about == aboutService):
		return retry.Decision{Verdict: retry.Retry, Pause: true}
	case d.TooLarge && n == 1 && s.foreign:
		return retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true}
	}
	return d
}

// names returns the positions, in order, of those of n actions that the reply names, by text or by structure.
func (s statement) names(n int) []int {
	positions := slices.Collect(maps.Keys(s.actions))
	all := named.FindAllStringSubmatch(s.message, -1)
	if all != nil {
		all = append(all, alsoNamed.FindAllStringSubmatch(s.message, -1)...)
	}
	for _, match := range all {
		if position, err := strconv.Atoi(match[1]); err == nil {
			positions = append(positions, position)
		}
	}
	slices.Sort(positions)
	return slices.DeleteFunc(slices.Compact(positions), func(position int) bool { return position >= n })
}

// each reports whether the reply says of each of n actions what is wrong with it. Only structure counts: a text may
// quote a document that looks like one. Then nothing else in the request can be the cause, and none has to be sent
// alone.
func (s statement) each(n int) bool {
	for i := range n {
		if _, is := s.actions[i]; !is {
			return false
		}
	}
	return len(s.actions) == n
}

// missingProperty returns what the documents have in common that the index refuses because it lacks one of their
// properties, or nil.
func missingProperty(message string) *publisher.Trait {
	name := harmless.MissingProperty(message)
	if name == "" {
		return nil
	}
	return &publisher.Trait{Name: name, Has: func(action []byte) bool { return hasMember(action, name) }}
}

// refused judges a batch that got no results at all.
func refused(items []item, err error, holds bool) reply {
	said := read(err)
	decision := said.decision(len(items), holds)
	r := reply{
		Err:        err,
		Pause:      decision.Pause,
		RetryAfter: -1,
		Split:      decision.Verdict == retry.Split,
		TooLarge:   decision.TooLarge,
		Service:    service(decision, said.status),
		Refused:    retry.Throttles(said.status),
		Results:    make([]result, len(items)),
	}
	r.Whole = !r.Split
	if errors.Is(err, models.ErrMalformedReply) && decision.Verdict != retry.Fail {
		// The service answered with success, in a way: whatever it is that
		// mangles its replies, holding back gives it time to go away.
		decision = retry.Decision{Verdict: retry.Retry, Pause: true, Unknown: true}
		r.Pause, r.Split, r.Whole, r.Service = true, false, true, publisher.ServiceFails
		err = fmt.Errorf("%w: %w", ErrNoResult, err)
	}
	if hinted := retry.RetryAfterError(nil); errors.As(err, &hinted) && (r.Pause || r.Service == publisher.ServiceRefuses) {
		if wait, ok := hinted.RetryAfter(); ok {
			r.RetryAfter = wait
		}
	}
	for i := range items {
		r.Results[i] = result{
			Next:      stepOf(decision),
			Value:     models.IndexingResult{Key: items[i].Key, StatusCode: said.status},
			Err:       err,
			Unknown:   decision.Unknown,
			Cut:       decision.NoAnswer,
			Throttled: r.Refused,
		}
	}
	if r.Split && said.status == http.StatusBadRequest {
		said.blame(&r)
	}
	return r
}

// blame notes in a reply which of its actions are refused, and why. If the reply explains all of them the batch is
// not divided.
func (s statement) blame(r *reply) {
	r.Named, r.Trait = s.names(len(r.Results)), missingProperty(s.message)
	each := r.Trait == nil && s.each(len(r.Results))
	reason := ""
	if r.Split = !each; r.Split {
		reason = cause(s.status, s.message)
	}
	for i := range r.Results {
		if each {
			r.Results[i].Value.ErrorMessage = s.actions[i]
			reason = cause(s.status, s.actions[i])
		}
		r.Results[i].Reason = reason
	}
	if len(r.Results) == 1 {
		r.Reason = r.Results[0].Reason
	}
}

// service returns what the failure of a whole request says about the service.
func service(d retry.Decision, status int) publisher.Service {
	switch {
	case d.Permanent:
		return publisher.ServiceRefuses
	case retry.Throttles(status):
		return publisher.ServiceThrottles // it slows the sender down first
	case d.Verdict == retry.Split:
		return publisher.ServiceSound // it works; it does not like this request
	case d.Pause:
		return publisher.ServiceFails
	}
	return publisher.ServiceUnclear
}

// hasMember reports whether an encoded action has a member of the name, in whatever
// object. A string that holds the like has a backslash before the second quote.
func hasMember(action []byte, name string) bool {
	quoted := []byte(`"` + name + `"`)
	for {
		_, after, found := bytes.Cut(action, quoted)
		if !found {
			return false
		}
		if bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":")) {
			return true
		}
		action = after
	}
}

var (
	quoted = regexp.MustCompile(`(property|type|field|named|name)?( ?)'[^']*'`)
	digits = regexp.MustCompile(`[0-9]+`)
)

// cause is why the service refuses something, without what is special about the
// document: its key, its values, its position. Names of properties and types stay.
func cause(status int, message string) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(status) + " ")
	end := 0
	for _, at := range quoted.FindAllStringIndex(message, -1) {
		b.WriteString(digits.ReplaceAllString(message[end:at[0]], "#"))
		if name := message[at[0]:at[1]]; name[0] != '\'' && name[0] != ' ' {
			b.WriteString(name)
		} else {
			b.WriteString("''")
		}
		end = at[1]
	}
	b.WriteString(digits.ReplaceAllString(message[end:], "#"))
	return b.String()
}
