package searchtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"
)

// Faults is a script of what goes wrong. It can be written in Go or, with the
// same names, in JSON (see ParseFaults):
//
//	{
//	  "seed": 42,
//	  "rules": [
//	    {"operation": "indexDocuments", "overBytes": 65536},
//	    {"operation": "indexDocuments", "every": 7, "status": 503, "retryAfter": "2s"},
//	    {"operation": "indexDocuments", "probability": 0.02, "cut": "afterCommit"},
//	    {"operation": "indexDocuments", "documents": [{"ratio": 0.05, "status": 503}]}
//	  ],
//	  "capacity": {"documentsPerSecond": 5000, "reply": 503, "retryAfter": "1s"}
//	}
//
// For each request the rules are tried in order and the first one that matches
// and whose turn it is (After, Every, Probability, Count) is carried out; the
// others do not see the request. Faults happen behind the routing and the check
// of the key, so a request that is refused for those meets none.
type Faults struct {
	// Seed starts the generator behind Probability and Ratio, and the shuffling
	// of results. The same requests in the same order get the same faults.
	Seed uint64 `json:"seed,omitempty"`
	// Rules are tried in order.
	Rules []Fault `json:"rules,omitempty"`
	// Capacity replaces Options.Capacity while the script is in force, if set.
	Capacity *Capacity `json:"capacity,omitempty"`
}

// Fault is one rule of a script: when it applies and what happens then.
// Everything in the first group that is set must hold.
type Fault struct {
	// Operation restricts the rule to one operation. Defaults to all.
	Operation Operation `json:"operation,omitempty"`
	// Method restricts the rule to one HTTP method. Defaults to all.
	Method string `json:"method,omitempty"`
	// Path restricts the rule to paths that match the pattern, in the syntax of
	// path.Match, decoded: "/indexes('*')". Defaults to all.
	Path string `json:"path,omitempty"`
	// Index restricts the rule to indexes whose name matches the pattern.
	// Defaults to all.
	Index string `json:"index,omitempty"`
	// OverBytes restricts the rule to bodies of more bytes than this. A rule with
	// no other effect answers 413: a limit that clients have to discover.
	OverBytes int64 `json:"overBytes,omitempty"`
	// OverActions does the same for the number of actions of a batch.
	OverActions int `json:"overActions,omitempty"`

	// After passes over that many of the requests that match first.
	After int `json:"after,omitempty"`
	// Every then takes the first and every Every-th of the rest. Defaults to 1,
	// all of them.
	Every int `json:"every,omitempty"`
	// Probability then takes each with that probability. Defaults to 1.
	Probability float64 `json:"probability,omitempty"`
	// Count ends the rule after it was carried out that many times. Defaults to
	// no end.
	Count int `json:"count,omitempty"`

	// Delay holds the request back before anything is done with it.
	Delay Duration `json:"delay,omitempty"`
	// ReplyDelay holds the reply back when everything is done.
	ReplyDelay Duration `json:"replyDelay,omitempty"`
	// Status answers with that status instead of carrying the request out.
	Status int `json:"status,omitempty"`
	// Commit carries the request out before Status is answered.
	Commit bool `json:"commit,omitempty"`
	// Code and Message are the error code and message of the answer with Status.
	// Message defaults to a text that fits the status.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// RetryAfter is sent with Status, in the form that RetryAfterForm names.
	// Defaults to no such header.
	RetryAfter     Duration       `json:"retryAfter,omitempty"`
	RetryAfterForm RetryAfterForm `json:"retryAfterForm,omitempty"`
	// Cut breaks the connection instead of answering.
	Cut Cut `json:"cut,omitempty"`
	// Body damages the body of the reply.
	Body BodyFault `json:"body,omitempty"`
	// Results damages the list of results of a batch.
	Results ResultsFault `json:"results,omitempty"`
	// Documents refuses single documents of a batch. The first rule that takes a
	// document decides.
	Documents []DocumentFault `json:"documents,omitempty"`
}

// DocumentFault refuses single documents of a batch. Everything that is set must
// hold.
type DocumentFault struct {
	// Keys restricts the rule to keys that match one of the patterns, in the
	// syntax of path.Match. Defaults to all.
	Keys []string `json:"keys,omitempty"`
	// Ratio takes that share of the documents, at random. Defaults to 1.
	Ratio float64 `json:"ratio,omitempty"`
	// Nth takes only the n-th time that a key meets this rule, counted from 1.
	// Defaults to every time.
	Nth int `json:"nth,omitempty"`
	// Times takes each key that many times at most. Defaults to no end.
	Times int `json:"times,omitempty"`
	// Status is the status of the document. Defaults to 503.
	Status int `json:"status,omitempty"`
	// Message is its error message. Defaults to what the service says.
	Message string `json:"message,omitempty"`
}

// RetryAfterForm is how a reply says when to come back.
type RetryAfterForm string

// The forms of the header.
const (
	RetryAfterSeconds RetryAfterForm = "seconds"             // Retry-After: 2, rounded up; the default
	RetryAfterDate    RetryAfterForm = "date"                // Retry-After: Fri, 21 Nov 2025 07:28:00 GMT
	RetryAfterMS      RetryAfterForm = "retry-after-ms"      // retry-after-ms: 2000
	XMSRetryAfterMS   RetryAfterForm = "x-ms-retry-after-ms" // x-ms-retry-after-ms: 2000
)

// Cut is when a connection breaks.
type Cut string

