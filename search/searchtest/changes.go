package searchtest

import (
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Change is one action that reached an index, applied or refused.
type Change struct {
	// Seq numbers the actions of an index from 1, in the order in which the index decided
	// them, across requests.
	Seq uint64
	// Key is the key of the document.
	Key string
	// Action is the type of the action.
	Action models.ActionType
	// Status is the status of the action: 200 and 201 mean applied, all others refused. The
	// client may have seen another status if a fault changed or cut the reply.
	Status int
	// Request is the number of the request: RequestRecord.Seq.
	Request uint64
	// RequestID and ClientRequestID are the ids of the request: that of the service, and that
	// of the client from x-ms-client-request-id.
	RequestID, ClientRequestID string
	// Time is the arrival of the request.
	Time time.Time
	// Decided is the time at which the index decided the status and applied the action. It is
	// the same for all actions of a request, and later than Time if a fault delayed the request.
	Decided time.Time
	// Document is the document that was sent, also for a refused action: its members in their
	// order, with the values that the index read. It is nil for deletes and without
	// Options.KeepContents.
	Document json.RawMessage
}

// Applied reports whether the action succeeded. A delete of a missing document counts.
func (c Change) Applied() bool { return c.Status == 200 || c.Status == 201 }
