package deadletter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Letter is one action that a sender has given up, with everything that is known
// about why.
type Letter struct {
	// Endpoint is the service, and Index the name of the index, that the action was for; ""
	// if the sender does not know. Replay sends a letter to no other one.
	Endpoint string `json:"endpoint,omitempty"`
	Index    string `json:"index,omitempty"`
	// Key is the key of the document.
	Key string `json:"key"`
	// Action is what was to be done with the document.
	Action models.ActionType `json:"action"`
	// Version is that of the document, if the sender has Folding.Version.
	Version int64 `json:"version,omitempty"`
	// Document is the JSON of the document as it was sent, without the member
	// "@search.action": all that a delete holds is the key. It is nil if it was
	// redacted.
	Document json.RawMessage `json:"document,omitempty"`

	// Status is the status that the service gave the document, or the whole
	// request if it refused that; 0 if there was no answer.
	Status int `json:"status,omitempty"`
	// Message is what the service says about the document, if it does. It may
	// quote it. What it says about a request that it refused as a whole is in
	// Error.
	Message string `json:"message,omitempty"`
	// RequestID is the service's id of the request that ended the action, for
	// support cases; empty if there was no answer, or one that the sender was not
	// given the id of.
	RequestID string `json:"requestId,omitempty"`
	// Attempts is how often the action was sent. Replay adds its own.
	Attempts int `json:"attempts,omitempty"`
	// Unknown is true if a request that carried the action was cut off, so that
	// it may have been applied all the same.
	Unknown bool `json:"unknown,omitempty"`
	// Unsent is true if the sender was closed before it could settle the action:
	// the service has not refused it.
	Unsent bool `json:"unsent,omitempty"`
	// Error is the whole reason in words. It contains Message.
	Error string `json:"error,omitempty"`

	// First is when the sender accepted the action, Last when it gave it up.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`

	// Tag is the Tag of the action, which no Sink stores. A sender hands it over
	// so that a File knows the actions that Replay has sent: a letter about one
	// of these takes the place of the letter that was replayed.
	Tag any `json:"-"`
}

// Sink takes the letters of senders. A File is one.
//
// A sender calls Write on the goroutine that sends, once for all the actions
// that one reply has ended, before it tells the ActionFailed events of the same
// actions: whoever is notified can rely on the dead letter. Write should return soon, for
// nothing is sent while it does not, and must not call the sender. When it
// returns nil, the letters must have survived a crash of the program.
//
// A sender logs and counts an error, and tells the actions as failed all the
// same. The slice belongs to the sender, the letters in it do not change any
// more. Senders that share a sink call it at the same time.
type Sink interface {
	Write(ctx context.Context, letters []Letter) error
}
