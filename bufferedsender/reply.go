package bufferedsender

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/bufferedsender/internal/harmless"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// A reply to a whole request is judged in two steps. read determines where the reply comes from and what it is about,
// whatever the request was. refused decides about the request: package retry classifies statuses, and
// statement.decision corrects those that are misleading. A reply with a result for each document skips the first step,
// see judgeDocument.

// subject is the topic of a reply.
type subject uint8

const (
	aboutStatus  subject = iota // only the status is known
	aboutService                // the service or a gateway; no document is to blame
	aboutAddress                // the URL or the headers
	aboutIndex                  // a property that the index lacks
	aboutActions                // actions that the reply names by position
	aboutContent                // the documents, without naming one
)

// wordings match the service's explanations in a 400 to a batch. The first match counts.
var wordings = []struct {
	about subject
	says  *regexp.Regexp
	seen  string // as recorded, or as reported by users
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
	// named matches an action, alsoNamed the further ones after it.
	named     = regexp.MustCompile(`actions : (\d{1,5}):`)
	alsoNamed = regexp.MustCompile(`[.!] (\d{1,5}): `)
	// quotes matches from the first quote to the last one, because a quoted value may contain quotes.
	quotes = regexp.MustCompile(`(?s)'.*'`)
)

// statement is the parsed error of a request.
type statement struct {
	general retry.Decision // by package retry
	status  int            // 0 if there was no reply
	foreign bool
	about   subject
	message string         // the service's explanation, or the text of the error
	actions map[int]string // explanations of single actions, by position
}

// read parses the error of a request.
func read(err error) statement {
	general, status := retry.ForError(err)
	s := statement{general: general, status: status, foreign: retry.IsForeign(err), message: messageOf(err)}
	said := models.ServiceError(nil)
	if !errors.As(err, &said) {
		return s
	}
	s.actions = said.ActionMessages()
	if s.about = aboutService; said.Signed() {
		s.about = aboutContent // an unknown wording
	}
	unquoted := quotes.ReplaceAllString(s.message, "")
	for _, w := range wordings {
		text := s.message
		if w.about == aboutAddress { // a quoted document may look like an address
			text = unquoted
		}
		if w.says.MatchString(text) {
			s.about = w.about
			break
		}
	}
	return s
}

// messageOf returns the service's explanation of a failed request, or the text of the error.
func messageOf(err error) string {
	if said := models.ServiceError(nil); errors.As(err, &said) {
		return said.ServiceMessage()
	}
	return err.Error()
}

// decision returns what an error means for a request with n actions. It follows package retry, except for two kinds of
// reply whose status wrongly blames documents. They count as failures of the service: the request is sent again, and
// divided if it fails again while others pass. A document fails only if it fails alone for a minute.
//
// The first kind is a 400 about the address, or one in an unknown wording without proof that the service sent it. The
// second is a foreign 413 for one action. A foreign 413 for several actions is believed, but the next request may be
// answered by another gateway.
//
// A sender with FailSoon follows the status: it has no second try, so a whole request would fail for one document.
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

// names returns the sorted positions, below n, of the actions that the reply names in its text or structure.
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

// each reports whether the reply explains each of n actions in its structure. The text does not count, because it may
// quote a document that looks like an explanation. If true, nothing else in the request can be the cause, and no action
// must be sent alone.
func (s statement) each(n int) bool {
	for i := range n {
		if _, is := s.actions[i]; !is {
			return false
		}
	}
	return len(s.actions) == n
}

// missingProperty returns the trait of all documents with a property that the index lacks, or nil if the message is not
// about one.
func missingProperty(message string) *publisher.Trait {
	name := harmless.MissingProperty(message)
	if name == "" {
		return nil
	}
	return &publisher.Trait{Name: name, Has: func(action []byte) bool { return hasMember(action, name) }}
}

