package searchtest

import (
	"io"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/faults"
)

// Faults is a script of what goes wrong. It can be written in Go or, with the
// same names, in JSON (see ParseFaults):
//
//	{
//	  "seed": 42,
//	  "rules": [
//	    {"operation": "indexDocuments", "overBytes": 65536},
//	    {"operation": "indexDocuments", "from": "60s", "for": "30s", "status": 503, "retryAfter": "2s"},
//	    {"operation": "indexDocuments", "every": 100, "delay": "5s"},
//	    {"operation": "indexDocuments", "probability": 0.02, "cut": "afterCommit"},
//	    {"operation": "indexDocuments", "documents": [{"ratio": 0.05, "status": 503}]}
//	  ],
//	  "capacity": {"documentsPerSecond": 5000, "status": 503, "retryAfter": "1s"}
//	}
//
// For each request the rules are tried in order and the first one that matches
// and whose turn it is (After, Every, Probability, Count) is carried out; the
// others do not see the request. Faults happen behind the routing and the check
// of the key, so a request that is refused for those meets none.
//
// A script with a rule that can do nothing, because of a mistake or because an
// earlier rule takes all its requests, is refused: see Validate.
type Faults struct {
	// Seed starts the generator behind Probability and Ratio, and the shuffling
	// of results. The same requests in the same order get the same faults.
	Seed uint64 `json:"seed,omitempty"`
	// Rules are tried in order.
	Rules []Fault `json:"rules,omitempty"`
	// Capacity replaces Options.Capacity while the script is in force, if set. It
	// must limit something. See Server.SetFaults for what is left of it when the
	// script changes.
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

	// From is how long after SetFaults the rule comes into force. Defaults to at
	// once.
	From Duration `json:"from,omitempty"`
	// For is how long it is in force then. Requests before and after that do not
	// match and are not counted. Defaults to no end.
	For Duration `json:"for,omitempty"`

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
	// Code and Message are the error code and message of the answer with Status,
	// which must be one of an error. Message defaults to a text that fits the
	// status.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// RetryAfter is sent with Status, in the form that RetryAfterForm names.
	// Defaults to no such header.
	RetryAfter     Duration       `json:"retryAfter,omitempty"`
	RetryAfterForm RetryAfterForm `json:"retryAfterForm,omitempty"`
	// Cut breaks the connection instead of answering, so it excludes whatever is
	// about the answer.
	Cut Cut `json:"cut,omitempty"`
	// Body damages the body of the reply.
	Body BodyFault `json:"body,omitempty"`
	// Results damages the list of results of a batch.
	Results ResultsFault `json:"results,omitempty"`
	// Semantic makes the ranking of a semantic query fail: its reply is partial,
	// with status 206, or an error if that is what the query asks for. The rule is
	// about such queries only. It takes Options.SemanticStandIn.
	Semantic SemanticFault `json:"semantic,omitempty"`
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
	RetryAfterXMS     RetryAfterForm = "x-ms-retry-after-ms" // x-ms-retry-after-ms: 2000
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

// SemanticFault is why the ranking of a semantic query fails.
type SemanticFault string

// The reasons for which the ranking can fail. The reply has the results without
// it, except for the last.
const (
	SemanticCapacityOverloaded SemanticFault = "capacityOverloaded"
	SemanticMaxWaitExceeded    SemanticFault = "maxWaitExceeded"
	SemanticTransient          SemanticFault = "transient"
	SemanticTransientAnswers   SemanticFault = "transientAnswers" // ranked and captioned, without answers and marks
)

// Duration is a time.Duration that reads and writes JSON as text ("1.5s").
type Duration time.Duration

// String is the text of the time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Validate reports everything that is wrong with the script, with the position
// of the rule, counted from 0, and the field: values out of range, names and
// patterns that nothing matches, and whatever can do nothing, such as a message
// without a status or a rule behind one that takes all its requests.
func (f *Faults) Validate() error { return f.parsed().Check(operations, nil) }

// ParseFaults reads a script in JSON and checks it as Validate does. It refuses
// three things more, which only the text shows, so that no line of a script
// silently does nothing or the opposite: members that are unknown, members that
// are there twice, and an explicit 0 where that would mean the default
// ("probability": 0 would be always). All problems are reported at once.
func ParseFaults(r io.Reader) (*Faults, error) {
	var f Faults
	unreadable, err := faults.Read(r, &f)
	if err == nil {
		err = f.parsed().Check(operations, unreadable)
	}
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// parsed is the script as its room has it.
func (f *Faults) parsed() *faults.Script {
	out := &faults.Script{Seed: f.Seed, Capacity: f.Capacity.parsed()}
	for i := range f.Rules {
		out.Rules = append(out.Rules, f.Rules[i].parsed())
	}
	return out
}

func (f *Fault) parsed() faults.Rule {
	out := faults.Rule{
		Operation: string(f.Operation), Method: f.Method, Path: f.Path, Index: f.Index, OverBytes: f.OverBytes, OverActions: f.OverActions,
		From: time.Duration(f.From), For: time.Duration(f.For), After: f.After, Every: f.Every, Count: f.Count, Probability: f.Probability,
		Delay: time.Duration(f.Delay), ReplyDelay: time.Duration(f.ReplyDelay), Status: f.Status, Commit: f.Commit, Code: f.Code, Message: f.Message,
		RetryAfter: time.Duration(f.RetryAfter), RetryAfterForm: string(f.RetryAfterForm),
		Cut: string(f.Cut), Body: string(f.Body), Results: string(f.Results), Semantic: string(f.Semantic),
	}
	for _, d := range f.Documents {
		out.Documents = append(out.Documents, faults.Document(d))
	}
	return out
}
