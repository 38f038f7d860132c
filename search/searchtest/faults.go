package searchtest

import (
	"io"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/faults"
)

// Faults is a script of faults. It can be written in Go, or with the same names in JSON
// (see ParseFaults):
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
// For each request the rules are tried in order. The first rule that matches and whose turn
// it is (After, Every, Probability, Count) is carried out; later rules do not count the
// request. Faults follow routing, authorization and the limit on the body, so a request
// refused by one of these is never affected.
//
// Validate refuses a script with a rule that can have no effect, because of a mistake or
// because an earlier rule takes all its requests.
type Faults struct {
	// Seed starts the generator behind Probability, Ratio and the shuffling of results. The
	// same requests in the same order get the same faults.
	Seed uint64 `json:"seed,omitempty"`
	// Rules are tried in order.
	Rules []Fault `json:"rules,omitempty"`
	// Capacity replaces Options.Capacity while the script is in force. It must limit
	// something. Server.SetFaults describes the bucket when the script changes. Defaults to
	// Options.Capacity.
	Capacity *Capacity `json:"capacity,omitempty"`
}

// Fault is one rule of a script: conditions and effects. All conditions (the fields up to
// OverActions) that are set must hold.
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
	// OverBytes restricts the rule to bodies of more bytes than this. Without another effect
	// the rule answers 413: a limit that clients have to discover.
	OverBytes int64 `json:"overBytes,omitempty"`
	// OverActions is the same limit for the number of actions of a batch.
	OverActions int `json:"overActions,omitempty"`

	// From is the delay between SetFaults and the start of the rule. Defaults to 0.
	From Duration `json:"from,omitempty"`
	// For is how long the rule is in force after From. Requests outside of that time do not
	// match and are not counted. Defaults to no end.
	For Duration `json:"for,omitempty"`

	// After is the number of matching requests that the rule first lets pass.
	After int `json:"after,omitempty"`
	// Every selects the first of the remaining requests and then each Every-th. Defaults to 1,
	// all of them.
	Every int `json:"every,omitempty"`
	// Probability is the chance of each selected request. Defaults to 1.
	Probability float64 `json:"probability,omitempty"`
	// Count is the number of times the rule is carried out before it ends. Defaults to no end.
	Count int `json:"count,omitempty"`

	// Delay holds the request back before it is carried out.
	Delay Duration `json:"delay,omitempty"`
	// ReplyDelay holds the reply back after the request was carried out.
	ReplyDelay Duration `json:"replyDelay,omitempty"`
	// Status is the status to answer with instead of carrying the request out.
	Status int `json:"status,omitempty"`
	// Commit carries the request out before answering with Status.
	Commit bool `json:"commit,omitempty"`
	// Code and Message are the error code and message of the answer with Status, which must
	// then be an error status. Message defaults to a text that fits the status.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// RetryAfter is sent with Status, in the form of RetryAfterForm. Defaults to no header.
	RetryAfter     Duration       `json:"retryAfter,omitempty"`
	RetryAfterForm RetryAfterForm `json:"retryAfterForm,omitempty"`
	// Cut breaks the connection instead of answering. It excludes all fields about the answer.
	Cut Cut `json:"cut,omitempty"`
	// Body is the damage to the body of the reply.
	Body BodyFault `json:"body,omitempty"`
	// Results is the damage to the list of results of a batch.
	Results ResultsFault `json:"results,omitempty"`
	// Semantic makes the ranking of semantic queries fail: the reply is partial, with status
	// 206, or an error if the query asks for one. The rule then matches only such queries. It
	// has no effect without Options.SemanticStandIn.
	Semantic SemanticFault `json:"semantic,omitempty"`
	// Documents refuses single documents of a batch. The first rule that matches a document
	// decides.
	Documents []DocumentFault `json:"documents,omitempty"`
}

// DocumentFault refuses single documents of a batch. All fields that are set must hold.
type DocumentFault struct {
	// Keys restricts the rule to keys that match one of the patterns, in the syntax of
	// path.Match. Defaults to all.
	Keys []string `json:"keys,omitempty"`
	// Ratio is the share of the documents that are refused, at random. Defaults to 1.
	Ratio float64 `json:"ratio,omitempty"`
	// Nth restricts the rule to the n-th time that a key matches it, counted from 1. Defaults
	// to every time.
	Nth int `json:"nth,omitempty"`
	// Times limits how many times each key is refused. Defaults to no limit.
	Times int `json:"times,omitempty"`
	// Status is the status of the document. Defaults to 503.
	Status int `json:"status,omitempty"`
	// Message is the error message of the document. Defaults to the text of the service.
	Message string `json:"message,omitempty"`
}

// RetryAfterForm is a form of the header with the delay before a retry.
type RetryAfterForm string

// The forms of the header.
const (
	RetryAfterSeconds RetryAfterForm = "seconds"             // Retry-After: 2, rounded up; the default
	RetryAfterDate    RetryAfterForm = "date"                // Retry-After: Fri, 21 Nov 2025 07:28:00 GMT
	RetryAfterMS      RetryAfterForm = "retry-after-ms"      // retry-after-ms: 2000
	RetryAfterXMS     RetryAfterForm = "x-ms-retry-after-ms" // x-ms-retry-after-ms: 2000
)

// Cut is a moment at which a connection breaks.
type Cut string

// The moments at which a connection can break.
const (
	CutBeforeCommit Cut = "beforeCommit" // nothing of the request was carried out
	CutAfterCommit  Cut = "afterCommit"  // all of the request was carried out, only the answer is lost
)

// BodyFault is a damage to the body of a reply.
type BodyFault string

// The ways to damage a body.
const (
	BodyTruncated BodyFault = "truncated" // the first half, then the connection breaks
	BodyMalformed BodyFault = "malformed" // complete, but not JSON
	BodyEmpty     BodyFault = "empty"     // no body
)

// ResultsFault is a damage to the results of a batch.
type ResultsFault string

// The ways to damage the results.
const (
	ResultsMissing    ResultsFault = "missing"    // the last result is left out
	ResultsExtra      ResultsFault = "extra"      // an additional result, for a key that was not sent
	ResultsRepeated   ResultsFault = "repeated"   // the first result comes twice
	ResultsShuffled   ResultsFault = "shuffled"   // in another order
	ResultsUnknownKey ResultsFault = "unknownKey" // the first result has a key that was not sent
)

// SemanticFault is a reason for which the ranking of a semantic query fails.
type SemanticFault string

// The reasons for which the ranking can fail. Except for SemanticTransientAnswers, the reply
// has unranked results.
const (
	SemanticCapacityOverloaded SemanticFault = "capacityOverloaded"
	SemanticMaxWaitExceeded    SemanticFault = "maxWaitExceeded"
	SemanticTransient          SemanticFault = "transient"
	SemanticTransientAnswers   SemanticFault = "transientAnswers" // results are ranked and captioned, without answers and highlights
)

// Duration is a time.Duration that reads and writes JSON as text ("1.5s").
type Duration time.Duration

// String returns the text of the time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Validate reports all problems of the script, each with the position of the rule (from 0)
// and the field: values out of range, names and patterns that match nothing, and settings
// without an effect, such as a message without a status or a rule behind one that takes all
// its requests.
func (f *Faults) Validate() error { return f.parsed().Check(operations, nil) }

// ParseFaults reads a script in JSON and checks it as Validate does. It also refuses unknown
// members, repeated members, and an explicit 0 where 0 means the default ("probability": 0
// would mean always). All problems are reported at once.
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

// parsed converts the script to the form that package faults carries out.
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
