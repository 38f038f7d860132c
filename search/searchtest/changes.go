package searchtest

import (
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Change is one action that reached an index, whether it was applied or not.
type Change struct {
	// Seq numbers the actions of an index from 1 in the order in which they were
	// decided, across requests.
	Seq uint64
	// Key is the key of the document.
	Key string
	// Action is what was asked for.
	Action models.ActionType
	// Status is the status that the action got: 200 and 201 were applied, all
	// others were not. What the client saw may differ, if a fault changed or cut
	// the reply.
	Status int
	// Request is the number of the request, RequestRecord.Seq.
	Request uint64
	// RequestID and ClientRequestID are the ids of the request: the service's and
	// the one in x-ms-client-request-id.
	RequestID, ClientRequestID string
	// Time is when the request arrived.
	Time time.Time
	// Decided is when the status was decided and the action, if it succeeded,
	// applied: at the same time for all of a request, and after Time by as long as
	// a fault held the request back.
	Decided time.Time
	// Document is what was sent, refused actions included: the members that were
	// there, in their order, with the values that the index read. It is nil unless
	// Options.KeepContents, and for deletes.
	Document json.RawMessage
}

// Applied reports whether the action changed the index, or would have if there
// had been a document to delete.
func (c Change) Applied() bool { return c.Status == 200 || c.Status == 201 }
