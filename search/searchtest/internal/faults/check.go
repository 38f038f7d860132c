package faults

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
)

// Check reports all problems of a script, and those of reading its text.
func (f *Script) Check(operations *routing.Table, unreadable []error) error {
	errs := append(unreadable, f.problems(operations)...)
	if len(unreadable) == 0 {
		// A rule that was not read completely seems to match more and to do less than its
		// text, so it is not checked for effects.
		errs = append(errs, f.idle()...)
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("faults script: %w", err)
	}
	return errors.Join(errs...)
}

// problems returns the problems of each single rule and of the capacity.
func (f *Script) problems(operations *routing.Table) []error {
	var all problems
	for i := range f.Rules {
		f.Rules[i].check(all.at(position("rules", i)), operations)
	}
	if f.Capacity != nil {
		f.Capacity.check(all.at("capacity: "))
	}
	return all
}

// idle reports rules without an effect, and those for which an earlier rule leaves no request
// or document.
func (f *Script) idle() []error {
	var all problems
	for i := range f.Rules {
		bad := all.at(position("rules", i))
		if !f.Rules[i].hasEffect() {
			bad("has no effect: set one of status, cut, delay, replyDelay, body, results, semantic, documents, overBytes and overActions")
		}
		for j := range i {
			if f.Rules[j].takesEverythingOf(&f.Rules[i]) {
				bad("is never reached, because rule %d takes every request that it matches", j)
				break
			}
		}
		documents := f.Rules[i].Documents
		if j := slices.IndexFunc(documents, Document.takesEverything); j >= 0 && j < len(documents)-1 {
			bad("%sis never reached, because documents %d takes every document", position("documents", j+1), j)
		}
	}
	return all
}

// takesEverythingOf reports whether f is carried out on every request that matches other.
func (f *Rule) takesEverythingOf(other *Rule) bool {
	always := f.From == 0 && f.For == 0 && f.After == 0 && f.Every <= 1 && (f.Probability == 0 || f.Probability == 1) && f.Count == 0
	return always &&
		(f.Operation == "" || f.Operation == other.Operation) &&
		(f.Method == "" || strings.EqualFold(f.Method, other.Method)) &&
		(f.Path == "" || f.Path == other.Path) &&
		(f.Index == "" || f.Index == other.Index) &&
		(f.Semantic == "" || other.Semantic != "") &&
		f.OverBytes <= other.OverBytes && f.OverActions <= other.OverActions
}

// takesEverything reports whether the rule leaves no document for the next one.
func (d Document) takesEverything() bool {
	return len(d.Keys) == 0 && (d.Ratio == 0 || d.Ratio == 1) && d.Nth == 0 && d.Times == 0
}

// problems is a list of errors.
type problems []error

// report records a problem. The text begins with the name of the field.
type report func(format string, args ...any)

// at returns a report that puts where in front of each problem.
func (p *problems) at(where string) report {
	return func(format string, args ...any) { *p = append(*p, fmt.Errorf(where+format, args...)) }
}

// within reports a number outside of its bounds, or NaN.
func within[N int | float64](bad report, field string, n, low, high N) {
	if ok := n >= low && n <= high; !ok {
		bad("%s: %v is not between %v and %v", field, n, low, high)
	}
}

// notNegative reports a negative number.
func notNegative[N int | int64 | time.Duration](bad report, field string, n N) {
	if n < 0 {
		bad("%s: %v is negative", field, n)
	}
}

// among reports a value that is neither empty nor allowed.
func among(bad report, field, value string, allowed ...string) {
	if value != "" && !slices.Contains(allowed, value) {
		bad("%s: %q is unknown: use one of %q", field, value, allowed)
	}
}

// check reports all problems of a rule.
func (f *Rule) check(bad report, operations *routing.Table) {
	f.checkRequests(bad, operations)
	notNegative(bad, "overBytes", f.OverBytes)
	notNegative(bad, "overActions", f.OverActions)
	notNegative(bad, "from", f.From)
	notNegative(bad, "for", f.For)
	notNegative(bad, "after", f.After)
	notNegative(bad, "every", f.Every)
	notNegative(bad, "count", f.Count)
	notNegative(bad, "delay", f.Delay)
	notNegative(bad, "replyDelay", f.ReplyDelay)
	notNegative(bad, "retryAfter", f.RetryAfter)
	within(bad, "probability", f.Probability, 0, 1)
	if f.Status != 0 {
		within(bad, "status", f.Status, 200, 599)
	}
	among(bad, "retryAfterForm", f.RetryAfterForm, retryAfterForms...)
	among(bad, "cut", f.Cut, cuts...)
	among(bad, "body", f.Body, bodyFaults...)
	among(bad, "results", f.Results, damages...)
	among(bad, "semantic", f.Semantic, failures...)
	f.checkEffects(bad)
	for i := range f.Documents {
		f.Documents[i].check(func(format string, args ...any) { bad(position("documents", i)+format, args...) })
	}
}

