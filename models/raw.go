package models

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

// RawAction is an action whose document is already JSON, as a queue, an outbox or a file of dead letters keeps it.
// The Raw method of a buffered sender returns an adder for them.
type RawAction struct {
	// Key is the key of the document, equal to the one in Document.
	Key string
	// Type is the operation on the document.
	Type ActionType
	// Document is the JSON of the document, one object, without "@search.action". The sender copies it when it accepts
	// the action. A delete needs none.
	Document json.RawMessage
	// Version is the version of the document for a sender with Folding.Version, otherwise 0.
	Version int64
	// Tag and OnOutcome have the meaning of IndexDocumentsAction.
	Tag       any
	OnOutcome func(Outcome)
	// Until returns how much longer a request with the action may take. Use it for the lease of a key, so that no request
	// outlives the lease. The sender calls it before each request and again after the returned time; then it cuts the
	// request off, unless the lease has been extended. If Until returns less than a second, or less than a tenth of the
	// sender's RequestTimeout if that is shorter, the action is not sent and counts as withdrawn. Until is called on the
	// sender's goroutines and must not block. nil means no limit. A sender with a Queue refuses it, because its queue has
	// the leases.
	Until func() time.Duration
}

// ErrWithdrawn means that an action was withdrawn before it had an outcome.
var ErrWithdrawn = errors.New("withdrawn")

// SenderInfo describes a buffered sender to the code that feeds it.
type SenderInfo struct {
	// Endpoint and IndexName identify the current index of the sender, "" if its Indexer does not name them.
	Endpoint, IndexName string
	// MaxBufferedActions and MaxBufferedBytes are the limits of the buffer.
	MaxBufferedActions int
	MaxBufferedBytes   int64
	// RequestTimeout is the time limit of a request; a negative value means no limit.
	RequestTimeout time.Duration
	// UnknownWait is how long a key waits after a request that was cut off; zero or less means no wait.
	UnknownWait time.Duration
	// Queued means that the sender has a durable queue with its own leases.
	Queued bool
	// Closed means that the sender accepts no more actions.
	Closed bool
	// Pending is the number of unsettled actions.
	Pending int
	// Held is the reason why the sender is not sending: its breaker is open, or it is paused. nil if it is sending.
	Held error
	// Applied returns the highest version of a key that the sender has applied since its last dead letter of the key, 0
	// if unknown. nil without Folding.Version.
	Applied func(key string) int64
}

// At reports whether the sender may write to the service at endpoint. It is true if either address is "".
func (i *SenderInfo) At(endpoint string) bool {
	return i.Endpoint == "" || endpoint == "" || host(i.Endpoint) == host(endpoint)
}

// host returns the part of an endpoint that identifies the service.
func host(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	return strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}
