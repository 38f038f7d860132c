package models

import "encoding/json"

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
}
