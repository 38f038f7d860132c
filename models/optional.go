package models

import "context"

// The interfaces below are optional: a value that implements one of them is treated as the comment of the interface
// says, and any other value is treated as before. All of them can be implemented by wrappers; *search.Client,
// *search.Error, *search.Rows and the senders do.

// ServiceError is implemented by the error of a request that was answered: *search.Error is one. A sender reads it to
// tell a reply about documents from one about the address or the service. If an Indexer's errors do not implement it,
// a sender goes by the status alone.
type ServiceError interface {
	error
	// ServiceMessage is the explanation in the reply, details included.
	ServiceMessage() string
	// ActionMessages are the explanations of single actions, by position from 0; nil if the reply has none.
	ActionMessages() map[int]string
	// ServiceRequestID identifies the request to the service's support.
	ServiceRequestID() string
	// Signed reports whether the reply has what every reply of the service has.
	Signed() bool
	// LogReason is the part of the explanation that quotes no document, so that it may be logged.
	LogReason() string
}

// RejectedError is implemented by an error of one document. If Rejected is true the document itself is at fault:
// adding or sending it again fails again. Dead letters, outbox, repair and rebuild then give the document up; after
// any other error they try it again.
type RejectedError interface {
	error
	Rejected() bool
}

// Pinger is implemented by an Indexer that can ask the service for something unrelated to documents. With it a sender
// tells a document that always fails from a service that fails, also when nothing else is being sent.
type Pinger interface {
	Ping(ctx context.Context) error
}

// IndexNamer is implemented by an Indexer, or a reader of an index, that knows the name of the index. Telemetry names
// the index then, and repair checks that it reads the index that it writes.
type IndexNamer interface {
	IndexName() string
}

// EndpointNamer is implemented by an Indexer, or a reader of an index, that knows the address of the service, for the
// same purposes as IndexNamer.
type EndpointNamer interface {
	Endpoint() string
}

// KeyFieldNamer is implemented by an Indexer that can ask the service for the name of the index's key field. Without
// it the type of the documents or an option must name the field.
type KeyFieldNamer interface {
	KeyFieldName(ctx context.Context) (string, error)
}

// InfoSender is implemented by a sender that describes itself: its index and whether it has a queue. Repair and
// rebuild check with it that they write to the index that they read.
type InfoSender interface {
	Info() SenderInfo
}

// Withdrawer is implemented by a sender that can take back what it has not sent. DeleteWhere does so when its context
// ends, instead of leaving deletes behind.
type Withdrawer interface {
	// Withdraw takes back the actions for which match is true, and returns how many.
	Withdraw(match func(key string, tag any) bool) int
}

// Versioned is implemented by a source or reader of rows that may have versions. If only one of the two sides has,
// repair refuses to compare them.
type Versioned interface {
	HasVersions() bool
}

// TapRequirer is implemented by an Indexer whose writes a Tap has to see. If NeedsTap is true a sender without
// Options.Tap is refused.
type TapRequirer interface {
	NeedsTap() bool
}

// TapWiring is implemented by a Tap that can tell that the sender's indexer bypasses it. A sender is refused with the
// error.
type TapWiring interface {
	Unwired() error
}