// refused judges a batch that got no results.
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
	final := said.status == 0 && decision.Verdict == retry.Fail && !decision.Permanent // backoff.Permanent of the program's Indexer
	r.Whole = !r.Split && !final
	if errors.Is(err, models.ErrMalformedReply) && decision.Verdict != retry.Fail {
		// The service may have succeeded. Back off, so that the cause of malformed replies has time to disappear.
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

// blame sets in a reply which actions are refused, and why. If the reply explains all of them, the batch is not
// divided.
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

// service returns what the failure of a whole request means for the service.
func service(d retry.Decision, status int) publisher.Service {
	switch {
	case d.Permanent:
		return publisher.ServiceRefuses
	case retry.Throttles(status):
		return publisher.ServiceThrottles // the sender slows down first
	case d.Verdict == retry.Split:
		return publisher.ServiceSound // the service works; it refuses this request
	case d.Pause:
		return publisher.ServiceFails
	}
	return publisher.ServiceUnclear
}

// hasMember reports whether any object of an encoded action has a member with this name. Within a string the second
// quote follows a backslash, so strings do not match.
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

// cause returns why the service refuses an action, without details of the document: its key, values and position. Names
// of properties and types remain.
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

// pairing maps the results of a reply to the items of its batch.
type pairing struct {
	reply   []models.IndexingResult
	byItem  []*models.IndexingResult // nil if the reply is in the order of the batch
	strange int                      // results that belong to no item, or repeat a result
}

// of returns the result of item i, or nil if the reply does not have exactly one.
func (p *pairing) of(i int) *models.IndexingResult {
	if p.byItem == nil {
		return &p.reply[i]
	}
	return p.byItem[i]
}

// associate pairs the results of a reply with the items of its batch by key: the service answers in request order, but
// does not guarantee it.
func associate(items []item, reply []models.IndexingResult) pairing {
	inOrder := len(reply) == len(items)
	for i := 0; inOrder && i < len(items); i++ {
		inOrder = reply[i].Key == items[i].Key
	}
	if inOrder {
		return pairing{reply: reply} // keys are unique in a batch, so order is enough
	}
	p := pairing{reply: reply, byItem: make([]*models.IndexingResult, len(items))}
	position := make(map[string]int, len(items))
	for i := range items {
		position[items[i].Key] = i
	}
	repeated := make(map[int]bool)
	for i := range reply {
		at, ok := position[reply[i].Key]
		switch {
		case !ok:
			p.strange++
		case p.byItem[at] == nil:
			p.byItem[at] = &reply[i]
		default:
			p.strange++
			repeated[at] = true
		}
	}
	for at := range repeated { // a reply that answers one action twice may be that to another request
		p.byItem[at] = nil
	}
	return p
}

// checkResult returns an error if a result contradicts itself. Then the action's outcome is unknown.
func checkResult(r *models.IndexingResult) error {
	success := r.StatusCode >= 200 && r.StatusCode <= 299
	switch {
	case r.Succeeded != success:
		return fmt.Errorf("%w that can be understood: status is %t but statusCode is %d", ErrNoResult, r.Succeeded, r.StatusCode)
	case success && r.ErrorMessage != "":
		return fmt.Errorf("%w that can be understood: status is true, but there is an error message", ErrNoResult)
	}
	return nil
}

// applied holds the highest applied version of each key that has a dead letter. A dead letter that is sent again must
// not overwrite a newer version. It has one entry for each such key, and is nil without Folding.Version. A File gets
// all applied versions, because it also has the dead letters of other senders and earlier processes.
type applied struct {
	mu       sync.Mutex
	versions map[string]int64 // guarded by mu; 0 until something is applied

	file *deadletter.File    // nil: DeadLetters is something else
	due  []deadletter.Letter // for file; owned by the publisher goroutine
}

func newApplied(o *settings) *applied {
	if !o.versioned || o.DeadLetters == nil {
		return nil
	}
	a := &applied{versions: make(map[string]int64)}
	a.file, _ = o.DeadLetters.(*deadletter.File)
	return a
}

// failed registers the key of a dead letter that has a version.
func (a *applied) failed(l *deadletter.Letter) {
	if a == nil || l.Version == 0 {
		return
	}
	a.mu.Lock()
	newest := a.versions[l.Key]
	a.versions[l.Key] = newest
	a.mu.Unlock()
	if a.file != nil && newest > l.Version { // it was applied before
		a.due = append(a.due, deadletter.Letter{Endpoint: l.Endpoint, Index: l.Index, Key: l.Key, Version: newest})
	}
}

// has reports whether an action with a version was applied.
func (a *applied) has(s *settlement) bool {
	return a != nil && s.Outcome == publisher.Completed && !s.Superseded && s.Item.Value.version != 0 && (s.Result == nil || !s.Result.Ignored)
}

// settled records the version of an applied action.
func (a *applied) settled(s *settlement) {
	if !a.has(s) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if newest, watched := a.versions[s.Item.Key]; watched {
		a.versions[s.Item.Key] = max(newest, s.Item.Value.version)
	}
}

// report passes applied versions to the File, before the actions are reported.
func (a *applied) report(o *observer, all []settlement) {
	if a == nil || a.file == nil {
		return
	}
	for i := range all {
		if s := &all[i]; a.has(s) {
			a.due = append(a.due, deadletter.Letter{Endpoint: o.endpoint, Index: o.index, Key: s.Item.Key, Version: s.Item.Value.version})
		}
	}
	if len(a.due) == 0 {
		return
	}
	var err error
	o.guard(inDeadLetters, func() { err = a.file.Write(o.ctx, a.due) })
	clear(a.due)
	a.due = a.due[:0]
	if err != nil {
		o.guard(inLogger, func() {
			o.logLasting(o.ctx, slog.LevelError, "azsearch: outdated dead letters not recorded", slog.Any("error", err))
		})
	}
}

func (a *applied) of(key string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.versions[key]
}
