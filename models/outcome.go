package models

// Reason says whom or what it is up to that an action of a buffered sender was not
// applied.
type Reason uint8

const (
	// ReasonNone means that nothing is wrong: the action was applied.
	ReasonNone Reason = iota
	// ReasonDocument means that the service has refused this document by itself:
	// a value of the wrong type, a number that is out of range.
	ReasonDocument
	// ReasonMissingDocument means that a merge has found no document. It is Rejected
	// too: sent again it will find none.
	ReasonMissingDocument
	// ReasonTooLarge means that the service takes no document of this size.
	ReasonTooLarge
	// ReasonConflict means that other changes of the document, or of the index,
	// kept coming in between.
	ReasonConflict
	// ReasonQuota means that the index may not hold more documents.
	ReasonQuota
	// ReasonBusy means that the service was too busy for this document again and
	// again, while others got through.
	ReasonBusy
	// ReasonUnreachable means that requests with this document failed again and
	// again: without a reply, or with an error of the server.
	ReasonUnreachable
	// ReasonNoResult means that the replies said nothing, or nothing sensible,
	// about the document.
	ReasonNoResult
	// ReasonCredentials means that the service does not accept the key, the token
	// or the role of the client.
	ReasonCredentials
	// ReasonIndex means that the index is not as the document needs it: it does not
	// have one of its fields. It is Rejected, until somebody changes the index.
	ReasonIndex
	// ReasonNoIndex means that the index does not exist, or not at the address that
	// the client has.
	ReasonNoIndex
	// ReasonClosed means that Close has given the action up.
	ReasonClosed
	// ReasonWithdrawn means that the program has taken the action back.
	ReasonWithdrawn
	// ReasonPurged means that the action was given up to make room for newer ones.
	ReasonPurged
	// ReasonSuperseded means that a newer version of the document was applied in
	// its place. It is not a failure.
	ReasonSuperseded
	// ReasonClient means that the client has failed in a way that it calls
	// permanent.
	ReasonClient
	// ReasonGateway means that something in front of the service, a firewall or a gateway, refused requests
	// with this document again and again, while others got through.
	ReasonGateway
)

// String returns the reason in words, for logs and labels.
func (r Reason) String() string {
	names := [...]string{
		"none", "document", "missing document", "too large", "conflict", "quota", "busy", "unreachable", "no result",
		"credentials", "index", "no index", "closed", "withdrawn", "purged", "superseded", "client", "gateway",
	}
	if int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

// Rejected reports whether the service has refused the document for what it is:
// sent again as it is, to the index as it is, it will be refused again. Other
// failures, a quota that is used up among them, say nothing about the document.
func (r Reason) Rejected() bool {
	switch r {
	case ReasonDocument, ReasonMissingDocument, ReasonTooLarge, ReasonIndex:
		return true
	}
	return false
}

// Outcome is how an action of a buffered sender has ended.
type Outcome struct {
	// Key is the key of the document, and Tag that of the action.
	Key string
	Tag any
	// Reason is why it was not applied, ReasonNone or ReasonSuperseded if there was
	// nothing wrong.
	Reason Reason
	// Status is what the service has answered about the document, or about the
	// whole request; 0 if it has not.
	Status int
	// Unknown is true if the action was not completed and may have been applied all
	// the same.
	Unknown bool
	// Cut is true if a request that carried the action had no answer less than
	// UnknownWait ago, also if another one has completed it since: the service may
	// still apply the first. Who writes the key by another sender should wait as long.
	Cut bool
	// Err is a *bufferedsender.ActionError, or nil if the action was completed.
	Err error
}

// Completed reports whether the index holds what the action asked for, or
// something newer.
func (o Outcome) Completed() bool { return o.Err == nil }

// Rejected is that of Reason.
func (o Outcome) Rejected() bool { return o.Reason.Rejected() }
