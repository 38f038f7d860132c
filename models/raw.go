package models

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

// RawAction is an action whose document is JSON already: what a queue, an outbox or a
// file of dead letters keeps. The Raw method of a buffered sender gives what takes it.
type RawAction struct {
	// Key is the key of the document, the same that its JSON holds.
	Key string
	// Type is what is to be done with it.
	Type ActionType
	// Document is its JSON, one object, without "@search.action". It is copied when the
	// action is accepted. A delete needs none.
	Document json.RawMessage
	// Version is that of the document for a sender that has Folding.Version, 0 if it has
	// none.
	Version int64
	// Tag and OnOutcome are as in IndexDocumentsAction.
	Tag       any
	OnOutcome func(Outcome)
	// Until says for how much longer a request with the action may go on: whoever has
	// leased the key must not be waited for when the lease ends. It is asked before each
	// request, and again after that time: then the request is cut off, unless the lease
	// was extended meanwhile. If it is less than a second, or a tenth of the sender's
	// RequestTimeout if that is less, the action is not sent any more, and ends as if it had been withdrawn. It is called
	// on the sender's goroutines and must not block. nil means for ever. A sender with a
	// Queue refuses it: there the queue has the leases.
	Until func() time.Duration
}

// ErrWithdrawn says that an action was taken back before it had an outcome.
var ErrWithdrawn = errors.New("withdrawn")

// SenderInfo is what whoever feeds a buffered sender has to know of it.
type SenderInfo struct {
	// Endpoint and IndexName are of the index that it writes to now, "" if what it sends by does not say.
	Endpoint, IndexName string
	// MaxBufferedActions and MaxBufferedBytes are what its buffer takes at the most.
	MaxBufferedActions int
	MaxBufferedBytes   int64
	// RequestTimeout is how long a request takes at the most; negative: there is no bound.
	RequestTimeout time.Duration
	// UnknownWait is how long a key waits after a request that was cut off; not positive: not at
	// all.
	UnknownWait time.Duration
	// Queued says that it has a durable queue, and so leases of its own.
	Queued bool
	// Closed says that it accepts nothing any more.
	Closed bool
	// Pending is how many actions it has that are not settled.
	Pending int
	// Held is why it sends nothing now: its breaker is open, or it is paused. nil if it sends.
	Held error
	// Applied returns the highest version that it has applied of a key since it wrote a dead
	// letter of that, 0 if it does not know one. nil without Folding.Version.
	Applied func(key string) int64
}

// At reports whether the sender writes to the service of that address, as far as is known: it is true if one of the
// two is "".
func (i *SenderInfo) At(endpoint string) bool {
	return i.Endpoint == "" || endpoint == "" || host(i.Endpoint) == host(endpoint)
}

// host returns what tells services apart.
func host(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	return strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}
