package models

import "context"

// The interfaces below are optional. A value that implements one of them gets the treatment described there; any
// other value gets the default. Wrappers can implement all of them; *search.Client, *search.Error, *search.Rows and
// the senders do.

// ServiceError is implemented by an error that represents a reply, such as *search.Error. With it a sender
// distinguishes replies about documents from replies about the address or the service. If the errors of an Indexer do
// not implement it, a sender uses only the status.
type ServiceError interface {
	error
	// ServiceMessage returns the explanation in the reply, including details.
	ServiceMessage() string
	// ActionMessages returns the explanations of single actions, by position from 0; nil if the reply has none.
	ActionMessages() map[int]string
	// ServiceRequestID returns the service's id of the request, for support cases.
	ServiceRequestID() string
	// Signed reports whether the reply has a mark that every reply of the service has.
	Signed() bool
	// LogReason returns the part of the explanation that does not quote documents and so may be logged.
	LogReason() string
}

// RejectedError is implemented by an error about one document. If Rejected is true, the document itself is the cause,
// and another attempt will fail again. Dead letters, outbox, repair and rebuild then give up the document; after any
// other error they retry it.
type RejectedError interface {
	error
	Rejected() bool
}

// Pinger is implemented by an Indexer that can send the service a request without documents. With it a sender
// distinguishes a document that always fails from a failing service, even if it sends nothing else.
type Pinger interface {
	Ping(ctx context.Context) error
}

// IndexNamer is implemented by an Indexer, or a reader of an index, that has the name of the index. Telemetry then
// includes the name, and repair checks that it reads the index that it writes.
type IndexNamer interface {
	IndexName() string
}

// EndpointNamer is implemented by an Indexer, or a reader of an index, that has the address of the service. It is
// used like IndexNamer.
type EndpointNamer interface {
	Endpoint() string
}

// KeyFieldNamer is implemented by an Indexer that can ask the service for the name of the index's key field. Without
// it, the document type or an option must name the field.
type KeyFieldNamer interface {
	KeyFieldName(ctx context.Context) (string, error)
}

// InfoSender is implemented by a sender that describes itself: its index and whether it has a queue. With it repair
// and rebuild check that they write to the index that they read.
type InfoSender interface {
	Info() SenderInfo
}

// Withdrawer is implemented by a sender that can withdraw unsent actions. When the context of DeleteWhere ends, it
// withdraws its deletes, so that none is sent later.
type Withdrawer interface {
	// Withdraw withdraws the unsent actions for which match is true, and returns their number.
	Withdraw(match func(key string, tag any) bool) int
}

// Versioned is implemented by a source or reader of rows that may have versions. If only one side has versions,
// repair refuses the comparison.
type Versioned interface {
	HasVersions() bool
}

// TapRequirer is implemented by an Indexer whose writes must go through a Tap. If NeedsTap is true, a sender without
// Options.Tap is refused.
type TapRequirer interface {
	NeedsTap() bool
}

// TapWiring is implemented by a Tap that can detect that the sender's indexer bypasses it. Then the sender is refused
// with the error of Unwired.
type TapWiring interface {
	Unwired() error
}
