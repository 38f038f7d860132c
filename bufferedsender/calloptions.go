package bufferedsender

// FlushOptions configures Flush.
type FlushOptions struct {
	// Keys limits Flush to these keys; actions of them that are accepted meanwhile wait. Their failures are also in the
	// next error of a Flush without Keys, or of Close. A sender with a Queue refuses Keys. Defaults to nil: all keys.
	Keys []string
	// WholeQueue makes Flush wait until no key in Options.Queue is waiting, delayed or leased, whichever process added it.
	// If keys are parked, Flush returns a *FlushError. If the sender or queue is paused, it returns ErrPaused at once.
	WholeQueue bool
}

// IndexDocumentsAndWaitOptions is reserved for options; see Options.Waiting.
type IndexDocumentsAndWaitOptions struct{}

// IndexSeqOptions configures IndexSeq.
type IndexSeqOptions struct {
	// OnRejected is called on the caller's goroutine for each rejected document. nil skips the document, an error ends
	// IndexSeq with that error. err.Tag is the action's tag. Defaults to ending at the first rejected document.
	OnRejected func(err *AddError) error
}
