package bufferedsender

// FlushOptions is for future expansion.
type FlushOptions struct{}

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