// checkRequests reports conditions that no request can meet.
func (f *Rule) checkRequests(bad report, operations *routing.Table) {
	op := operations.Operation(f.Operation)
	if f.Operation != "" && op == nil {
		bad("operation: %q is unknown: use one of %q", f.Operation, operations.Names())
	}
	if op != nil {
		if method := op.Method(); method != "" && f.Method != "" && !strings.EqualFold(method, f.Method) {
			bad("method: no request for %s is a %s", f.Operation, f.Method)
		}
	}
	among(bad, "method", strings.ToUpper(f.Method), http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead, http.MethodOptions)
	checkPattern(bad, "path", f.Path)
	// Every path begins with /, which only / and a class in brackets match.
	if f.Path != "" && (!strings.ContainsAny(f.Path[:1], `/*[\`) || !strings.ContainsAny(f.Path, "/[")) {
		bad("path: %q matches no path: paths begin with /, which * and ? do not match", f.Path)
	}
	checkPattern(bad, "index", f.Index)
	if op != nil && len(op.Routes) > 0 && !op.Takes("{index}") && f.Index != "" && !matchPattern(f.Index, "") {
		bad("index: requests for %s contain no index", f.Operation)
	}
	if f.Operation != "" && f.Operation != ofBatches {
		batches := nothing{bad, "does nothing, because only batches have them: operation must be " + ofBatches + " or left out"}
		batches.with("overActions", f.OverActions != 0)
		batches.with("results", f.Results != "")
		batches.with("documents", len(f.Documents) > 0)
	}
	if f.Operation != "" && f.Operation != ofSearches {
		nothing{bad, "does nothing, because only searches are ranked: operation must be " + ofSearches + " or left out"}.with("semantic", f.Semantic != "")
	}
}

// checkPattern reports a pattern that path.Match refuses.
func checkPattern(bad report, field, pattern string) {
	if _, err := path.Match(pattern, ""); err != nil {
		bad("%s: pattern %q: %w", field, pattern, err)
	}
}

// nothing reports fields that are set without an effect, all for one reason.
type nothing struct {
	bad report
	why string
}

func (n nothing) with(field string, set bool) {
	if set {
		n.bad("%s: %s", field, n.why)
	}
}

// checkEffects reports effects that are not visible, and a rule without effects.
func (f *Rule) checkEffects(bad report) {
	status := f.Status
	if f.limitOnly() {
		status = http.StatusRequestEntityTooLarge
	}
	if status == 0 {
		without := nothing{bad, "does nothing without a status"}
		without.with("code", f.Code != "")
		without.with("message", f.Message != "")
		without.with("commit", f.Commit)
		without.with("retryAfter", f.RetryAfter != 0)
	} else {
		instead := nothing{bad, "does nothing with a status, which is answered instead"}
		instead.with("results", f.Results != "")
		instead.with("semantic", f.Semantic != "")
		nothing{bad, "does nothing with a status, unless commit carries the request out"}.with("documents", len(f.Documents) > 0 && !f.Commit)
	}
	if empty := status == http.StatusNoContent || status == http.StatusNotModified; empty || status >= 200 && status < 300 {
		noError := nothing{bad, fmt.Sprintf("does nothing with status %d, which has no body", status)}
		noError.with("code", f.Code != "")
		noError.with("message", f.Message != "")
		noError.with("body", f.Body != "" && (empty || f.Body != bodyMalformed))
	}
	nothing{bad, "does nothing without retryAfter"}.with("retryAfterForm", f.RetryAfterForm != "" && f.RetryAfter == 0)
	if f.Cut != "" {
		cut := nothing{bad, "does nothing when the connection is cut"}
		cut.with("status", f.Status != 0)
		cut.with("replyDelay", f.ReplyDelay != 0)
		cut.with("body", f.Body != "")
		cut.with("results", f.Results != "")
		cut.with("semantic", f.Semantic != "")
		nothing{bad, "does nothing when the connection is cut before the commit"}.with("documents", f.Cut == cutBeforeCommit && len(f.Documents) > 0)
	}
}

// hasEffect reports whether a field for an effect is set, even if it is not possible.
func (f *Rule) hasEffect() bool {
	return f.Status != 0 || f.limitOnly() || f.Cut != "" || f.Delay != 0 || f.ReplyDelay != 0 || f.Body != "" || f.Results != "" || f.Semantic != "" || len(f.Documents) > 0 ||
		f.Code != "" || f.Message != "" || f.Commit || f.RetryAfter != 0 || f.RetryAfterForm != ""
}

// check reports all problems of a rule for documents.
func (d *Document) check(bad report) {
	within(bad, "ratio", d.Ratio, 0, 1)
	notNegative(bad, "nth", d.Nth)
	notNegative(bad, "times", d.Times)
	if d.Times > 0 && d.Nth > d.Times {
		bad("nth: %d is never reached, because times is %d", d.Nth, d.Times)
	}
	if d.Status != 0 {
		within(bad, "status", d.Status, 300, 599)
	}
	for _, pattern := range d.Keys {
		if checkPattern(bad, "keys", pattern); pattern == "" {
			bad(`keys: no key is "": leave keys out for all`)
		}
	}
}

// check reports all problems of a capacity.
func (c *Capacity) check(bad report) {
	const most = 1e15 // below 2^53, so a float64 can count single documents
	within(bad, "documentsPerSecond", c.DocumentsPerSecond, 0, most)
	within(bad, "bytesPerSecond", c.BytesPerSecond, 0, most)
	if c.DocumentsPerSecond == 0 && c.BytesPerSecond == 0 {
		bad("does nothing without documentsPerSecond or bytesPerSecond")
	}
	notNegative(bad, "burst", c.Burst)
	notNegative(bad, "retryAfter", c.RetryAfter)
	if c.Status != 0 && c.Status != http.StatusServiceUnavailable && c.Status != http.StatusTooManyRequests {
		bad("status: %d is not 0, 429 or 503", c.Status)
	}
	if c.RetryAfter != 0 && c.Status == 0 {
		bad("retryAfter: does nothing without a status of 429 or 503")
	}
	among(bad, "retryAfterForm", c.RetryAfterForm, retryAfterForms...)
	if c.RetryAfterForm != "" && c.RetryAfter == 0 {
		bad("retryAfterForm: does nothing without retryAfter")
	}
}
