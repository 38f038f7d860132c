package deadletter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Letter is an action that a sender has given up, with the reason.
type Letter struct {
	// Endpoint is the service, and Index the index, that the action was for; "" if the sender does not know it. Replay
	// sends to no other one.
	Endpoint string `json:"endpoint,omitempty"`
	Index    string `json:"index,omitempty"`
	// Key is the key of the document.
	Key string `json:"key"`
	// Action is the type of the action.
	Action models.ActionType `json:"action"`
	// Version is the version of the document, if the sender has Folding.Version.
	Version int64 `json:"version,omitempty"`
	// Document is the JSON of the document as it was sent, without the member "@search.action"; for a delete it has only
	// the key. Nil if it was redacted.
	Document json.RawMessage `json:"document,omitempty"`

	// Status is the HTTP status that the service gave the document, or the whole request if it refused that; 0 without an
	// answer.
	Status int `json:"status,omitempty"`
	// Message is the service's text about the document, if any. It may quote the document. Texts about a refused request
	// are in Error.
	Message string `json:"message,omitempty"`
	// RequestID is the service's ID of the request that ended the action, for support cases; empty without an answer, or if
	// the sender does not know the ID.
	RequestID string `json:"requestId,omitempty"`
	// Attempts is the number of requests that carried the action, including those of Replay.
	Attempts int `json:"attempts,omitempty"`
	// Unknown reports that a request with the action was cut off, so that the action may have been applied.
	Unknown bool `json:"unknown,omitempty"`
	// Unsent reports that the sender was closed before it could settle the action. The service has not refused it.
	Unsent bool `json:"unsent,omitempty"`
	// Error is the complete reason as text. It contains Message.
	Error string `json:"error,omitempty"`

	// First is when the sender accepted the action, Last when it gave it up.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`

	// Tag is the Tag of the action. No Sink stores it. A File recognizes by it the actions that Replay has sent, and
	// updates the replayed dead letter instead of adding another one.
	Tag any `json:"-"`
}

// Sink stores the dead letters of senders. A File is a Sink.
//
// A sender calls Write on its sending goroutine, once for all actions that one reply has ended, and before it reports
// their ActionFailed events. So a handler of these events can rely on the dead letter. Write blocks all sending and
// should return soon. It must not call the sender. If it returns nil, the dead letters must survive a crash of the
// program.
//
// If Write returns an error the sender logs and counts it, and reports the actions as failed anyway. The slice belongs
// to the sender; its elements do not change any more. Senders that share a sink call it concurrently.
type Sink interface {
	Write(ctx context.Context, letters []Letter) error
}