// The moments at which a connection can break.
const (
	CutBeforeCommit Cut = "beforeCommit" // nothing of the request was carried out
	CutAfterCommit  Cut = "afterCommit"  // all of it was, and only the answer is lost
)

// BodyFault is what is wrong with the body of a reply.
type BodyFault string

// The ways to damage a body.
const (
	BodyTruncated BodyFault = "truncated" // half of it, then the connection breaks
	BodyMalformed BodyFault = "malformed" // complete, but not JSON
	BodyEmpty     BodyFault = "empty"     // no body
)

// ResultsFault is what is wrong with the results of a batch.
type ResultsFault string

// The ways to damage the results.
const (
	ResultsMissing    ResultsFault = "missing"    // the last one is left out
	ResultsExtra      ResultsFault = "extra"      // one more, for a key that nobody sent
	ResultsRepeated   ResultsFault = "repeated"   // the first one stands there twice
	ResultsShuffled   ResultsFault = "shuffled"   // in another order
	ResultsUnknownKey ResultsFault = "unknownKey" // the first one names a key that nobody sent
)

// Duration is a time.Duration that reads and writes JSON as text ("1.5s").
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// ParseFaults reads a script in JSON and checks it. Unknown members are an
// error, so that a misspelled rule does not silently do nothing. All problems
// are reported at once.
func ParseFaults(r io.Reader) (*Faults, error) {
	var f Faults
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("faults script: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("faults script: more than one JSON value")
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return &f, nil
}

// Validate reports everything that is wrong with the script.
func (f *Faults) Validate() error {
	var errs []error
	for i := range f.Rules {
		for _, err := range f.Rules[i].problems() {
			errs = append(errs, fmt.Errorf("faults script: rule %d: %w", i, err))
		}
	}
	if f.Capacity != nil {
		if err := f.Capacity.validate(); err != nil {
			errs = append(errs, fmt.Errorf("faults script: capacity: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (f *Fault) problems() []error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if f.Operation != "" && !knownOperations[f.Operation] {
		bad("unknown operation %q", f.Operation)
	}
	for _, pattern := range []string{f.Path, f.Index} {
		if _, err := path.Match(pattern, ""); err != nil {
			bad("pattern %q: %w", pattern, err)
		}
	}
	if f.OverBytes < 0 || f.OverActions < 0 || f.After < 0 || f.Every < 0 || f.Count < 0 || f.Delay < 0 || f.ReplyDelay < 0 || f.RetryAfter < 0 {
		bad("numbers and durations must not be negative")
	}
	if f.Probability < 0 || f.Probability > 1 {
		bad("probability %v is not between 0 and 1", f.Probability)
	}
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		bad("status %d is not between 200 and 599", f.Status)
	}
	if f.Commit && f.Status == 0 {
		bad("commit needs a status")
	}
	if f.Cut != "" && f.Status != 0 {
		bad("a connection cannot be cut and answer with a status")
	}
	oneOf := func(what, value string, allowed ...string) {
		if value == "" {
			return
		}
		for _, a := range allowed {
			if value == a {
				return
			}
		}
		bad("unknown %s %q", what, value)
	}
	oneOf("retryAfterForm", string(f.RetryAfterForm), string(RetryAfterSeconds), string(RetryAfterDate), string(RetryAfterMS), string(XMSRetryAfterMS))
	oneOf("cut", string(f.Cut), string(CutBeforeCommit), string(CutAfterCommit))
	oneOf("body", string(f.Body), string(BodyTruncated), string(BodyMalformed), string(BodyEmpty))
	oneOf("results", string(f.Results), string(ResultsMissing), string(ResultsExtra), string(ResultsRepeated), string(ResultsShuffled), string(ResultsUnknownKey))
	for i, d := range f.Documents {
		if d.Ratio < 0 || d.Ratio > 1 {
			bad("documents %d: ratio %v is not between 0 and 1", i, d.Ratio)
		}
		if d.Status != 0 && (d.Status < 300 || d.Status > 599) {
			bad("documents %d: status %d is not between 300 and 599", i, d.Status)
		}
		if d.Nth < 0 || d.Times < 0 {
			bad("documents %d: numbers must not be negative", i)
		}
		for _, pattern := range d.Keys {
			if _, err := path.Match(pattern, ""); err != nil {
				bad("documents %d: pattern %q: %w", i, pattern, err)
			}
		}
	}
	return errs
}

var knownOperations = map[Operation]bool{
	OpIndexDocuments: true, OpGetDocument: true, OpCountDocuments: true,
	OpCreateIndex: true, OpCreateOrUpdateIndex: true, OpGetIndex: true, OpListIndexes: true, OpDeleteIndex: true,
	OpIndexStatistics: true, OpServiceStatistics: true,
	OpSearch: true, OpSuggest: true, OpAutocomplete: true, OpAnalyze: true, OpSynonymMaps: true, OpAliases: true, OpOther: true,
}

// faultMessage is what an answer with that status says if a rule does not.
func faultMessage(status int) string {
	switch status {
	case http.StatusServiceUnavailable:
		return "You are sending too many requests. Please try again later."
	case http.StatusTooManyRequests:
		return "You have exceeded the number of requests that this service can take at the moment. Please try again later."
	case http.StatusRequestEntityTooLarge:
		return messageTooLarge
	case http.StatusConflict:
		return "Another update to the same resource is in progress. Please try again later."
	}
	return http.StatusText(status) + "."
}
