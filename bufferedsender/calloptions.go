package bufferedsender

// FlushOptions configures Flush. nil and the zero value flush everything.
type FlushOptions struct {
	// Keys makes Flush send and wait for what was accepted of these keys alone, as before a
	// partition is handed over: others wait for their batches as before. What is accepted of
	// the keys meanwhile waits until then. What has failed of them is in the *FlushError, and
	// once more in that of the next Flush of everything, or in the error of Close. A sender
	// with a Queue refuses it, because others may have reserved the keys. Defaults to nil:
	// everything; no key at all, in a slice that is not nil, is nothing to do.
	Keys []string
	// WholeQueue makes Flush of a sender with a Queue wait until nothing is left in the queue to be sent, whichever
	// process has added it and when: no key waits, is delayed, or is leased by any process. A program uses it that
	// starts again, sends what is there, and exits. It does not end while others add faster than is sent. If keys are
	// parked the error is a *FlushError: Parked is how many there are, from whenever. While the sender is paused, as
	// while the queue is, Flush returns ErrPaused at once; after Close it returns ErrClosed. Without a Queue it changes
	// nothing.
	WholeQueue bool
}

// IndexDocumentsAndWaitOptions is for future expansion. What is the same for all
// calls is in Options.Waiting.
type IndexDocumentsAndWaitOptions struct{}

// IndexSeqOptions configures IndexSeq. nil and the zero value are ready to use.
type IndexSeqOptions struct {
	// OnRejected is called for each document that is rejected for what is in it
	// (AddError.Rejected); AddError.Tag is the tag of its action. If it returns nil,
	// IndexSeq leaves the document out and
	// goes on with the next; else it stops, and the error is in the chain of its
	// AddError. It runs on the goroutine of the caller. Defaults to stopping at the
	// first one.
	OnRejected func(err *AddError) error
}
