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
}

// IndexDocumentsAndWaitOptions is for future expansion. What is the same for all
// calls is in Options.Waiting.
type IndexDocumentsAndWaitOptions struct{}

// IndexSeqOptions configures IndexSeq. nil and the zero value are ready to use.
type IndexSeqOptions struct {
	// OnRejected is called for each document that is rejected for what is in it
	// (AddError.Rejected). If it returns nil, IndexSeq leaves the document out and
	// goes on with the next; else it stops, and the error is in the chain of its
	// AddError. It runs on the goroutine of the caller. Defaults to stopping at the
	// first one.
	OnRejected func(err *AddError) error
}
