package models

// Reason is the cause for which a buffered sender did not complete an action.
type Reason uint8

const (
	// ReasonNone means that the action was applied.
	ReasonNone Reason = iota
	// ReasonDocument means that the service rejected this document: a value of the wrong type, a number out of range.
	ReasonDocument
	// ReasonMissingDocument means that the document of a merge does not exist. It is Rejected too, because a retry would
	// not find it either.
	ReasonMissingDocument
	// ReasonTooLarge means that the document exceeds the size that the service accepts.
	ReasonTooLarge
	// ReasonConflict means that concurrent changes of the document or the index interfered in every attempt.
	ReasonConflict
	// ReasonQuota means that the index has reached its limit of documents or storage.
	ReasonQuota
	// ReasonBusy means that the service was too busy for this document in every attempt, while others succeeded.
	ReasonBusy
	// ReasonUnreachable means that all requests with this document failed, without a reply or with a server error.
	ReasonUnreachable
	// ReasonNoResult means that no reply contained a usable result for the document.
	ReasonNoResult
	// ReasonCredentials means that the service refuses the key, the token or the role of the client.
	ReasonCredentials
	// ReasonIndex means that the index does not fit the document: it lacks one of its fields. It is Rejected until the
	// index is changed.
	ReasonIndex
	// ReasonNoIndex means that the index does not exist at the address of the client.
	ReasonNoIndex
	// ReasonClosed means that Close gave the action up.
	ReasonClosed
	// ReasonWithdrawn means that the program withdrew the action.
	ReasonWithdrawn
	// ReasonPurged means that the action was purged to make room for newer ones.
	ReasonPurged
	// ReasonSuperseded means that a newer version of the document was applied instead. It is not a failure.
	ReasonSuperseded
	// ReasonClient means that the client failed with an error that it marks as permanent.
	ReasonClient
	// ReasonGateway means that a firewall or gateway in front of the service refused requests with this document in every
	// attempt, while others succeeded.
	ReasonGateway
)

// String returns the reason as text, for logs and labels.
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

// Rejected reports whether the cause is the document itself: sent again unchanged to the unchanged index, it would be
// rejected again. Any other reason, including an exhausted quota, says nothing about the document.
func (r Reason) Rejected() bool {
	switch r {
	case ReasonDocument, ReasonMissingDocument, ReasonTooLarge, ReasonIndex:
		return true
	}
	return false
}

// Outcome is the outcome of an action of a buffered sender.
type Outcome struct {
	// Key is the key of the document, and Tag the tag of the action.
	Key string
	Tag any
	// Reason is the cause of a failure. It is ReasonNone or ReasonSuperseded if there was none.
	Reason Reason
	// Status is the service's status of the document, or of the whole request; 0 without a reply.
	Status int
	// Unknown is true if the action was not completed but may have been applied.
	Unknown bool
	// Cut is true if a request with the action ended without a reply less than UnknownWait ago, even if a later request
	// has completed the action: the service may still apply the first. Before another sender writes the key, wait as long.
	Cut bool
	// Err is a *bufferedsender.ActionError, or nil if the action was completed.
	Err error
}

// Completed reports whether the index holds the result of the action, or something newer.
func (o Outcome) Completed() bool { return o.Err == nil }

// Rejected is Reason.Rejected.
func (o Outcome) Rejected() bool { return o.Reason.Rejected() }
